"""Cores from cgroup quotas, against files as kernels write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from refdesk.embedder import cores


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("200000 100000\n", 2.0),
        ("150000 100000\n", 1.5),
        ("max 100000\n", None),
        ("", None),
        ("50000", 0.5),
        ("x y", None),
    ],
)
def test_a_version_2_quota_is_its_share_of_the_period(text: str, expected: float | None) -> None:
    assert cores.parse_v2(text) == expected


@pytest.mark.parametrize(
    ("quota", "period", "expected"),
    [("400000\n", "100000\n", 4.0), ("-1\n", "100000\n", None), ("", "", None), ("100000", "0", None)],
)
def test_a_version_1_quota_of_minus_one_is_none(quota: str, period: str, expected: float | None) -> None:
    assert cores.parse_v1(quota, period) == expected


@pytest.mark.parametrize(
    ("quota", "available", "expected"),
    [(None, 8, 8), (2.0, 64, 2), (1.5, 64, 2), (0.5, 64, 1), (16.0, 4, 4), (None, 0, 1)],
)
def test_cores_never_exceed_the_quota_rounded_up_or_what_is_available(
    quota: float | None, available: int, expected: int
) -> None:
    assert cores.cores_of(quota, available) == expected


def test_membership_is_read_for_both_versions() -> None:
    listed = "12:cpu,cpuacct:/kubepods/burstable/pod1\n0::/kubepods.slice/pod1.scope\n"
    assert cores.parse_membership(listed, "cpu") == "/kubepods/burstable/pod1"
    assert cores.parse_membership(listed, "") == "/kubepods.slice/pod1.scope"
    assert cores.parse_membership("", "cpu") == "/"


def test_the_tightest_quota_on_the_way_to_the_root_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "slice" / "pod"
    own.mkdir(parents=True)
    (own / "cpu.max").write_text("max 100000\n")
    (tmp_path / "slice" / "cpu.max").write_text("300000 100000\n")
    membership = tmp_path / "membership"
    membership.write_text("0::/slice/pod\n")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert cores.count_cores(tmp_path, membership) == 3


def test_a_version_1_container_sees_its_quota_at_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("200000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    membership = tmp_path / "membership"
    membership.write_text("3:cpu,cpuacct:/docker/0123\n")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert cores.count_cores(tmp_path, membership) == 2


def test_without_any_quota_the_affinity_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 5, 7}, raising=False)
    assert cores.count_cores(tmp_path, tmp_path / "absent") == 3
