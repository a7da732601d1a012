"""What docstore needs of an engine that keeps records; knows nothing of requests, limits or page tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.raw_interface import RawStore


@dataclass(frozen=True)
class UnfinishedKey:
    """Where a head stands in the order of unfinished work: changed before bulk, then by put time, then by id."""

    bulk: bool
    put_at_milliseconds: int
    document_id: str


@dataclass(frozen=True)
class Unfinished:
    """A head with work left, and its place in the order."""

    key: UnfinishedKey
    document: pb.UnfinishedDocument


class DocumentStore(RawStore, Protocol):
    """Records, one a document, put conditionally; every read sees every put that was answered before it.

    Arguments are valid already. Messages that are handed in are never changed, messages that are handed out belong to the caller.
    Every method may raise Unavailable, after which the outcome of a write is not known.
    """

    async def open(self) -> None:
        """Makes or opens what keeps the records.

        Raises: InvalidArgument where it can never work (damaged, written for a newer release, not writable); Unavailable.
        """

    async def close(self) -> None:
        """Ends what runs; what was answered is kept. Closing twice does no harm."""

    async def get_by_id(self, project: str, document_ids: Sequence[str], view: View) -> list[pb.GetDocumentsItem]:
        """One item an id, in the order of the ids."""

    async def get_by_path(self, project: str, paths: Sequence[str], view: View) -> list[pb.GetDocumentsItem]:
        """One item a path, in the order of the paths; `moved_to` where no current document stands there and a rename is known."""

    async def put_documents(
        self, items: Sequence[pb.PutDocumentsItem], put_at_milliseconds: int
    ) -> list[pb.PutDocumentsOutcome]:
        """Puts each record if its revision is the expected one, in order, each whole or not at all.

        Raises: InvalidArgument for records that the engine cannot keep (the others are put); Unavailable.
        """

    async def note_documents(self, notes: Sequence[pb.NoteDocumentsItem]) -> list[bool]:
        """Notes each if the record has the note's revision and a head of its generation, in order, each whole or not at all."""

    async def list_documents(
        self, project: str, generation: str, source: str, after_path: str, limit: int
    ) -> list[pb.DocumentSummary]:
        """Current documents after a path ("": from the start) in the order of `listing_key`; source "" means all."""

    async def list_records(
        self, project: str, source: str, after_id: str, limit: int, *, with_heads: bool
    ) -> list[pb.Document]:
        """All records after an id ("": from the start), ordered by id, without text and sections."""

    async def list_unfinished(
        self, project: str, generation: str, after: UnfinishedKey | None, limit: int
    ) -> list[Unfinished]:
        """Heads with missing vectors or not swept, after a place in their order."""

    async def hydrate_chunks(
        self, project: str, generation: str, chunk_ids: Sequence[str], *, with_neighbors: bool
    ) -> list[pb.HydratedChunk]:
        """The chunks that stand in a head of the generation, in the order that was asked."""

    async def suggest_paths(self, project: str, path: str, limit: int) -> list[str]:
        """Current paths like `path`, nearest first."""

    async def resolve_ids(self, project: str, queries: Sequence[pb.IdQuery]) -> list[pb.ResolvedId]:
        """What each prefix fits among current documents, in the order of the queries, as `names` compares it."""

    async def get_stats(self, project: str, generation: str) -> pb.GetStatsResponse:
        """Counts of a project in a generation; cheap, for it is asked at every search."""

    async def report_documents(
        self, project: str, source: str, noted: Sequence[pb.Report], cleared_paths: Sequence[str], now_milliseconds: int
    ) -> int:
        """Clears, then notes; returns how many reports the source has now."""

    async def list_reports(self, project: str, source: str, limit: int) -> tuple[list[pb.Report], int]:
        """The first reports by path, and how many there are; source "" means all."""

    async def purge_documents(self, project: str, deleted_before_milliseconds: int) -> int:
        """Drops what is left of the content of documents deleted before a time; returns how many texts that were."""

    async def drop_heads(self, project: str, generation: str, limit: int) -> int:
        """Takes heads of a generation, at most `limit`, off records, whose revisions stay; returns how many, 0 when none is left.

        A head that is dropped counts nowhere any more: not in stats, not as unfinished, not at hydrating.
        """

    async def get_menus(self, project: str, sources: Sequence[str], *, with_nodes: bool) -> list[pb.Menu]:
        """The menu of each source, in order; an empty one where there is none."""

    async def put_menu(self, project: str, source: str, menu: pb.Menu) -> bool:
        """Puts a source's menu; whether it stood there otherwise."""

    async def get_project(self, slug: str) -> pb.Project | None:
        """One project of the catalog, or None."""

    async def list_projects(self) -> list[pb.Project]:
        """The catalog, ordered by slug."""

    async def put_project(self, project: pb.Project, expected_revision: int) -> pb.Project | None:
        """Puts a project if its revision is the expected one and returns it as it is now; None: it has another one."""

    async def get_keys(self, key_ids: Sequence[str]) -> list[pb.AccessKey | None]:
        """One item an id, in the order of the ids."""

    async def list_keys(self) -> list[pb.AccessKey]:
        """All access keys, ordered by id."""

    async def put_key(self, key: pb.AccessKey, expected_revision: int) -> pb.AccessKey | None:
        """Puts a key if its revision is the expected one and returns it as it is now; None: it has another one."""

    async def put_calls(self, calls: Sequence[pb.CallRecord]) -> None:
        """Notes calls; one whose id is noted already is left as it is."""

    async def list_calls(
        self, project: str, selection: pb.CallSelection, since_milliseconds: int, limit: int
    ) -> list[pb.CallRecord]:
        """What was noted of a project since a time, the newest first."""

    async def purge_calls(self, project: str, before_milliseconds: int) -> int:
        """Drops what was noted of a project before a time; returns how many."""


@dataclass(frozen=True)
class View:
    """How much of a record is read: its text and sections, and heads of which generations (none named: all)."""

    include_text: bool = False
    generations: frozenset[str] = frozenset()


def folder_of(path: str) -> str:
    """The folder that a path stands in, "" at the top."""
    return path.rpartition("/")[0]


def listing_key(path: str) -> tuple[list[str], str]:
    """Orders paths by folder, a folder before the folders in it, then by path."""
    return folder_of(path).split("/"), path
