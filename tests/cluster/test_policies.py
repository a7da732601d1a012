"""Network policies, enforced: whatever the table of allowed connections does not list is refused, from every pod and from strangers."""

from __future__ import annotations

import json

import pytest

from cluster.cluster import Cluster
from cluster.desk import COMPONENTS, RESTRICTED_POD, Desk, restricted_namespace
from cluster.images import Images
from cluster.kubernetes import Kubectl
from cluster.standing import StandingDesk

pytestmark = pytest.mark.full

PORTS = {
    "gateway": (8080, 8081, 9091, 9102),
    "ingest": (9090, 9091, 9102),
    "embedder": (9090, 9091, 9102),
    "search": (9090, 9091, 9102),
    "docstore": (9090, 9091, 9102),
    "opensearch": (9200,),
    "nats": (4222, 8222),
}
ENTRY = ("gateway", 8080)
"""Open to everybody where values name nobody."""
ALLOWED = {
    "gateway": {("docstore", 9090), ("search", 9090), ("embedder", 9090), ("ingest", 9090), ("nats", 4222)},
    "ingest": {("docstore", 9090), ("search", 9090), ("embedder", 9090), ("nats", 4222)},
    "search": {("embedder", 9090), ("opensearch", 9200)},
    "docstore": {("opensearch", 9200)},
    "embedder": set(),
}
CONNECT = """
import json, socket, sys, concurrent.futures as f
def opens(one):
    try:
        socket.create_connection((one[1], one[2]), 3).close()
        return True
    except OSError:
        return False
targets = json.loads(sys.argv[1])
with f.ThreadPoolExecutor(len(targets)) as pool:
    print(json.dumps([one for one, opened in zip(targets, pool.map(opens, targets)) if opened]))
"""


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_component_reaches_what_it_calls_and_nothing_else(standing: StandingDesk, component: str) -> None:
    pod = standing.desk.ready_pods(component)[0]["metadata"]["name"]
    assert reached(standing.desk, standing.desk.kubectl, pod, but=pod) == ALLOWED[component]


@pytest.mark.parametrize("namespace", ["desk", "strangers"])
def test_a_stranger_reaches_the_gateway_alone(
    standing: StandingDesk, cluster: Cluster, images: Images, namespace: str
) -> None:
    kubectl = restricted_namespace(cluster, namespace)
    container = {
        "name": "stranger",
        "image": images.base.name,
        "imagePullPolicy": "Never",
        "command": ["sleep", "600"],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {"containers": [container], "securityContext": RESTRICTED_POD, "terminationGracePeriodSeconds": 0}
    kubectl.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger"}, "spec": spec})
    try:
        kubectl.wait("condition=Ready", "pod", "stranger")
        assert reached(standing.desk, kubectl, "stranger") == {ENTRY}
    finally:
        kubectl.run("delete", "pod", "stranger", "--now")


def reached(desk: Desk, kubectl: Kubectl, pod: str, but: str = "") -> set[tuple[str, int]]:
    """Part and port of everything that takes a connection from this pod; `but` is not asked."""
    targets = [
        (part, one["status"]["podIP"], port)
        for part, ports in PORTS.items()
        for one in desk.ready_pods(part)
        if one["metadata"]["name"] != but
        for port in ports
    ]
    said = kubectl.exec(pod, "python3", "-c", CONNECT, json.dumps(targets))
    return {(part, port) for part, _, port in json.loads(said)}
