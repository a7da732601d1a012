"""What every process tells of itself: its memory with that of its children, what it may take, and room on its disk; knows no service."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

PROC = Path("/proc")
LIMIT_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
NO_LIMIT_BYTES = 1 << 50
"""A cgroup of the first version writes a number near 2^63 where there is no limit."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

MEMORY = "refdesk_process_memory_bytes"
MEMORY_LIMIT = "refdesk_process_memory_limit_bytes"
DATA_SIZE = "refdesk_process_data_size_bytes"
DATA_FREE = "refdesk_process_data_free_bytes"


class ProcessCollector(Collector):
    """Reads at each scrape; what a platform does not tell is left out."""

    def __init__(self, proc: Path = PROC, limit_files: Iterable[Path] = LIMIT_FILES) -> None:
        self._proc = proc
        self._limit_files = tuple(limit_files)
        self.data: Path | None = None
        """The data folder, once it is known."""

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Its families without values."""
        yield GaugeMetricFamily(
            MEMORY, "Resident memory of this process (own) and of all below it (children).", labels=["process"]
        )
        yield GaugeMetricFamily(
            MEMORY_LIMIT, "What this process and its children may take together, where that is limited."
        )
        yield GaugeMetricFamily(DATA_SIZE, "Size of the file system that the data folder is on.")
        yield GaugeMetricFamily(DATA_FREE, "Room on it.")

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Its families as they are now."""
        memory, limit, size, free = self.describe()
        own = resident_bytes(self._proc, "self")
        if own is not None:
            memory.add_metric(["own"], own)
            children = (resident_bytes(self._proc, pid) for pid in descendants(self._proc, "self"))
            memory.add_metric(["children"], sum(one for one in children if one is not None))
        limit_bytes = limit_of(self._limit_files)
        if limit_bytes is not None:
            limit.add_metric([], limit_bytes)
        if self.data is not None:
            with contextlib.suppress(OSError):
                usage = shutil.disk_usage(self.data)
                size.add_metric([], usage.total)
                free.add_metric([], usage.free)
        return iter([memory, limit, size, free])


def resident_bytes(proc: Path, pid: str) -> int | None:
    """Resident memory of a process; None where it is gone, or the platform does not tell."""
    try:
        return int((proc / pid / "statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return None


def descendants(proc: Path, pid: str) -> list[str]:
    """Ids of the processes below one, at any depth."""
    found: list[str] = []
    for file in (proc / pid / "task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in file.read_text().split():
                found += [child, *descendants(proc, child)]
    return found


def limit_of(files: Iterable[Path]) -> int | None:
    """The memory limit of this process's cgroup; None where there is none."""
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            limit_bytes = int(file.read_text())
            return limit_bytes if limit_bytes < NO_LIMIT_BYTES else None
    return None


PROCESS = ProcessCollector()
REGISTRY.register(PROCESS)
