"""The cluster itself: pods run, find each other by name and are found, what is not restricted is refused, and nothing is left."""

from __future__ import annotations

import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from cluster.cluster import Cluster, wait_until
from cluster.conftest import open_cluster
from cluster.desk import RESTRICTED_POD, restricted_namespace
from cluster.images import Images
from cluster.kubernetes import Failed, Manifest

SAYS = "import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8080)"
ASKS = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=5).status)"


def test_pods_of_both_nodes_find_each_other_and_keep_what_they_are_given(cluster: Cluster, images: Images) -> None:
    kubectl = restricted_namespace(cluster, "pods")
    kubectl.apply(
        _claim("kept"), _service("web"), *(_pod(f"web{number}", f"node{number}", images) for number in (1, 2))
    )
    kubectl.wait("condition=Ready", "pod", "--all")
    for number in (1, 2):
        asked = kubectl.exec(
            f"web{number}", "python3", "-c", ASKS, f"http://web{3 - number}.web.pods.svc.cluster.local:8080/"
        )
        assert asked.strip() == "200"
    address = kubectl.get("service", "entry")["spec"]["clusterIP"]
    with cluster.network(), urllib.request.urlopen(f"http://{address}:8080/", timeout=10) as answer:
        assert answer.status == 200
    kubectl.exec("web1", "sh", "-c", "echo kept > /kept/file")
    assert kubectl.exec("web2", "cat", "/kept/file") == "kept\n"
    assert "GET / HTTP" in kubectl.logs("web1") + kubectl.logs("web2")
    kubectl.run("delete", "pod", "--all", "--grace-period=1")


def test_a_pod_that_is_not_restricted_is_refused(cluster: Cluster, images: Images) -> None:
    kubectl = restricted_namespace(cluster, "strict")
    pod = _pod("root", "node1", images)
    pod["spec"]["securityContext"] = {}
    with pytest.raises(Failed, match="violates PodSecurity"):
        kubectl.apply(pod, dry_run=True)


def test_cpu_of_pods_is_measured(cluster: Cluster) -> None:
    kubectl = cluster.kubectl
    wait_until(lambda: kubectl.attempt("top", "nodes").returncode == 0, "no metrics", 60)
    assert {line.split()[0] for line in kubectl.run("top", "nodes", "--no-headers").splitlines()} == {"node1", "node2"}


def test_nothing_is_left_of_a_cluster(tmp_path: Path, images: Images) -> None:
    before = _traces()
    with open_cluster(
        tmp_path / "small", (images.pause.archive, images.base.archive), nodes=1, firewall=False
    ) as small:
        kubectl = restricted_namespace(small, "short")
        kubectl.apply(_pod("short", "node1", images, claims=False))
        kubectl.wait("condition=Ready", "pod", "short")
        during = _traces()
    after = _traces()
    assert any("refdesk-test" in trace for trace in during - before)
    assert after == before


def _traces() -> set[str]:
    """What a cluster could leave on the machine: mounts, interfaces, cgroups, settings, firewall rules."""
    mounts = {line.split()[1] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()}
    links = subprocess.run(("ip", "-o", "link"), capture_output=True, text=True, check=True, timeout=10).stdout
    rules = subprocess.run(("nft", "list", "tables"), capture_output=True, text=True, check=False, timeout=10).stdout
    own = {str(path) for path in Path("/sys/fs/cgroup").glob("*/refdesk-test*")}
    settings = {
        f"{name} {(Path('/proc/sys') / name).read_text(encoding='ascii')}"
        for name in ("vm/overcommit_memory", "kernel/panic")
    }
    names = {line.split(":")[1].strip() for line in links.splitlines()}
    return mounts | names | set(rules.splitlines()) | own | settings


def _pod(name: str, node: str, images: Images, *, claims: bool = True) -> Manifest:
    container: dict[str, Any] = {
        "name": "web",
        "image": images.base.name,
        "imagePullPolicy": "Never",
        "command": ["python3", "-c", SAYS],
        "workingDir": "/tmp",
        "readinessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec: dict[str, Any] = {"hostname": name, "subdomain": "web", "nodeSelector": {"kubernetes.io/hostname": node}}
    if claims:
        container["volumeMounts"] = [{"name": "kept", "mountPath": "/kept"}]
        spec["volumes"] = [{"name": "kept", "persistentVolumeClaim": {"claimName": "kept"}}]
    spec |= {"containers": [container], "securityContext": RESTRICTED_POD, "terminationGracePeriodSeconds": 1}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec}


def _service(name: str) -> Manifest:
    ports = [{"port": 8080}]
    selector = {"app": "web"}
    headless = {"clusterIP": "None", "selector": selector, "ports": ports}
    return {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": headless},
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "entry"},
                "spec": {"selector": selector, "ports": ports},
            },
        ],
    }


def _claim(name: str) -> Manifest:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}
