"""A docstore file of the release before pushes takes them, and its release can still read it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.raw_interface import RawPut
from refdesk.docstore.engines.sqlite import schema
from refdesk.docstore.engines.table import document_store
from refdesk.docstore.settings import DocstoreSettings

pytestmark = pytest.mark.anyio


async def test_a_file_of_schema_1_takes_pushes_and_stays_readable_from_schema_1(tmp_path: Path) -> None:
    path = tmp_path / "docstore" / "refdesk.sqlite3"
    path.parent.mkdir()
    with sqlite3.connect(path) as old:
        old.executescript(schema.TABLES)
        old.execute("INSERT INTO schema VALUES (1, 1)")
        old.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    old.close()
    store = document_store(DocstoreSettings(), tmp_path)
    await store.open()
    record = pb.RawDocument(project="handbook", source="wiki", path="a.md", content=b"text", change_count=1)
    assert await store.put_raw([RawPut(record, 0)], 1) == [True]
    await store.close()
    with sqlite3.connect(path) as now:
        assert now.execute("SELECT version, min_reader FROM schema").fetchone() == (schema.SCHEMA, 1)
    now.close()
