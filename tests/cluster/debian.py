"""Debian's part of the cluster: etcd, containerd, what builds images; installed where missing, on Debian and by root only."""

from __future__ import annotations

import os
import shutil
import subprocess

from servers.process import CannotStart

PACKAGES = (
    "buildah",
    "conntrack",
    "containerd",
    "containernetworking-plugins",
    "curl",
    "debootstrap",
    "etcd-client",
    "etcd-server",
    "ethtool",
    "ipset",
    "iproute2",
    "iptables",
    "kmod",
    "nftables",
    "procps",
    "runc",
    "socat",
    "util-linux",
)
INSTALL_SECONDS = 600
LOCK_SECONDS = 300


def install_packages(packages: tuple[str, ...] = PACKAGES) -> None:
    """Installs what is missing of the packages. Raises: CannotStart with one line that says what to do."""
    if os.geteuid() != 0:
        raise CannotStart(
            "the tests on Kubernetes make namespaces, mounts and cgroups: run them as root, on a machine to spare"
        )
    if not shutil.which("apt-get"):
        raise CannotStart("the tests on Kubernetes take etcd, containerd and buildah from Debian, and this is not one")
    missing = [package for package in packages if not _is_installed(package)]
    if not missing:
        return
    apt = ("apt-get", "-q", "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}")
    _run((*apt, "update"))
    _run((*apt, "install", "-y", "--no-install-recommends", *missing))


def _is_installed(package: str) -> bool:
    asked = ("dpkg-query", "-W", "-f", "${db:Status-Status}", package)
    return subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60).stdout == "installed"


def _run(command: tuple[str, ...]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS, env=environment
        )
    except subprocess.TimeoutExpired:
        raise CannotStart(f"{' '.join(command)} took more than {INSTALL_SECONDS} s") from None
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise CannotStart(f"{' '.join(command)} failed: {''.join(last)[:300]}")
