"""A node: network, mount and process namespaces of its own, which end with it; knows nothing of Kubernetes but its folders."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from cluster.cgroups import make_cgroup, remove_cgroup
from cluster.layout import SERVICE_NETWORK, Layout
from servers.process import LOOK_SECONDS, CannotStart, ServerProcess

OPEN_SECONDS = 20.0
CLOSE_SECONDS = 30.0
COMMAND_SECONDS = 60.0
MOUNTS = {
    "kubelet": "/var/lib/kubelet",
    "network": "/var/lib/cni",
    "pod-logs": "/var/log/pods",
    "container-logs": "/var/log/containers",
}
MACHINE_SETTINGS = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
"""What a kubelet sets for the whole machine: it gets files to write to instead."""


class Node:
    """One node. Its first process only waits; the programs enter its namespaces, and end with it."""

    def __init__(self, layout: Layout, number: int, pause: str) -> None:
        self._layout = layout
        self._number = number
        self._pause = pause
        self._holder: ServerProcess | None = None
        self._programs: list[ServerProcess] = []
        self.folder = layout.node_folder(number)
        self.pid = 0
        """Of the first process, as this process sees it."""

    def open(self) -> None:
        """Makes the namespaces, mounts, cgroups and the address. Raises: CannotStart."""
        self.folder.mkdir(parents=True)
        unshare = _find("unshare")
        private = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private")
        log = self._layout.logs / f"node{self._number}.log"
        self._holder = ServerProcess((unshare, *private, self._pause), log)
        self._holder.wait_until(self._find_first_process, OPEN_SECONDS)
        self._mount()
        make_cgroup(self._layout.cgroup(self._number))

    def cable(self, first: Node) -> None:
        """Gives it an address on the bridge that the first node has, and the way to services."""
        if first is self:
            self.run("ip", "link", "add", "node0", "type", "bridge")
        else:
            end = f"node{self._number}"
            pair = ("ip", "link", "add", end, "type", "veth", "peer", "name", "node0", "netns", str(self.pid))
            subprocess.run((*first.network_command(), *pair), check=True, timeout=COMMAND_SECONDS)
            first.run("ip", "link", "set", end, "master", "node0", "up")
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "addr", "add", f"{self._layout.address(self._number)}/24", "dev", "node0")
        self.run("ip", "link", "set", "node0", "up")
        own = ("src", self._layout.address(self._number))
        self.run("ip", "route", "add", SERVICE_NETWORK, "dev", "node0", *own)  # there is no default route
        self.run("sysctl", "-qw", "net.ipv4.ip_forward=1")

    def route(self, others: range) -> None:
        """Tells it the way to the other nodes' pods."""
        for number in others:
            if number != self._number:
                self.run("ip", "route", "add", self._layout.pods(number), "via", self._layout.address(number))

    def command(self, *command: str) -> tuple[str, ...]:
        """What runs a command inside."""
        return (_find("nsenter"), "-t", str(self.pid), "-n", "-m", "-p", *command)

    def network_command(self, *command: str) -> tuple[str, ...]:
        """What runs a command with this machine's files and processes and the node's network."""
        return (_find("nsenter"), "-t", str(self.pid), "-n", *command)

    def run(self, *command: str, seconds: float = COMMAND_SECONDS) -> str:
        """What a command prints that is run inside. Raises: CannotStart where it fails."""
        done = subprocess.run(self.command(*command), capture_output=True, text=True, check=False, timeout=seconds)
        if done.returncode != 0:
            raise CannotStart(f"{' '.join(command)} failed on node {self._number}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def start(self, name: str, *command: str) -> ServerProcess:
        """Starts a program inside, its log under its name; it ends with the node."""
        program = ServerProcess(self.command(*command), self._layout.logs / f"{name}.log")
        self._programs.append(program)
        return program

    def start_and_wait(self, name: str, command: tuple[str, ...], is_ready: Callable[[], bool], seconds: float) -> None:
        """The same, and waits until it is ready. Raises: CannotStart with the last lines of its log."""
        program = self.start(name, *command)
        try:
            program.wait_until(lambda: "ready" if is_ready() else "", seconds)
        except CannotStart as error:
            raise CannotStart(f"{name}: {error}\n{tail(program.log)}") from None

    def close(self) -> None:
        """Ends everything in it: its first process takes the rest with it, and namespaces and mounts go with the last."""
        if self._holder is not None:
            self._holder.kill()
            _wait_until_gone(self.pid)
        for program in self._programs:
            program.stop()
        remove_cgroup(self._layout.cgroup(self._number))

    def _find_first_process(self) -> str:
        assert self._holder is not None
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self._holder.pid).children():
                if child.name() == Path(self._pause).name:
                    self.pid = child.pid
                    return str(child.pid)
        return ""

    def _mount(self) -> None:
        self.run("mount", "-t", "tmpfs", "tmpfs", "/run")
        self.run("mkdir", "-p", "/run/netns", "/run/containerd", *MOUNTS.values())
        for name, place in MOUNTS.items():
            (self.folder / name).mkdir()
            self.run("mount", "--bind", str(self.folder / name), place)
        for setting in MACHINE_SETTINGS:
            kept = Path("/proc/sys") / setting
            copy = self.folder / "settings" / setting
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(kept.read_text(encoding="ascii"), encoding="ascii")
            self.run("mount", "--bind", str(copy), str(kept))


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log."""
    with contextlib.suppress(OSError):
        return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    return ""


def _find(program: str) -> str:
    found = shutil.which(program)
    if not found:
        raise CannotStart(f"{program} was not found")
    return found


def _wait_until_gone(pid: int) -> None:
    ends_at = time.monotonic() + CLOSE_SECONDS
    while pid and os.path.exists(f"/proc/{pid}"):
        if time.monotonic() > ends_at:
            raise CannotStart(f"process {pid} does not end")
        time.sleep(LOOK_SECONDS)
