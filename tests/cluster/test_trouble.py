"""Upgrades that go wrong, growing under load, and pods that are told to end."""

from __future__ import annotations

import datetime
import signal
from typing import Any

import pytest

from cluster.cluster import wait_until
from cluster.desk import COMPONENTS, RELEASE
from cluster.standing import StandingDesk
from cluster.test_desk import RESTART_SECONDS, container_status, images_of

DRAIN_SECONDS = 25.0
GROWN = 3
AUTOSCALING = {"enabled": True, "minReplicas": 2, "maxReplicas": GROWN, "cpuUtilization": 5}


def test_an_image_that_does_not_exist_is_rolled_back_and_the_desk_goes_on_answering(standing: StandingDesk) -> None:
    desk = standing.desk
    before = images_of(desk)
    with standing.under_traffic():
        code, said = desk.try_upgrade({"image": {"tag": "missing"}}, "--rollback-on-failure", "--timeout=45s")
        assert code != 0, said
        wait_until(lambda: len(desk.ready_pods("search")) == 1, "search does not come back", RESTART_SECONDS)
        assert images_of(desk) == before


def test_the_autoscaler_adds_a_gateway_by_what_is_measured(standing: StandingDesk) -> None:
    desk = standing.desk
    with standing.under_traffic():
        desk.upgrade({"components": {"gateway": {"autoscaling": AUTOSCALING}}})
        wait_until(lambda: len(desk.ready_pods("gateway")) == GROWN, "no more gateways", RESTART_SECONDS)
        [scaler] = desk.kubectl.items("hpa")
        measured = scaler["status"]["currentMetrics"][0]["containerResource"]["current"]
        assert measured["averageUtilization"] > 0
        desk.upgrade(None, "--force-conflicts")  # the autoscaler owns the number of pods until then
        wait_until(lambda: len(desk.pods("gateway")) == 2, "too many gateways", RESTART_SECONDS)
        assert desk.kubectl.items("hpa") == []


@pytest.mark.full
def test_a_field_that_was_patched_by_hand_is_taken_back_with_force_alone(standing: StandingDesk) -> None:
    desk = standing.desk
    patch = '{"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 46}}}}'
    desk.kubectl.run("patch", "deployment", f"{RELEASE}-ingest", "--patch", patch)
    code, said = desk.try_upgrade({}, "--wait", "--timeout=300s")
    assert code != 0
    assert "conflict" in said
    desk.upgrade(None, "--force-conflicts")
    spec = desk.kubectl.get("deployment", f"{RELEASE}-ingest")["spec"]["template"]["spec"]
    assert spec["terminationGracePeriodSeconds"] == 45


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_pod_that_is_told_to_end_ends_well_and_soon(standing: StandingDesk, component: str) -> None:
    desk = standing.desk
    pod = desk.ready_pods(component)[0]
    name, before = pod["metadata"]["name"], container_status(pod, component)
    told_at = datetime.datetime.now(datetime.UTC)
    desk.cluster.signal_container(pod["spec"]["nodeName"], before["containerID"], signal.SIGTERM)

    def state() -> dict[str, Any]:
        return container_status(desk.kubectl.get("pod", name), component)

    wait_until(lambda: state()["restartCount"] > before["restartCount"] and state()["ready"], "it stays", 120)
    ended = state()["lastState"]["terminated"]
    assert ended["exitCode"] == 0
    took = datetime.datetime.fromisoformat(ended["finishedAt"]) - told_at
    assert took.total_seconds() < DRAIN_SECONDS
