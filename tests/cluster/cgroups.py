"""Cgroups for nodes' pods, under each hierarchy of the machine; knows only their names."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
REMOVE_SECONDS = 20.0
WEIGHT = 20 * 1024
"""Of a node's pods together: about twenty processes, where by default all of them would weigh as much as one of the machine's others."""
COPIED = ("cpuset.cpus", "cpuset.mems")
"""A new cpuset has nothing, and takes no process so."""


def make_cgroup(name: str) -> None:
    """Makes it in every hierarchy."""
    for hierarchy in _hierarchies():
        folder = hierarchy / name
        folder.mkdir(exist_ok=True)
        for file in COPIED:
            if (folder / file).exists() and hierarchy != ROOT:
                (folder / file).write_text((hierarchy / file).read_text(encoding="ascii"), encoding="ascii")
        if (folder / "cpu.shares").exists():
            (folder / "cpu.shares").write_text(str(WEIGHT), encoding="ascii")


def remove_cgroup(name: str) -> None:
    """Removes it and all within, as soon as the processes in it have ended.

    Raises: TimeoutError where they do not.
    """
    ends_at = time.monotonic() + REMOVE_SECONDS
    while sum(_remove(folder) for folder in _every(name)):
        if time.monotonic() > ends_at:
            raise TimeoutError(f"the cgroup {name} still has processes after {REMOVE_SECONDS:g} s")
        time.sleep(0.1)


def remove_stale(prefix: str) -> None:
    """Removes what killed runs have left: cgroups named `prefix`-PID-… whose process is no more."""
    for folder in _every(f"{prefix}-*"):
        owner = folder.name.removeprefix(f"{prefix}-").partition("-")[0]
        if not Path("/proc", owner).exists():
            _remove(folder)


def _hierarchies() -> Iterator[Path]:
    if (ROOT / "cgroup.controllers").exists():
        yield ROOT
        return
    for folder in sorted(ROOT.iterdir()):
        if folder.is_dir() and not folder.is_symlink() and folder.name != "unified":
            yield folder


def _every(name: str) -> list[Path]:
    """Also where we made none: runc makes one in the unified hierarchy by itself."""
    return [*ROOT.glob(name), *ROOT.glob(f"*/{name}")]


def _remove(folder: Path) -> bool:
    """Whether it is still there."""
    for inner, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(inner)
    return folder.exists()
