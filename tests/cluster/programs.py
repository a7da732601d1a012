"""Builds the cluster's programs from Go modules, once a hash of sources, in the user's cache; knows nothing of running them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from servers.node_build import cache_folder
from servers.process import CannotStart

SOURCES = Path(__file__).resolve().parent / "programs"
BUILD_SECONDS = 3600
KUBERNETES = "v1.34.4"
"""As go.mod has it; the programs say so when they are asked, and clients look at it."""
VERSION = "k8s.io/component-base/version"
STAMPS = {
    "gitVersion": KUBERNETES,
    "gitMajor": "1",
    "gitMinor": "34",
    "gitTreeState": "clean",
    "gitCommit": "unknown",
    "buildDate": "2026-01-01T00:00:00Z",
}


@dataclass(frozen=True)
class Module:
    """One folder of `programs`: a Go module, and what is built of it."""

    folder: str
    packages: dict[str, str]
    """Name of the program to package."""
    stamps: dict[str, str] = field(default_factory=dict)
    """What the linker is to set."""
    names: tuple[str, ...] = ()
    """Under which its first program can be called besides."""


MODULES = (
    Module(
        "kubernetes",
        {"kubernetes": ".", "coredns": "./cmd/coredns", "pause": "./cmd/pause"},
        {f"{VERSION}.{name}": value for name, value in STAMPS.items()},
        (
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kubelet",
            "kube-proxy",
            "kubectl",
            "metrics-server",
        ),
    ),
    Module(
        "helm",
        {"helm": "helm.sh/helm/v4/cmd/helm"},
        {"helm.sh/helm/v4/internal/version.version": "v4.3.2"},
    ),
    Module("kube-router", {"kube-router": "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"}),
)
NEEDED = ("kubernetes", "helm")


class Programs:
    """Where each of them is."""

    def __init__(self, *modules: str) -> None:
        """Builds what is not there yet. Raises: CannotStart with one line that says what to do."""
        chosen = [module for module in MODULES if module.folder in (modules or NEEDED)]
        self._folders = [build(module) for module in chosen]

    def __getitem__(self, name: str) -> str:
        """Path of a program. Raises: CannotStart where none of the modules has it."""
        for folder in self._folders:
            if (folder / name).exists():
                return str(folder / name)
        raise CannotStart(f"{name} is not one of the programs that were built")

    @property
    def path(self) -> str:
        """PATH with them in front."""
        return os.pathsep.join([*map(str, self._folders), os.environ.get("PATH", os.defpath)])


def build(module: Module) -> Path:
    """The folder of the module's programs, built where that was not done yet.

    Raises: CannotStart.
    """
    home = cache_folder() / "cluster" / "programs"
    home.mkdir(parents=True, exist_ok=True)
    folder = home / f"{module.folder}-{_hash(module)}"
    with locked(home / f"{module.folder}.lock"):  # of two runs one builds and the other waits
        if not folder.exists():
            _build(module, folder)
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock of all processes while the block runs."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _hash(module: Module) -> str:
    digest = hashlib.sha256(repr(module).encode())
    for source in sorted((SOURCES / module.folder).rglob("*")):
        if source.is_file():
            digest.update(f"{source.relative_to(SOURCES)}\0".encode() + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _build(module: Module, folder: Path) -> None:
    go = shutil.which("go")
    if not go:
        raise CannotStart("the tests on Kubernetes build it from Go modules: install Go 1.26 or newer")
    flags = " ".join(["-s -w", *(f"-X {name}={value}" for name, value in module.stamps.items())])
    with TemporaryDirectory(dir=folder.parent) as name:
        work = Path(name) / "built"
        work.mkdir()
        for program, package in module.packages.items():
            command = (go, "build", "-trimpath", "-mod=readonly", "-buildvcs=false", "-ldflags", flags)
            _run((*command, "-o", str(work / program), package), SOURCES / module.folder, program)
        for link in module.names:
            (work / link).symlink_to(next(iter(module.packages)))
        work.rename(folder)  # whole or not at all


def _run(command: tuple[str, ...], folder: Path, program: str) -> None:
    environment = {**os.environ, "CGO_ENABLED": "0"}
    try:
        done = subprocess.run(
            ("nice", *command),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise CannotStart(f"{program} was not built within {BUILD_SECONDS} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if not line.startswith("go: downloading")]
        raise CannotStart(f"{program} could not be built: {' | '.join(lines[-3:])[:600]}")


if __name__ == "__main__":
    try:
        Programs(*sys.argv[1:])
    except CannotStart as error:
        sys.exit(str(error))
