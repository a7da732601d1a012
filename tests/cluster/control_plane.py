"""etcd, the API server, the controllers and the scheduler, on the first node; knows nothing of pods."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from cluster.authority import Authority, make_signing_key, write_kubeconfig
from cluster.layout import API_SERVICE, SERVICE_NETWORK, Layout
from cluster.node import Node
from cluster.programs import Programs

ETCD = "http://127.0.0.1:2379"
READY_SECONDS = 120.0
LOOK_SECONDS = 10.0
CLIENTS = {
    "admin": ("admin", "system:masters"),
    "controllers": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "proxy": ("system:kube-proxy", ""),
    "coredns": ("coredns", ""),
}


def write_keys(layout: Layout) -> None:
    """Certificates and kubeconfigs of everyone."""
    layout.keys.mkdir()
    authority, front = Authority(layout.keys, "ca"), Authority(layout.keys, "front")
    service = "kubernetes.default.svc"
    authority.server("apiserver", [layout.address(1), "127.0.0.1", API_SERVICE, "kubernetes.default", service])
    front.client("aggregator", "front-proxy-client")
    clients = dict(CLIENTS)
    for number in layout.numbers:
        name = layout.node_name(number)
        clients[name] = (f"system:node:{name}", "system:nodes")
        authority.server(f"{name}-serving", [layout.address(number), name])
    for name, (user, group) in clients.items():
        authority.client(name, user, group)
        write_kubeconfig(layout.keys, name, authority, layout.api)
    make_signing_key(layout.keys, "accounts")


def start_control_plane(layout: Layout, node: Node, programs: Programs) -> None:
    """Starts it; returns when the API server is ready. Raises: CannotStart."""
    node.start_and_wait("etcd", _etcd(layout.folder), _asks(node, "curl", "-sf", f"{ETCD}/health"), READY_SECONDS)
    ready = _asks(node, programs["kubectl"], "--kubeconfig", layout.kubeconfig("admin"), "get", "--raw", "/readyz")
    node.start_and_wait("kube-apiserver", _api_server(layout, programs), ready, READY_SECONDS)
    node.start("kube-controller-manager", *_controllers(layout, programs))
    node.start("kube-scheduler", *_client(layout, programs["kube-scheduler"], "scheduler"))


def _asks(node: Node, *command: str) -> Callable[[], bool]:
    def is_ready() -> bool:
        try:
            done = subprocess.run(node.command(*command), capture_output=True, check=False, timeout=LOOK_SECONDS)
        except subprocess.TimeoutExpired:  # on a busy machine
            return False
        return done.returncode == 0

    return is_ready


def _etcd(folder: Path) -> tuple[str, ...]:
    peer = "http://127.0.0.1:2380"
    return (
        "/usr/bin/etcd",
        "--name=test",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={ETCD}",
        f"--advertise-client-urls={ETCD}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=test={peer}",
        "--unsafe-no-fsync",  # what it holds ends with the test
    )


def _api_server(layout: Layout, programs: Programs) -> tuple[str, ...]:
    keys = layout.keys
    return (
        programs["kube-apiserver"],
        f"--etcd-servers={ETCD}",
        f"--advertise-address={layout.address(1)}",
        "--bind-address=0.0.0.0",
        "--secure-port=6443",
        f"--service-cluster-ip-range={SERVICE_NETWORK}",
        f"--client-ca-file={keys / 'ca.crt'}",
        f"--tls-cert-file={keys / 'apiserver.crt'}",
        f"--tls-private-key-file={keys / 'apiserver.key'}",
        f"--service-account-key-file={keys / 'accounts.pub'}",
        f"--service-account-signing-key-file={keys / 'accounts.key'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-client-certificate={keys / 'admin.crt'}",
        f"--kubelet-client-key={keys / 'admin.key'}",
        f"--kubelet-certificate-authority={keys / 'ca.crt'}",
        f"--requestheader-client-ca-file={keys / 'front.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={keys / 'aggregator.crt'}",
        f"--proxy-client-key-file={keys / 'aggregator.key'}",
        "--enable-aggregator-routing=true",
    )


def _controllers(layout: Layout, programs: Programs) -> tuple[str, ...]:
    keys = layout.keys
    return (
        *_client(layout, programs["kube-controller-manager"], "controllers"),
        f"--root-ca-file={keys / 'ca.crt'}",
        f"--service-account-private-key-file={keys / 'accounts.key'}",
        "--use-service-account-credentials=true",
        f"--cluster-signing-cert-file={keys / 'ca.crt'}",
        f"--cluster-signing-key-file={keys / 'ca.key'}",
        # An autoscaler that looks more often than by default makes the same decisions sooner.
        "--horizontal-pod-autoscaler-sync-period=5s",
        "--horizontal-pod-autoscaler-cpu-initialization-period=10s",
        "--horizontal-pod-autoscaler-initial-readiness-delay=5s",
    )


def _client(layout: Layout, program: str, name: str) -> tuple[str, ...]:
    kubeconfig = layout.kubeconfig(name)
    return (
        program,
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
    )
