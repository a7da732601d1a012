"""A desk installed by the chart: from nothing to ready, found over MCP, and nobody notices what is done to its pods."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

from cluster.cluster import wait_until
from cluster.desk import COMPONENTS, Desk, call_tool
from cluster.kubernetes import Manifest
from cluster.standing import StandingDesk, wait_for_answers

SEARCH_SECONDS = 30.0
RESTART_SECONDS = 120.0
NEXT = {"image": {"tag": "next"}, "config": {"gateway": {"concurrent_calls": 20}}}


def test_every_pod_is_ready_and_restricted(standing: StandingDesk) -> None:
    pods = standing.desk.kubectl.items("pods")
    parts = {pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in pods}
    assert parts == {*COMPONENTS, "opensearch", "nats"}
    for pod in pods:
        assert pod["spec"].get("automountServiceAccountToken") is False
    for component in COMPONENTS:
        assert standing.desk.ready_pods(component)


def test_helm_test_is_green(standing: StandingDesk) -> None:
    said = standing.desk.helm.run("test", "refdesk", "--timeout=120s", seconds=150)
    assert "Succeeded" in said


def test_what_was_published_is_found_over_mcp_through_the_service(standing: StandingDesk) -> None:
    desk = standing.desk
    with desk.cluster.network():
        result = call_tool(
            desk.address("gateway"),
            "search_docs",
            {"query": "how is the signing key of system 7 rotated"},
            desk.headers("read"),
        )
    assert result["structuredContent"]["mode"] == "hybrid"
    assert "wiki/keys/7.md" in {one["path"] for one in result["structuredContent"]["results"]}


@pytest.mark.parametrize("component", ["gateway", "ingest", "embedder", "docstore"])
def test_nobody_notices_that_a_pod_is_killed(standing: StandingDesk, component: str) -> None:
    with standing.under_traffic() as seen:
        kill(standing.desk, standing.desk.ready_pods(component)[0], component)
        wait_for_answers(seen)


def test_the_one_search_pod_is_honest_while_it_is_away_and_back_soon(standing: StandingDesk) -> None:
    with standing.under_traffic() as seen:
        [pod] = standing.desk.ready_pods("search")
        killed_at = time.monotonic()
        kill(standing.desk, pod, "search")
        wait_for_answers(seen)
        whole = [one.ended_at for one in seen.answers if one.mode == "hybrid" and one.began_at > killed_at + 1]
    assert min(whole) - killed_at < SEARCH_SECONDS


@pytest.mark.full
def test_nobody_notices_an_upgrade_to_another_image_and_config_nor_a_rollback(standing: StandingDesk) -> None:
    desk = standing.desk
    with standing.under_traffic():
        desk.upgrade(NEXT)
        assert images_of(desk) == {"localhost/refdesk:next"}
    with standing.under_traffic():
        desk.helm.run("rollback", "refdesk", "--wait", "--timeout=600s", seconds=630)
        assert images_of(desk) == {"localhost/refdesk:test"}


@pytest.mark.full
def test_nobody_notices_that_a_node_is_drained(standing: StandingDesk) -> None:
    desk = standing.desk
    with standing.under_traffic():
        try:
            desk.kubectl.run(
                "drain", "node2", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=300s", seconds=310
            )
            left = desk.kubectl.items("pods", "--field-selector=spec.nodeName=node2")
            assert left == []
            wait_until(lambda: len(desk.ready_pods("gateway")) == 2, "no second gateway", RESTART_SECONDS)
        finally:
            desk.kubectl.run("uncordon", "node2")


def images_of(desk: Desk) -> set[str]:
    """Those that the components' pods run."""
    return {
        container["image"] for name in COMPONENTS for pod in desk.pods(name) for container in pod["spec"]["containers"]
    }


def kill(desk: Desk, pod: Manifest, component: str) -> None:
    """SIGKILL to the pod's process; returns when the container has been started anew and is ready."""
    name = pod["metadata"]["name"]
    status = container_status(pod, component)
    desk.cluster.signal_container(pod["spec"]["nodeName"], status["containerID"], signal.SIGKILL)

    def is_back() -> bool:
        now = container_status(desk.kubectl.get("pod", name), component)
        return bool(now["restartCount"] > status["restartCount"] and now["ready"])

    wait_until(is_back, f"{name} does not come back", RESTART_SECONDS)


def container_status(pod: Manifest, component: str) -> dict[str, Any]:
    """That of the component's container."""
    return next(dict(one) for one in pod["status"]["containerStatuses"] if one["name"] == component)
