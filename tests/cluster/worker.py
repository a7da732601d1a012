"""What makes a node of Kubernetes of a node: containerd, kubelet and kube-proxy; knows nothing of what pods they run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from cluster.layout import DNS_SERVICE, DOMAIN, POD_NETWORK, Layout
from cluster.node import Node
from cluster.programs import Programs

PAUSE_IMAGE = "localhost/pause:1"
READY_SECONDS = 30.0
IMPORT_SECONDS = 300.0
CONTAINERD = """version = 2
root = "{folder}/containerd"
state = "/run/containerd"
[grpc]
address = "{folder}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
path = "{folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{folder}/cni"
"""
"""oom_score_adj is restricted because a machine may lack CAP_SYS_RESOURCE, and runc then starts no pod."""


class Worker:
    """containerd, kubelet and kube-proxy of one node."""

    def __init__(self, layout: Layout, number: int, node: Node, programs: Programs) -> None:
        self._layout = layout
        self._number = number
        self._node = node
        self._programs = programs
        self._socket = node.folder / "containerd.sock"

    def start_runtime(self) -> None:
        """Starts containerd. Raises: CannotStart."""
        folder = self._node.folder
        config = folder / "containerd.toml"
        config.write_text(CONTAINERD.format(folder=folder, pause=PAUSE_IMAGE), encoding="utf-8")
        network = folder / "cni" / "pods.conflist"
        network.parent.mkdir()
        network.write_text(json.dumps(self._network()), encoding="utf-8")
        command = ("/usr/bin/containerd", "-c", str(config))
        self._node.start_and_wait(f"containerd{self._number}", command, self._socket.exists, READY_SECONDS)

    def import_image(self, archive: Path) -> None:
        """Gives containerd the images of an archive. Raises: CannotStart."""
        self._node.run(*self._ctr, "images", "import", str(archive), seconds=IMPORT_SECONDS)

    def start_kubelet(self) -> None:
        """Starts kubelet and kube-proxy; that the node is ready is for the API server to say."""
        kubelet, proxy = self._node.folder / "kubelet.yaml", self._node.folder / "proxy.yaml"
        kubelet.write_text(yaml.safe_dump(self._kubelet()), encoding="utf-8")
        proxy.write_text(yaml.safe_dump(self._proxy()), encoding="utf-8")
        name = self._layout.node_name(self._number)
        self._node.start(
            f"kubelet{self._number}",
            self._programs["kubelet"],
            f"--config={kubelet}",
            f"--kubeconfig={self._layout.kubeconfig(name)}",
            f"--hostname-override={name}",
            f"--node-ip={self._layout.address(self._number)}",
        )
        self._node.start(f"kube-proxy{self._number}", self._programs["kube-proxy"], f"--config={proxy}")

    def container_pid(self, container: str) -> int:
        """The first process of a container, as the node numbers it; 0 where it does not run."""
        for line in self._node.run(*self._ctr, "tasks", "list").splitlines():
            name, pid, *_ = line.split()
            if name == container:
                return int(pid)
        return 0

    @property
    def _ctr(self) -> tuple[str, ...]:
        return ("ctr", "-a", str(self._socket), "-n", "k8s.io")

    def _network(self) -> dict[str, Any]:
        addresses = {"type": "host-local", "ranges": [[{"subnet": self._layout.pods(self._number)}]]}
        pods = {"type": "ptp", "ipMasq": False, "ipam": {**addresses, "routes": [{"dst": "0.0.0.0/0"}]}}
        ports = {"type": "portmap", "capabilities": {"portMappings": True}}
        return {"cniVersion": "0.4.0", "name": "pods", "plugins": [pods, ports]}

    def _kubelet(self) -> dict[str, Any]:
        keys, name = self._layout.keys, self._layout.node_name(self._number)
        nothing_is_full = dict.fromkeys(
            ("nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree"), "0%"
        )
        resolver = self._node.folder / "resolv.conf"
        resolver.write_text("nameserver 127.0.0.1\n", encoding="ascii")
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(keys / "ca.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(keys / f"{name}-serving.crt"),
            "tlsPrivateKeyFile": str(keys / f"{name}-serving.key"),
            "cgroupDriver": "cgroupfs",
            # Its own, or two kubelets on one machine end each other's pods.
            "cgroupRoot": f"/{self._layout.cgroup(self._number)}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "clusterDNS": [DNS_SERVICE],
            "clusterDomain": DOMAIN,
            "containerRuntimeEndpoint": f"unix://{self._socket}",
            "resolvConf": str(resolver),
            "evictionHard": {"memory.available": "100Mi", **nothing_is_full},
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
        }

    def _proxy(self) -> dict[str, Any]:
        return {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "clientConnection": {"kubeconfig": self._layout.kubeconfig("proxy")},
            "clusterCIDR": POD_NETWORK,
            "hostnameOverride": self._layout.node_name(self._number),
            # These can't be written in a network namespace.
            "conntrack": {"maxPerCore": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        }
