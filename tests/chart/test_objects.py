"""Every file of example values makes objects that Kubernetes 1.32 to 1.37 knows, and pods that the restricted standard lets in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import helm_python
import kubernetes_validate
import pytest
import yaml

from chart.rendering import CHART, CI, COMPONENTS, config_of, of_kind, pods, read_values, render_file
from refdesk.settings import Settings, load

VERSIONS = [f"1.{minor}" for minor in range(32, 38)]
FOREIGN = {"HTTPRoute", "ServiceMonitor", "PrometheusRule"}
"""Kinds whose schema the Kubernetes release does not have."""

by_file = pytest.mark.parametrize("file", CI, ids=lambda file: file.name.removesuffix("-values.yaml"))


def test_there_are_example_values_for_each_way_to_install() -> None:
    names = {file.name.removesuffix("-values.yaml") for file in CI}
    assert names >= {"default", "external", "high-availability", "embedded", "mtls", "openshift"}


@by_file
def test_helm_finds_nothing_to_remark(file: Path) -> None:
    found = helm_python.lint(str(CHART), read_values(file), strict=True, kube_version="1.34.0")
    assert remarks(found) == []


def remarks(found: dict[str, Any]) -> list[str]:
    """What is more than a hint at an icon."""
    messages = [message for key in ("messages", "errors") for message in found.get(key) or []]
    return [text for text in map(str, messages) if "icon is recommended" not in text]


@pytest.mark.parametrize("version", VERSIONS)
def test_objects_of_all_files_are_valid(version: str) -> None:
    distinct = {json.dumps(each, sort_keys=True): each for file in CI for each in render_file(file)}
    known = [each for each in distinct.values() if each["kind"] not in FOREIGN]
    assert len(known) > 60
    for each in known:
        kubernetes_validate.validate(each, version, strict=True)


@by_file
def test_every_name_is_given_once_and_carries_the_release(file: Path) -> None:
    objects = render_file(file)
    names = [(each["kind"], each["metadata"]["name"]) for each in objects]
    assert len(names) == len(set(names))
    assert all(name.startswith("refdesk") or kind == "ServiceAccount" for kind, name in names)
    for each in objects:
        assert each["metadata"]["labels"]["app.kubernetes.io/instance"] == "refdesk"


@by_file
def test_the_settings_file_is_what_the_settings_model_takes(file: Path, tmp_path: Path) -> None:
    settings = load_rendered(render_file(file), tmp_path)
    assert settings.projects
    assert settings.gateway.operator_requires_keys
    assert settings.gateway.requires_keys


@by_file
def test_every_pod_is_restricted(file: Path) -> None:
    found = dict(pods(render_file(file)))
    assert {f"refdesk-{name}" for name in (*COMPONENTS, "test")} <= set(found)
    for name, pod in found.items():
        assert pod["automountServiceAccountToken"] is False, name
        context = pod["securityContext"]
        assert context["runAsNonRoot"] is True
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert context.get("runAsUser", 1) > 0
        assert not any(key.startswith("host") for key in pod)
        assert all(set(volume) - {"name"} <= ALLOWED_VOLUMES for volume in pod.get("volumes", []))
        for container in pod["containers"]:
            check_container(name, container)
        assert "initContainers" not in pod, name


ALLOWED_VOLUMES = {"configMap", "secret", "emptyDir", "persistentVolumeClaim", "projected", "csi", "downwardAPI"}


def check_container(name: str, container: dict[str, Any]) -> None:
    context = container["securityContext"]
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["readOnlyRootFilesystem"] is not name.endswith("-opensearch"), name  # it writes beside its programs
    assert container["resources"]["requests"].keys() >= {"cpu", "memory"}
    assert "memory" in container["resources"]["limits"]
    names = [variable["name"] for variable in container.get("env", [])]
    assert len(names) == len(set(names))
    assert all("hostPort" not in port for port in container.get("ports", []))


@by_file
def test_every_mounted_volume_is_there_and_every_volume_is_mounted(file: Path) -> None:
    objects = render_file(file)
    claims = {
        name: {claim["metadata"]["name"] for claim in each["spec"].get("volumeClaimTemplates", [])}
        for name, each in of_kind(objects, "StatefulSet").items()
    }
    for name, pod in pods(objects):
        volumes = {volume["name"] for volume in pod.get("volumes", [])} | claims.get(name, set())
        mounted = [mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]]
        assert set(mounted) == volumes, name
        assert not any("subPath" in mount for container in pod["containers"] for mount in container["volumeMounts"])


@by_file
def test_each_file_that_the_settings_name_is_mounted_where_it_is_read(file: Path, tmp_path: Path) -> None:
    objects = render_file(file)
    config = yaml.safe_load(config_of(objects))
    mounts = {
        name: {mount["mountPath"] for c in pod["containers"] for mount in c["volumeMounts"]}
        for name, pod in pods(objects)
    }
    for component in COMPONENTS:
        for path in files_in(config.get(component, {})):
            assert path.rpartition("/")[0] in mounts[f"refdesk-{component}"], (component, path)


def files_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [path for inner in value.values() for path in files_in(inner)]
    if isinstance(value, list):
        return [path for inner in value for path in files_in(inner)]
    return [value] if isinstance(value, str) and value.startswith("/etc/refdesk/") else []


def load_rendered(objects: list[dict[str, Any]], tmp_path: Path) -> Settings:
    file = tmp_path / "config.yaml"
    file.write_text(config_of(objects), encoding="utf-8")
    return load(str(file), {}, {})
