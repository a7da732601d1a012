"""What a process tells of its memory and its disk, read off a /proc that the test wrote, and off the real one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from refdesk.telemetry.metrics import PAGE_BYTES, ProcessCollector, descendants, limit_of


def write_process(proc: Path, pid: str, pages: int, *children: str) -> None:
    task = proc / pid / "task" / pid
    task.mkdir(parents=True)
    (task / "children").write_text(" ".join(children))
    (proc / pid / "statm").write_text(f"9999 {pages} 10 1 0 50 0\n")


def samples(collector: ProcessCollector) -> dict[str, float]:
    return {
        sample.name + "".join(sample.labels.values()): sample.value
        for family in collector.collect()
        for sample in family.samples
    }


def test_memory_of_children_and_of_theirs_counts_beside_its_own(tmp_path: Path) -> None:
    write_process(tmp_path, "self", 100, "10", "11")
    write_process(tmp_path, "10", 20)
    write_process(tmp_path, "11", 30, "12", "13")  # 13 has just ended
    write_process(tmp_path, "12", 40)
    told = samples(ProcessCollector(tmp_path, []))
    assert told["refdesk_process_memory_bytesown"] == 100 * PAGE_BYTES
    assert told["refdesk_process_memory_byteschildren"] == 90 * PAGE_BYTES
    assert "refdesk_process_memory_limit_bytes" not in told


@pytest.mark.parametrize(
    ("text", "limit"), [("1073741824\n", 1073741824), ("max\n", None), ("9223372036854771712", None)]
)
def test_a_limit_is_told_where_there_is_one(tmp_path: Path, text: str, limit: int | None) -> None:
    file = tmp_path / "memory.max"
    file.write_text(text)
    assert limit_of([tmp_path / "absent", file]) == limit
    told = samples(ProcessCollector(tmp_path, [file]))
    assert told.get("refdesk_process_memory_limit_bytes") == limit


def test_a_disk_is_told_of_once_the_data_folder_is_known(tmp_path: Path) -> None:
    collector = ProcessCollector()
    assert "refdesk_process_data_free_bytes" not in samples(collector)
    collector.data = tmp_path
    told = samples(collector)
    assert 0 < told["refdesk_process_data_free_bytes"] < told["refdesk_process_data_size_bytes"]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells")
def test_a_real_child_is_found() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert str(child.pid) in descendants(Path("/proc"), str(os.getpid()))
        child.communicate(b"\n", timeout=20)
