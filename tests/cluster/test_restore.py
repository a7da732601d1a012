"""A backup of one namespace is restored in another, on other engines; and what an uninstall leaves of that one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cluster.cluster import Cluster, wait_until
from cluster.desk import COMPONENTS, RELEASE, Desk, call_tool
from cluster.standing import StandingDesk

pytestmark = pytest.mark.full

ONE_OF_EACH: dict[str, Any] = {
    "engines": {"opensearch": {"mode": "embedded"}},
    "components": {name: {"replicas": 1} for name in COMPONENTS},
}
LEFT = {f"data-{RELEASE}-{name}-0" for name in ("search", "docstore", "nats")}
KINDS = "deployments,statefulsets,pods,services,configmaps,serviceaccounts,networkpolicies,poddisruptionbudgets,hpa,jobs,ingresses"
OF_THE_NAMESPACE = {"kube-root-ca.crt", "default"}
GONE_SECONDS = 180.0


def test_a_backup_is_restored_elsewhere_and_an_uninstall_leaves_the_volumes_alone(
    standing: StandingDesk, cluster: Cluster, tmp_path: Path
) -> None:
    backup = tmp_path / "desk.backup.gz"
    standing.desk.refdesk("backup", str(backup))
    other = Desk(cluster, "other")
    other.prepare()
    other.install(ONE_OF_EACH)
    other.refdesk("restore", str(backup))
    expected = standing.history.expected
    other.wait_until_settled(len(expected))
    assert other.audit(expected, tmp_path / "expected") == []
    other.make_keys()
    with cluster.network():
        answer = call_tool(
            other.address("gateway"), "search_docs", {"query": "signing key of system 3"}, other.headers("read")
        )
    assert answer["structuredContent"]["mode"] == "hybrid"
    other.helm.run("uninstall", RELEASE, "--wait", "--timeout=120s", seconds=150)
    wait_until(lambda: not other.kubectl.items("pods"), "pods are left", GONE_SECONDS)
    assert {one["metadata"]["name"] for one in other.kubectl.items(KINDS)} - OF_THE_NAMESPACE == set()
    assert {one["metadata"]["name"] for one in other.kubectl.items("pvc")} == LEFT
    secrets = {one["metadata"]["name"] for one in other.kubectl.items("secrets")}
    assert secrets == {"refdesk-admin", "refdesk-sessions"}
