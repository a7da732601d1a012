"""A whole cluster: up, offered to tests, and down so that nothing is left; knows nothing of what is installed on it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from cluster.addons import start_dns, start_firewall, start_metrics
from cluster.cgroups import remove_stale
from cluster.control_plane import start_control_plane, write_keys
from cluster.debian import install_packages
from cluster.kubernetes import Failed, Helm, Kubectl, Program
from cluster.layout import Layout
from cluster.node import Node, tail
from cluster.programs import NEEDED, Programs
from cluster.volumes import storage_class, volume
from cluster.worker import Worker
from servers.process import CannotStart

NAME = "refdesk-test"
READY_SECONDS = 120.0
CLONE_NEWNET = 0x40000000


class Cluster:
    """Kubernetes with one or two nodes, in namespaces that end with this process."""

    def __init__(self, folder: Path, nodes: int = 1, *, firewall: bool = False) -> None:
        self._layout = Layout(folder.resolve(), f"{NAME}-{os.getpid()}-{secrets.token_hex(3)}", nodes)
        self._firewall = firewall
        self._programs: Programs | None = None
        self.nodes: list[Node] = []
        self.workers: list[Worker] = []
        self.times: list[float] = []
        """After how many seconds there were nodes, a control plane, containerd, images, kubelets, and all of it ready."""

    def start(self, archives: tuple[Path, ...] = ()) -> None:
        """Brings it up with the images of these archives, until all nodes are ready. Raises: CannotStart."""
        install_packages()
        modules = (*NEEDED, "kube-router") if self._firewall else NEEDED
        self._programs = programs = Programs(*modules)
        began_at = time.monotonic()
        remove_stale(NAME)
        self._layout.logs.mkdir(parents=True)
        try:
            for step in (
                self._open_nodes,
                self._start_control_plane,
                self._start_runtimes,
                lambda _: self.import_images(*archives),
                self._start_kubelets,
                self._start_addons,
            ):
                step(programs)
                self.times.append(time.monotonic() - began_at)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends it; its folder keeps the logs."""
        for node in reversed(self.nodes):
            node.close()
        self.nodes.clear()
        for rest in self._layout.folder.glob("node*"):
            shutil.rmtree(rest, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def kubectl(self) -> Kubectl:
        """As administrator, in the namespace `default`."""
        return Kubectl(self._program("kubectl"))

    def helm(self, namespace: str) -> Helm:
        """As administrator, in a namespace."""
        return Helm(self._program("helm"), namespace)

    @contextlib.contextmanager
    def network(self) -> Iterator[None]:
        """Whatever this thread connects to within the block, it does from the first node: services answer there.

        Sockets stay what they were made as; other threads, and the tests' own servers, are not touched.
        """
        with open("/proc/thread-self/ns/net", "rb") as own, open(f"/proc/{self.nodes[0].pid}/ns/net", "rb") as node:
            _enter(node.fileno())
            try:
                yield
            finally:
                _enter(own.fileno())

    def import_images(self, *archives: Path) -> None:
        """Gives every node the images of these archives. Raises: CannotStart."""

        def give(worker: Worker) -> None:
            for archive in archives:
                worker.import_image(archive)

        with ThreadPoolExecutor(len(self.workers)) as pool:
            list(pool.map(give, self.workers))

    def add_volumes(self, count: int, class_name: str = "local") -> None:
        """Volumes for claims, as folders that every node reaches, in a class that claims without one get."""
        names = [self._layout.node_name(number) for number in self._layout.numbers]
        self.kubectl.apply(storage_class(class_name))
        for number in range(count):
            folder = self._layout.volumes / f"volume{number}"
            folder.mkdir(parents=True)
            self.kubectl.apply(volume(folder, class_name, names))

    def signal_container(self, node: str, container: str, number: signal.Signals) -> None:
        """A signal to the first process of a container. Raises: CannotStart where it does not run."""
        place = [self._layout.node_name(one) for one in self._layout.numbers].index(node)
        pid = self.workers[place].container_pid(container.rpartition("/")[2])
        if not pid:
            raise CannotStart(f"container {container} does not run on {node}")
        self.nodes[place].run("kill", f"-{number:d}", str(pid))

    def log_tails(self, lines: int = 15) -> str:
        """The last lines of each program, for whoever has to find out what went wrong."""
        return "\n".join(f"== {log.stem}\n{tail(log, lines)}" for log in sorted(self._layout.logs.glob("*.log")))

    def _program(self, name: str) -> Program:
        assert self._programs is not None, "the cluster was not started"
        home = self._layout.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "KUBECONFIG": self._layout.kubeconfig("admin"),
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "XDG_DATA_HOME": str(home),
        }
        return Program(self.nodes[0].network_command(self._programs[name]), environment)

    def _open_nodes(self, programs: Programs) -> None:
        for number in self._layout.numbers:
            node = Node(self._layout, number, programs["pause"])
            self.nodes.append(node)
            node.open()
            node.cable(self.nodes[0])
        for node in self.nodes:
            node.route(self._layout.numbers)

    def _start_control_plane(self, programs: Programs) -> None:
        write_keys(self._layout)
        start_control_plane(self._layout, self.nodes[0], programs)

    def _start_runtimes(self, programs: Programs) -> None:
        for number, node in zip(self._layout.numbers, self.nodes, strict=True):
            worker = Worker(self._layout, number, node, programs)
            self.workers.append(worker)
            worker.start_runtime()

    def _start_kubelets(self, _: Programs) -> None:
        for worker in self.workers:
            worker.start_kubelet()

    def _start_addons(self, programs: Programs) -> None:
        first, kubectl = self.nodes[0], self.kubectl.within("kube-system")
        start_dns(self._layout, first, programs, kubectl)
        start_metrics(self._layout, first, programs, kubectl)
        names = [self._layout.node_name(number) for number in self._layout.numbers]
        wait_until(lambda: set(names) <= {node["metadata"]["name"] for node in kubectl.items("nodes")}, "no nodes")
        kubectl.wait("condition=Ready", "nodes", "--all", seconds=READY_SECONDS)
        wait_until(lambda: kubectl.attempt("get", "serviceaccount", "default").returncode == 0, "no service account")
        if self._firewall:
            for number, node in zip(self._layout.numbers, self.nodes, strict=True):
                start_firewall(self._layout, number, node, programs)


def wait_until(holds: Callable[[], bool], otherwise: str, seconds: float = READY_SECONDS) -> None:
    """Looks again and again. Raises: CannotStart with `otherwise` when time is up."""
    ends_at = time.monotonic() + seconds
    while True:
        with contextlib.suppress(Failed, subprocess.TimeoutExpired):  # an API server that is busy is asked again
            if holds():
                return
        if time.monotonic() > ends_at:
            raise CannotStart(f"{otherwise} after {seconds:g} s")
        time.sleep(0.2)


def _enter(namespace: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
