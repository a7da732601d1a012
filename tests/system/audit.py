"""Compares a stopped desk's engines with each other and with the folder that it followed: the invariants, entry by entry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.search.v1 import search_pb2
from refdesk.app import App
from refdesk.ingest.formats.markdown import parse
from refdesk.settings import load

PROJECT = "default"
LATER = "of a later time"


async def audit(
    data: Path,
    docs: Path,
    source: str,
    model: Path | str,
    engines: Mapping[str, Any] | None = None,
    *,
    also: Path | str | None = None,
    set_back: bool = False,
    beside: Mapping[str, Path] | None = None,
) -> list[str]:
    """Every way in which the index differs from the folder, in any followed generation; empty when it is as it should be.

    `engines`: settings of where they are. `also`: a second model that is hosted. `set_back`: records are older than the index was, so what
    they list may bear later stamps. `beside`: further sources, each with a folder that holds what must stand of it.
    """
    embedder = {"model": str(model), "also_host": [str(also)] if also else []}
    settings = load("", {}, {"embedder": embedder, **(engines or {})})
    app = App(settings, data, ("docstore", "embedder", "search"))
    await app.start()
    try:
        folders = {source: docs, **(beside or {})}
        return await audit_services(app.hold("docstore"), app.hold("search"), folders, set_back=set_back)
    finally:
        await app.close()


async def audit_services(
    docstore: Any, search: Any, folders: Mapping[str, Path], *, set_back: bool = False
) -> list[str]:
    """The same of services that run, here or far away; `folders`: what must stand of each source."""
    project = (await docstore.get_project(docstore_pb2.GetProjectRequest(project=PROJECT))).project
    records = [record async for record in _records(docstore)]
    problems = await _compare_folders(docstore, records, folders)
    for generation in project.followed_generations:
        found = await _compare_generation(search, records, generation)
        problems += [problem for problem in found if not (set_back and LATER in problem)]
    gone = {head.generation for record in records for head in record.heads} - set(project.followed_generations)
    return problems + [f"heads of {name}, which nobody follows" for name in sorted(gone)]


async def _compare_folders(docstore: Any, records: list[Any], folders: Mapping[str, Path]) -> list[str]:
    current = {record.path for record in records if not record.deleted}
    expected = {
        f"{source}/{path.relative_to(folder).as_posix()}": path
        for source, folder in folders.items()
        for path in folder.rglob("*.md")
    }
    problems = [f"lost: {path}" for path in sorted(expected.keys() - current)]
    problems += [f"ghost: {path}" for path in sorted(current - expected.keys())]
    for path in sorted(current & expected.keys()):
        request = docstore_pb2.GetDocumentsRequest(project=PROJECT, paths=[path], include_text=True)
        stored = (await docstore.get_documents(request)).items[0].document
        if stored.text != parse(expected[path].read_bytes(), expected[path].stem).text:
            problems.append(f"stale: {path}")
    return problems


async def _compare_generation(search: Any, records: list[Any], generation: str) -> list[str]:
    problems = [
        f"no head of {generation}: {record.path}"
        for record in records
        if not record.deleted and all(head.generation != generation for head in record.heads)
    ]
    for engine in (search_pb2.ENGINE_WORDS, search_pb2.ENGINE_VECTORS):
        entries = [entry async for entry in _entries(search, generation, engine)]
        problems += _compare_entries(records, entries, generation, search_pb2.Engine.Name(engine))
    return problems


def _compare_entries(records: list[Any], entries: list[Any], generation: str, engine: str) -> list[str]:
    listed, whole = {}, {}
    problems = []
    for record in records:
        heads = [head for head in record.heads if head.generation == generation]
        for head in heads:
            listed |= {chunk.chunk_id: record for chunk in head.chunks}
            if head.missing_vectors:
                problems.append(f"{engine}: vectors missing in {record.path}")
            if not head.swept:
                problems.append(f"{engine}: not swept: {record.path}")
            if head.chunks and not record.deleted:
                whole[record.document_id] = record
    seen: dict[tuple[int, str], Any] = {}
    for entry in entries:
        if (entry.grain, entry.id) in seen:
            problems.append(f"{engine}: twice: {entry.id}")
        seen[entry.grain, entry.id] = entry
    for grain, wanted in ((search_pb2.GRAIN_CHUNK, listed), (search_pb2.GRAIN_DOCUMENT, whole)):
        present = {id for kind, id in seen if kind == grain}
        name = search_pb2.Grain.Name(grain)
        problems += [f"{engine}: {name} missing of {wanted[id].path}: {id}" for id in sorted(wanted.keys() - present)]
        problems += [f"{engine}: {name} orphan: {id}" for id in sorted(present - wanted.keys())]
        for id in present & wanted.keys():
            entry = seen[grain, id]
            if entry.document_id != wanted[id].document_id or entry.stamp < 1:
                problems.append(f"{engine}: {name} of another document: {id}")
            if entry.stamp > wanted[id].revision:
                problems.append(f"{engine}: {name} {LATER}: {id}")
    return problems


async def _records(docstore: Any) -> AsyncIterator[Any]:
    token = ""
    while True:
        page = await docstore.list_records(docstore_pb2.ListRecordsRequest(project=PROJECT, page_token=token))
        for record in page.documents:
            yield record
        token = page.next_page_token
        if not token:
            return


async def _entries(search: Any, generation: str, engine: Any) -> AsyncIterator[Any]:
    token = ""
    while True:
        request = search_pb2.ListEntriesRequest(project=PROJECT, generation=generation, engine=engine, page_token=token)
        page = await search.list_entries(request)
        for entry in page.entries:
            yield entry
        token = page.next_page_token
        if not token:
            return
