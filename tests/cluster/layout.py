"""Names, addresses and folders of one cluster; does nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

POD_NETWORK = "10.244.0.0/16"
SERVICE_NETWORK = "10.96.0.0/16"
API_SERVICE = "10.96.0.1"
DNS_SERVICE = "10.96.0.10"
DOMAIN = "cluster.local"


@dataclass(frozen=True)
class Layout:
    """Where everything of one cluster is. Its addresses are its own: they stand in namespaces that nothing else sees."""

    folder: Path
    name: str
    """Tells its cgroups from those of another cluster on this machine."""
    node_count: int

    @property
    def numbers(self) -> range:
        """Of its nodes; the control plane runs on the first."""
        return range(1, self.node_count + 1)

    @property
    def api(self) -> str:
        """URL of the API server within the nodes."""
        return f"https://{self.address(1)}:6443"

    @property
    def keys(self) -> Path:
        """Certificates and kubeconfigs."""
        return self.folder / "keys"

    @property
    def logs(self) -> Path:
        """One file a program."""
        return self.folder / "logs"

    @property
    def volumes(self) -> Path:
        """What claims are given."""
        return self.folder / "volumes"

    def node_name(self, number: int) -> str:
        """As Kubernetes knows it."""
        return f"node{number}"

    def node_folder(self, number: int) -> Path:
        """What a node keeps."""
        return self.folder / self.node_name(number)

    def address(self, number: int) -> str:
        """Of a node."""
        return f"10.66.0.{number}"

    def pods(self, number: int) -> str:
        """The network of a node's pods."""
        return f"10.244.{number}.0/24"

    def cgroup(self, number: int) -> str:
        """The cgroup under which a node's pods are."""
        return f"{self.name}-{self.node_name(number)}"

    def kubeconfig(self, name: str) -> str:
        """File with which `name` speaks to the API server."""
        return str(self.keys / f"{name}.kubeconfig")
