"""What the SQLite engine promises of its file: kills, damage, other releases, other processes, and a loop that never waits."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.records import GENERATION, PROJECT, make_record, make_tombstone, to_put
from refdesk.docstore.engines.interface import DocumentStore, View
from refdesk.docstore.engines.sqlite import schema
from refdesk.docstore.engines.sqlite.connections import Connections
from refdesk.docstore.engines.table import FILE, document_store
from refdesk.docstore.settings import DocstoreSettings
from refdesk.errors import InvalidArgument, Unavailable

pytestmark = pytest.mark.anyio
TESTS = Path(__file__).resolve().parent.parent
BATCH = 10


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[DocumentStore]:
    store = document_store(DocstoreSettings(busy_timeout_seconds=0.05), tmp_path)
    await store.open()
    yield store
    await store.close()


async def fill(data: Path, count: int = 50) -> Path:
    """A closed store with records; its file."""
    store = document_store(DocstoreSettings(), data)
    await store.open()
    records = [
        make_record(f"g/{number}.md", "".join(f"{number} {line}\n" for line in range(60))) for number in range(count)
    ]
    await store.put_documents(to_put(*records), 1)
    await store.close()
    return data / FILE


@pytest.mark.parametrize(("point", "kept"), [("before_commit", 2), ("after_commit", 3)])
async def test_a_kill_leaves_every_answered_batch_and_of_the_other_all_or_nothing(
    tmp_path: Path, point: str, kept: int
) -> None:
    environment = {
        **os.environ,
        "REFDESK_TEST_FAILPOINT": f"docstore.{point}=kill@3",
        "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
    }
    command = [sys.executable, str(TESTS / "engines" / "put_until_killed.py"), str(tmp_path)]
    run = await asyncio.to_thread(
        subprocess.run, command, env=environment, capture_output=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout.split()) == (-9, [b"0", b"1"])
    store = document_store(DocstoreSettings(), tmp_path)
    await store.open()
    paths = {each.path for each in await store.list_documents(PROJECT, GENERATION, "", "", 1000)}
    assert paths == {f"g/{batch:02}-{number}.md" for batch in range(kept) for number in range(BATCH)}
    stats = await store.get_stats(PROJECT, GENERATION)
    assert (stats.document_count, stats.chunk_count) == (kept * BATCH, kept * BATCH)
    assert (await store.put_documents(to_put(make_record("g/next.md")), 2))[0].committed
    await store.close()


async def test_a_commit_reaches_the_disk_before_it_is_answered(tmp_path: Path) -> None:
    connections = Connections(tmp_path / "x", readers=1, busy_timeout_seconds=1, check_max_bytes=0)
    await connections.open()
    pragmas = await connections.write(
        lambda connection: [
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")
        ]
    )
    await connections.close()
    assert pragmas == [2, "wal"]  # 2 is FULL: https://www.sqlite.org/pragma.html#pragma_synchronous


@pytest.mark.parametrize("damage", ["header", "middle", "short"])
async def test_a_damaged_file_stops_the_start_by_name_and_is_left_as_it_is(tmp_path: Path, damage: str) -> None:
    path = await fill(tmp_path)
    content = bytearray(path.read_bytes())
    if damage == "header":
        content[:100] = b"x" * 100
    elif damage == "middle":
        for page in range(3, len(content) // 4096):
            content[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    else:
        del content[len(content) // 2 :]
    path.write_bytes(content)
    store = document_store(DocstoreSettings(), tmp_path)
    with pytest.raises(InvalidArgument) as caught:
        await store.open()
    assert str(path) in caught.value.message
    assert "is damaged" in caught.value.message
    assert "move it away" in caught.value.message
    assert path.read_bytes() == content


async def test_damage_that_is_met_later_is_said_with_the_file_and_no_words_of_the_engine(tmp_path: Path) -> None:
    path = await fill(tmp_path)
    content = bytearray(path.read_bytes())
    for page in range(30, len(content) // 4096):
        content[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(content)
    store = document_store(DocstoreSettings(start_check_max_bytes=0), tmp_path)
    await store.open()
    with pytest.raises(Unavailable, match="is damaged; nothing was changed") as caught:
        await store.get_by_path(PROJECT, [f"g/{number}.md" for number in range(50)], View(include_text=True))
    assert str(path) in caught.value.message
    assert "malformed" not in caught.value.message
    await store.close()


async def test_a_file_that_is_no_docstore_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite3"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (note TEXT)")
    other.close()
    content = path.read_bytes()
    with pytest.raises(InvalidArgument, match="was not written by docstore"):
        await document_store(DocstoreSettings(url=f"file:{path}"), tmp_path).open()
    assert path.read_bytes() == content


async def change_schema(path: Path, version: int, min_reader: int) -> None:
    other = sqlite3.connect(path)
    other.execute("UPDATE schema SET version = ?, min_reader = ?", (version, min_reader))
    other.execute("ALTER TABLE documents ADD COLUMN of_the_future TEXT NOT NULL DEFAULT 'x'")
    other.commit()
    other.close()


async def test_a_newer_file_that_this_release_can_read_is_opened_and_written(tmp_path: Path) -> None:
    path = await fill(tmp_path, 3)
    await change_schema(path, schema.SCHEMA + 1, schema.SCHEMA)
    store = document_store(DocstoreSettings(), tmp_path)
    await store.open()
    assert (await store.put_documents(to_put(make_record("g/new.md")), 1))[0].committed
    assert (await store.get_stats(PROJECT, GENERATION)).document_count == 4
    await store.close()


async def test_only_a_min_reader_above_ours_stops_the_start(tmp_path: Path) -> None:
    path = await fill(tmp_path, 3)
    await change_schema(path, schema.SCHEMA + 2, schema.SCHEMA + 1)
    with pytest.raises(InvalidArgument, match="was written by a newer release") as caught:
        await document_store(DocstoreSettings(), tmp_path).open()
    assert str(path) in caught.value.message


async def test_a_folder_that_cannot_be_made_and_a_url_of_no_engine_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="cannot be made; name another one"):
        await document_store(DocstoreSettings(url=f"file:{tmp_path}/file/inner/db"), tmp_path).open()
    for url in ("mongodb://x", "", "/a/path", "file://host/path"):
        with pytest.raises(InvalidArgument, match=r"docstore\.url"):
            document_store(DocstoreSettings(url=url), tmp_path)


async def test_while_another_process_writes_reads_go_on_and_a_put_is_refused_in_time(
    store: DocumentStore, tmp_path: Path
) -> None:
    await store.put_documents(to_put(make_record("g/a.md")), 1)
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="held by another process"):
        await store.put_documents(to_put(make_record("g/b.md")), 1)
    assert (await store.get_stats(PROJECT, GENERATION)).document_count == 1
    other.execute("ROLLBACK")
    other.close()
    assert (await store.put_documents(to_put(make_record("g/b.md")), 1))[0].committed


async def test_a_put_that_waits_for_the_file_holds_up_neither_the_loop_nor_reads(tmp_path: Path) -> None:
    store = document_store(DocstoreSettings(busy_timeout_seconds=30), tmp_path)
    await store.open()
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    putting = asyncio.ensure_future(store.put_documents(to_put(make_record("g/a.md")), 1))
    async with asyncio.timeout(10):
        for _ in range(20):
            assert (await store.get_stats(PROJECT, GENERATION)).document_count == 0
        assert not putting.done()
        other.execute("ROLLBACK")
        assert (await putting)[0].committed
    other.close()
    await store.close()


async def test_a_purged_text_leaves_no_bytes_in_the_file(tmp_path: Path) -> None:
    store = document_store(DocstoreSettings(), tmp_path)
    await store.open()
    secret = "unmistakable-words"
    await store.put_documents(to_put(make_record("g/a.md", f"{secret}\n")), 1)
    await store.close()
    assert secret.encode() in (tmp_path / FILE).read_bytes()
    await store.open()
    await store.put_documents(to_put(make_tombstone("g/a.md", 2, text=f"{secret}\n")), 2)
    assert await store.purge_documents(PROJECT, 3) == 1
    await store.close()
    assert secret.encode() not in (tmp_path / FILE).read_bytes()


async def test_a_closed_store_says_so_and_closing_twice_does_no_harm(tmp_path: Path) -> None:
    store = document_store(DocstoreSettings(), tmp_path)
    await store.open()
    await store.close()
    await store.close()
    with pytest.raises(Unavailable, match="docstore is not open"):
        await store.get_stats(PROJECT, GENERATION)
    with pytest.raises(Unavailable, match="docstore is not open"):
        await store.put_documents(to_put(make_record("g/a.md")), 1)
