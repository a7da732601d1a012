"""What the values promise: every component has the same keys, every key is documented, notes and numbers follow from them."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import yaml

from chart.rendering import CHART, CI, COMPONENTS, config_of, notes, of_kind, pods, read_values, render, render_file

VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def keys_of(value: Any) -> Any:
    return {key: keys_of(inner) for key, inner in value.items()} if isinstance(value, dict) and value else None


def test_every_component_has_the_same_keys() -> None:
    shapes = [keys_of(VALUES["components"][name]) for name in COMPONENTS]
    assert VALUES["components"].keys() == set(COMPONENTS)
    assert all(shape == shapes[0] for shape in shapes)


def test_schema_and_readme_are_current_and_every_key_is_explained() -> None:
    done = subprocess.run(
        [sys.executable, "charts/generate.py", "--check"],
        cwd=CHART.parents[1],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"(?m)^\| `([^`]+)` \| (.*) \| (.*) \|$", (CHART / "README.md").read_text(encoding="utf-8"))
    assert len(rows) > 150
    assert [name for name, _, said in rows if not said.strip()] == []


def test_with_no_values_the_whole_desk_is_installed() -> None:
    objects = render({})
    assert of_kind(objects, "Deployment").keys() == {f"refdesk-{name}" for name in COMPONENTS}
    assert of_kind(objects, "StatefulSet").keys() == {"refdesk-qdrant", "refdesk-opensearch", "refdesk-nats"}
    assert yaml.safe_load(config_of(objects))["projects"] == {
        "default": {"sources": [{"name": "documents", "kind": "push"}]}
    }


def test_embedded_engines_make_stateful_sets_of_one_pod_with_a_volume() -> None:
    objects = render({"engines": {"qdrant": {"mode": "embedded"}, "opensearch": {"mode": "embedded"}}})
    sets = of_kind(objects, "StatefulSet")
    assert sets.keys() == {"refdesk-search", "refdesk-docstore", "refdesk-nats"}
    for each in sets.values():
        assert each["spec"]["replicas"] == 1
        assert each["spec"]["podManagementPolicy"] == "Parallel"
        assert [claim["metadata"]["name"] for claim in each["spec"]["volumeClaimTemplates"]] == ["data"]
    config = yaml.safe_load(config_of(objects))
    assert (config["docstore"]["url"], config["search"]["keyword_url"], config["search"]["vector_url"]) == (
        "file:",
    ) * 3


def test_vectors_alone_embedded_leave_docstore_a_deployment() -> None:
    sets = of_kind(render({"engines": {"qdrant": {"mode": "embedded"}}}), "StatefulSet")
    assert sets.keys() == {"refdesk-search", "refdesk-opensearch", "refdesk-nats"}


def test_probes_ask_health_by_grpc_and_a_stop_waits_for_its_endpoints() -> None:
    for name, pod in pods(render({})):
        if name.removeprefix("refdesk-") in COMPONENTS:
            [container] = pod["containers"]
            assert container["startupProbe"]["grpc"] == {"port": 9091, "service": "started"}
            assert container["livenessProbe"]["grpc"] == {"port": 9091, "service": "live"}
            assert container["readinessProbe"]["grpc"] == {"port": 9091}
            sleep = container["lifecycle"]["preStop"]["sleep"]["seconds"]
            assert pod["terminationGracePeriodSeconds"] >= sleep + 25


def test_an_upgrade_takes_no_pod_away_before_its_successor_is_ready() -> None:
    for each in of_kind(render({}), "Deployment").values():
        assert each["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
        assert each["spec"]["minReadySeconds"] == 35


def test_a_change_of_projects_rolls_ingest_alone() -> None:
    def checksums(values: dict[str, Any]) -> dict[str, str]:
        found = of_kind(render(values), "Deployment")
        return {
            name: each["spec"]["template"]["metadata"]["annotations"]["checksum/config"] for name, each in found.items()
        }

    before = checksums({})
    push = {"projects": {"handbook": {"sources": [{"name": "wiki", "kind": "push"}]}}}
    assert {name for name, text in checksums(push).items() if text != before[name]} == {"refdesk-ingest"}
    search = {"config": {"search": {"max_running": 32}}}
    assert {name for name, text in checksums(search).items() if text != before[name]} == {"refdesk-search"}


def test_an_autoscaler_owns_the_number_of_pods_and_a_budget_needs_two() -> None:
    file = next(file for file in CI if file.name.startswith("high-availability"))
    objects = render_file(file)
    scaled = {name for name, values in read_values(file)["components"].items() if "autoscaling" in values}
    assert of_kind(objects, "HorizontalPodAutoscaler").keys() == {f"refdesk-{name}" for name in scaled}
    for name, each in of_kind(objects, "Deployment").items():
        assert ("replicas" in each["spec"]) is (name.removeprefix("refdesk-") not in scaled)
    assert of_kind(objects, "PodDisruptionBudget").keys() == {f"refdesk-{name}" for name in COMPONENTS}
    assert not of_kind(render({}), "PodDisruptionBudget")


def test_the_embedder_is_scaled_by_the_wait_of_queries() -> None:
    embedder = {"autoscaling": {"enabled": True}}
    scaler = of_kind(render({"components": {"embedder": embedder}}), "HorizontalPodAutoscaler")["refdesk-embedder"]
    [metric] = scaler["spec"]["metrics"]
    assert metric["pods"]["metric"]["name"] == "refdesk_embedder_query_wait_seconds"


def test_the_embedder_takes_its_threads_from_its_request_where_there_is_no_limit() -> None:
    def workers(values: dict[str, Any]) -> list[Any]:
        pod = dict(pods(render(values)))["refdesk-embedder"]
        return [
            each["valueFrom"]
            for each in pod["containers"][0].get("env", [])
            if each["name"] == "REFDESK_EMBEDDER__WORKERS"
        ]

    [source] = workers({})
    assert source["resourceFieldRef"] == {"containerName": "embedder", "resource": "requests.cpu", "divisor": "1"}
    assert workers({"components": {"embedder": {"resources": {"limits": {"cpu": "2"}}}}}) == []
    assert workers({"config": {"embedder": {"workers": 3}}}) == []


def test_a_way_in_serves_the_four_paths_and_the_gateway_answers_to_its_hosts() -> None:
    paths = ["/mcp", "/api", "/p", "/.well-known/oauth-protected-resource"]
    ingress = {"enabled": True, "hosts": ["desk.example.com"]}
    route = {"enabled": True, "parentRefs": [{"name": "edge"}], "hostnames": ["docs.example.com"]}
    objects = render({"ingress": ingress, "httpRoute": route})
    made = of_kind(objects, "Ingress")["refdesk"]
    assert [path["path"] for path in made["spec"]["rules"][0]["http"]["paths"]] == paths
    assert made["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-buffering"] == "off"
    rule = of_kind(objects, "HTTPRoute")["refdesk"]["spec"]["rules"][0]
    assert [match["path"]["value"] for match in rule["matches"]] == paths
    hosts = yaml.safe_load(config_of(objects))["gateway"]["allowed_hosts"]
    assert {"desk.example.com", "docs.example.com", "refdesk-gateway.desk.svc"} <= set(hosts)


def test_no_way_in_reaches_the_operator_api_metrics_or_health() -> None:
    services = of_kind(render({}), "Service")
    assert [port["port"] for port in services["refdesk-gateway"]["spec"]["ports"]] == [80]
    assert services["refdesk-gateway-operator"]["spec"].get("type", "ClusterIP") == "ClusterIP"


def test_the_list_of_images_for_sites_without_a_registry_is_what_is_pulled() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    listed = {image["image"] for image in yaml.safe_load(chart["annotations"]["artifacthub.io/images"])}
    assert listed == {container["image"] for _, pod in pods(render({})) for container in pod["containers"]}


def test_an_image_by_digest_and_names_of_pull_secrets_reach_every_pod() -> None:
    digest = "sha256:" + "a" * 64
    objects = render(
        {"image": {"digest": digest, "pullSecrets": ["one"]}, "global": {"imagePullSecrets": [{"name": "two"}]}}
    )
    for name, pod in pods(objects):
        assert pod["imagePullSecrets"] == [{"name": "two"}, {"name": "one"}]
        if name.removeprefix("refdesk-") in (*COMPONENTS, "test"):
            assert pod["containers"][0]["image"] == f"docker.io/refdesk/refdesk@{digest}"


def test_a_long_release_name_gives_names_that_fit() -> None:
    for each in render({}, name="a-release-whose-name-is-as-long-as-helm-lets-it-be-53"):
        assert len(each["metadata"]["name"]) <= 63 - len("-0")


def test_no_secret_is_made_by_the_chart() -> None:
    assert all(each["kind"] != "Secret" for file in CI for each in render_file(file))


def test_the_notes_ask_for_what_is_missing_and_only_for_that() -> None:
    plain = notes({})
    assert "create secret generic refdesk-admin" in plain
    assert "port-forward svc/refdesk-gateway 8080:80" in plain
    assert "keep their data by themselves" not in plain
    ready = {
        "ingress": {"enabled": True, "hosts": ["desk.example.com"], "tls": [{}]},
        "sessions": {"existingSecret": "s"},
    }
    other = notes(
        {**ready, "engines": {"opensearch": {"mode": "embedded"}}, "monitoring": {"prometheusRule": {"enabled": True}}}
    )
    assert "https://desk.example.com/mcp" in other
    assert "Nothing outside the cluster" not in other
    assert "A session ends" not in other
    assert "Nobody is told" not in other
    assert "keep their data by themselves" in other
