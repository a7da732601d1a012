"""Reads CPU time and memory of a process and all its children, the shared pages counted once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil


@dataclass
class Usage:
    """Samples a process tree until it is stopped: peak proportional memory, bytes; CPU seconds, also of children that ended."""

    pid: int
    every_seconds: float = 0.25
    peak_bytes: int = 0
    peak_parts: dict[str, int] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _cpu: dict[int, float] = field(default_factory=dict)

    def start(self) -> None:
        """Begins to sample in a thread."""
        threading.Thread(target=self._sample, daemon=True).start()

    def stop(self) -> None:
        """Ends sampling."""
        self._stop.set()

    def cpu_seconds(self) -> float:
        """CPU time of the tree so far, user and system."""
        for process in self._tree():
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            self._cpu[process.pid] = times.user + times.system
        return sum(self._cpu.values())

    def _sample(self) -> None:
        while not self._stop.wait(self.every_seconds):
            parts: dict[str, int] = {}
            for process in self._tree():
                try:
                    role = _role(process)
                    parts[role] = parts.get(role, 0) + process.memory_full_info().pss
                except psutil.Error:
                    continue
            total = sum(parts.values())
            if total > self.peak_bytes:
                self.peak_bytes, self.peak_parts = total, parts

    def _tree(self) -> list[psutil.Process]:
        try:
            parent = psutil.Process(self.pid)
            return [parent, *parent.children(recursive=True)]
        except psutil.Error:
            return []


def _role(process: psutil.Process) -> str:
    words = process.cmdline()
    modules = [word for word in words if word.startswith("refdesk.")]
    if modules:
        return modules[-1].removeprefix("refdesk.")
    return "desk" if "up" in words else process.name()


@dataclass(frozen=True)
class Timing:
    """Milliseconds of many calls."""

    p50: float
    p99: float
    per_second: float


def summarise(seconds: list[float], elapsed_seconds: float) -> Timing:
    """The middle and the tail of call times, and the rate over the whole run."""
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return Timing(1000 * ordered[len(ordered) // 2], 1000 * p99, len(ordered) / elapsed_seconds)


def wait_for(condition: Callable[[], bool], seconds: float, every: float = 0.02) -> float:
    """Calls `condition` until it is true; the seconds that it took.

    Raises: TimeoutError.
    """
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > seconds:
            raise TimeoutError("the desk took too long")
        time.sleep(every)
    return time.monotonic() - started
