"""skaffold.yaml says what exists: files, services, chart values; and, where skaffold's own schema is at hand, in its words."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from chart.rendering import CHART, of_kind, pods, read_values, render

TOP = CHART.parents[1]
SKAFFOLD: dict[str, Any] = yaml.safe_load((TOP / "skaffold.yaml").read_text(encoding="utf-8"))
SCHEMA = Path(
    os.environ.get("REFDESK_TEST_SKAFFOLD_SCHEMA") or TOP.parent / "shared/reference/schemas/skaffold-v4beta13.json"
)
WAYS = {"bundled": SKAFFOLD, **{profile["name"]: profile for profile in SKAFFOLD["profiles"]}}
VALUES = TOP / "deploy" / "engines" / "development"


@pytest.mark.skipif(
    not SCHEMA.is_file(), reason="skaffold's schema is not ours to ship: REFDESK_TEST_SKAFFOLD_SCHEMA names a copy"
)
def test_the_file_is_what_skaffold_takes() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert SKAFFOLD["apiVersion"].rpartition("/")[2] == "v4beta13"
    jsonschema.validate(SKAFFOLD, schema)
    broken = {**SKAFFOLD, "build": {**SKAFFOLD["build"], "artefacts": []}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_every_file_that_it_names_is_there() -> None:
    [artifact] = SKAFFOLD["build"]["artifacts"]
    assert (TOP / artifact["context"] / artifact["docker"]["dockerfile"]).is_file()
    for way in WAYS.values():
        for release in way["deploy"]["helm"]["releases"]:
            assert all((TOP / file).is_file() for file in release["valuesFiles"]), release["name"]
            assert "chartPath" not in release or (TOP / release["chartPath"] / "Chart.yaml").is_file()


def test_ports_that_are_forwarded_are_ports_of_services() -> None:
    services = of_kind(render({}), "Service")
    for forward in SKAFFOLD["portForward"]:
        ports = [port["port"] for port in services[forward["resourceName"]]["spec"]["ports"]]
        assert forward["port"] in ports


def test_changed_files_are_put_where_the_pods_run_them() -> None:
    [rule] = SKAFFOLD["build"]["artifacts"][0]["sync"]["manual"]
    for name, pod in pods(render(read_values(VALUES / "refdesk.yaml"))):
        if name in ("refdesk-gateway", "refdesk-search"):
            [script] = pod["containers"][0]["args"]
            assert f"export PYTHONPATH={rule['dest']}" in script
            assert "tmp" in {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}


def test_the_profile_wires_refdesk_to_the_releases_that_it_installs() -> None:
    releases = [release["name"] for release in WAYS["engines"]["deploy"]["helm"]["releases"]]
    assert releases == ["qdrant", "opensearch", "nats", "refdesk"]
    objects = render({**read_values(VALUES / "refdesk.yaml"), **read_values(VALUES / "external.yaml")})
    assert not of_kind(objects, "StatefulSet")


def test_the_official_charts_are_named_with_one_version_everywhere() -> None:
    for release in WAYS["engines"]["deploy"]["helm"]["releases"][:-1]:
        name, version, repository = release["name"], release["version"], release["repo"]
        for file in (TOP / "deploy" / "engines" / f"{name}.yaml", TOP / "docs" / "install.md"):
            text = file.read_text(encoding="utf-8")
            command = rf"helm install {name} {name} --repo {re.escape(repository)} --version {re.escape(version)}"
            assert re.search(command, text), file.name
    render(read_values(TOP / "deploy" / "engines" / "refdesk.yaml"))
