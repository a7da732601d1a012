"""Volumes for claims, as folders of this machine that every node reaches; makes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cluster.kubernetes import Manifest

SIZE = "100Gi"
"""More than any claim asks; nothing holds anybody to it."""


def storage_class(name: str) -> Manifest:
    """The class that a claim without one gets: its volumes stand ready, and are bound when a pod comes."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def volume(folder: Path, class_name: str, nodes: Sequence[str]) -> Manifest:
    """A volume of kind local, as kubelets give those to a pod's group, which they do not do for host paths."""
    place = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": folder.name},
        "spec": {
            "capacity": {"storage": SIZE},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": class_name,
            "local": {"path": str(folder)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [place]}]}},
        },
    }
