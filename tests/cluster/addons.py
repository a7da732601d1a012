"""Cluster DNS, metrics, and a firewall for network policies, as programs on nodes, not as pods; knows nothing of who uses them."""

from __future__ import annotations

from typing import Any

from cluster.kubernetes import Kubectl, Manifest
from cluster.layout import DNS_SERVICE, DOMAIN, SERVICE_NETWORK, Layout
from cluster.node import Node
from cluster.programs import Programs

METRICS_PORT = 4443
DNS_PORTS = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]
COREFILE = """.:53 {{
  bind {address}
  errors
  ready {address}:8181
  kubernetes {domain} in-addr.arpa {{
    kubeconfig {kubeconfig}
    pods insecure
    ttl 5
  }}
  cache 5
  loadbalance
}}
"""


def start_dns(layout: Layout, node: Node, programs: Programs, kubectl: Kubectl) -> None:
    """Answers for names of services at the address that kubelets give to pods."""
    kubectl.apply(*_dns_rights(), *_service("kube-dns", DNS_PORTS, layout.address(1), DNS_SERVICE))
    config = node.folder / "Corefile"
    kubeconfig = layout.kubeconfig("coredns")
    config.write_text(
        COREFILE.format(address=layout.address(1), domain=DOMAIN, kubeconfig=kubeconfig), encoding="utf-8"
    )
    node.start("coredns", programs["coredns"], "-conf", str(config))


def start_metrics(layout: Layout, node: Node, programs: Programs, kubectl: Kubectl) -> None:
    """Measures pods, for `kubectl top` and autoscalers."""
    port = {"name": "https", "port": METRICS_PORT}
    kubectl.apply(*_service("metrics-server", [port], layout.address(1)), _metrics_api())
    kubeconfig = layout.kubeconfig("admin")
    node.start(
        "metrics-server",
        programs["metrics-server"],
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--secure-port={METRICS_PORT}",
        f"--bind-address={layout.address(1)}",
        f"--cert-dir={node.folder / 'metrics'}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-certificate-authority={layout.keys / 'ca.crt'}",
        "--metric-resolution=10s",
        "--kubelet-request-timeout=5s",
    )


def start_firewall(layout: Layout, number: int, node: Node, programs: Programs) -> None:
    """Enforces network policies on a node, which must be ready."""
    node.start(
        f"kube-router{number}",
        programs["kube-router"],
        f"--kubeconfig={layout.kubeconfig('admin')}",
        f"--hostname-override={layout.node_name(number)}",
        "--run-firewall=true",
        "--run-router=false",
        "--run-service-proxy=false",
        "--run-loadbalancer=false",
        f"--service-cluster-ip-range={SERVICE_NETWORK}",
        "--health-port=0",
        "--iptables-sync-period=30s",
    )


def _service(name: str, ports: list[dict[str, Any]], address: str, cluster_ip: str = "") -> list[Manifest]:
    """A service that is answered by a program on a node."""
    metadata = {"name": name, "namespace": "kube-system"}
    spec: dict[str, Any] = {"ports": ports, **({"clusterIP": cluster_ip} if cluster_ip else {})}
    endpoint = {"addresses": [address], "conditions": {"ready": True}}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec},
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**metadata, "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4",
            "endpoints": [endpoint],
            "ports": ports,
        },
    ]


def _dns_rights() -> list[Manifest]:
    kinds = {"": ["services", "pods", "namespaces"], "discovery.k8s.io": ["endpointslices"]}
    rules = [{"apiGroups": [group], "resources": names, "verbs": ["list", "watch"]} for group, names in kinds.items()]
    group = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "coredns"}, "rules": rules},
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "coredns"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "coredns"},
            "subjects": [{"kind": "User", "apiGroup": group, "name": "coredns"}],
        },
    ]


def _metrics_api() -> Manifest:
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1beta1.metrics.k8s.io"},
        "spec": {
            "group": "metrics.k8s.io",
            "version": "v1beta1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"name": "metrics-server", "namespace": "kube-system", "port": METRICS_PORT},
        },
    }
