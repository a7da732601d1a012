"""How many cores this process may use, by its cgroup's CPU quota and its affinity; never the host's count where there is a quota."""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def count_cores(cgroups: Path = CGROUPS, membership: Path = MEMBERSHIP) -> int:
    """Cores that may be used, at least 1."""
    quotas = [quota for quota in (_quota_v2(cgroups, membership), _quota_v1(cgroups, membership)) if quota is not None]
    return cores_of(
        min(quotas, default=None),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
    )


def cores_of(quota: float | None, available: int) -> int:
    """Whole cores of a quota, rounded up as half a core still needs a thread; never more than are available, at least 1."""
    return max(1, available if quota is None else min(available, math.ceil(quota)))


def parse_v2(text: str) -> float | None:
    """Cores of a cpu.max such as `150000 100000`; None for `max` and for what is not understood."""
    quota, _, period = text.strip().partition(" ")
    return _ratio(quota, period or "100000")


def parse_v1(quota: str, period: str) -> float | None:
    """Cores of cpu.cfs_quota_us and cpu.cfs_period_us; None for -1 and for what is not understood."""
    return _ratio(quota.strip(), period.strip())


def parse_membership(text: str, controller: str) -> str:
    """The path of this process below a hierarchy, from /proc/self/cgroup; empty controller: version 2. `/` where it is not listed."""
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(",") and (controller or number == "0"):
            return path or "/"
    return "/"


def _ratio(quota: str, period: str) -> float | None:
    if not quota.isdigit() or not period.isdigit() or int(period) == 0 or int(quota) == 0:
        return None
    return int(quota) / int(period)


def _quota_v2(cgroups: Path, membership: Path) -> float | None:
    own = parse_membership(_read(membership), "")
    quotas = [parse_v2(_read(folder / "cpu.max")) for folder in _folders(cgroups, own)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _quota_v1(cgroups: Path, membership: Path) -> float | None:
    own = parse_membership(_read(membership), "cpu")
    quotas = [
        parse_v1(_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us"))
        for folder in _folders(cgroups / "cpu", own)
    ]
    return min((quota for quota in quotas if quota is not None), default=None)


def _folders(root: Path, own: str) -> list[Path]:
    """The process's own group and all above it: the tightest quota counts. A container sees its own group as the root."""
    folder = root / own.strip("/")
    return [folder, *(parent for parent in folder.parents if parent == root or root in parent.parents), root]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
