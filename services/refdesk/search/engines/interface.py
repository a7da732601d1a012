"""What search asks of an engine, for words and for vectors; knows no engine.

An index is named by project and generation; what does not exist yet is empty. Writes return when they are searchable and outlive a kill of
any process, and never replace an entry by one with an earlier stamp. Plain tuples travel to and from child processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:  # children that write points need no stemmers
    from refdesk.search.analysis import QueryAnalysis
    from refdesk.search.words import Wanted


class Grain(IntEnum):
    """What an entry is an entry of; numbers as in the contract."""

    CHUNK = 1
    DOCUMENT = 2


class IndexName(NamedTuple):
    """One index: nothing of another project or generation is ever in reach of it."""

    project: str
    generation: str


class Facets(NamedTuple):
    """What a search can be narrowed by."""

    source: str
    path: str
    version: str
    kind: str
    language: str


class WordChunk(NamedTuple):
    """A span of its document's text to write: `lead`, the text from `start` to `end` in characters, `tail`."""

    id: str
    headings: tuple[str, ...]
    start: int
    end: int
    lead: str
    tail: str


class WordDocument(NamedTuple):
    """What a keyword index takes of one document: chunks, and where there is text the document as a whole; ids are UUIDs in lower case."""

    document_id: str
    stamp: int
    facets: Facets
    headings: tuple[str, ...]
    text: str
    chunks: tuple[WordChunk, ...]


class VectorItem(NamedTuple):
    """One point to write to a vector index; the vector is little-endian float32 of length 1."""

    id: str
    document_id: str
    grain: Grain
    stamp: int
    facets: Facets
    text_hash: str
    vector: bytes


class Written(NamedTuple):
    """Outcome of a write."""

    written_count: int
    superseded_ids: tuple[str, ...]


class SweepItem(NamedTuple):
    """What of a document stays: what is kept by name, what is later than the stamp, and whole documents that are not removed."""

    document_id: str
    up_to_stamp: int
    keep_chunk_ids: frozenset[str]
    remove_document: bool


class Swept(NamedTuple):
    """Outcome of the sweep of one document; `later_stamp`: an unlisted entry bears a later stamp and was left."""

    deleted_count: int
    later_stamp: bool


class Entry(NamedTuple):
    """One entry, named; entries sort by document, then id."""

    document_id: str
    id: str
    grain: Grain
    stamp: int


class Filter(NamedTuple):
    """Narrows a search: every part that is not empty must hold; the path prefix by whole segments."""

    sources: tuple[str, ...] = ()
    path_prefix: str = ""
    versions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


class Candidates(NamedTuple):
    """How much a leg looks at."""

    chunks: int = 100
    chunks_per_document: int = 8
    documents: int = 50


class ScoredChunk(NamedTuple):
    """A chunk with its own grain's score."""

    chunk_id: str
    document_id: str
    score: float


class Found(NamedTuple):
    """Both grains of one search, each best first, each with its own grain's scores."""

    chunks: tuple[ScoredChunk, ...]
    documents: dict[str, float]


class Evidence(NamedTuple):
    """How much of the query's idf mass a chunk holds, 0 to 1, and whether an identifier of the query stands whole in it."""

    coverage: float | None
    identifier_match: bool


NOTHING = Found((), {})


class KeywordIndex(Protocol):
    """An index of words; ranks by BM25 with k1 1.2 and b 0.75, each grain with its own statistics. Every method raises Unavailable."""

    async def start(self) -> None:
        """Makes the engine ready."""

    async def close(self) -> None:
        """Lets go of everything."""

    async def write(self, index: IndexName, documents: Sequence[WordDocument]) -> Written:
        """Writes an entry a chunk and one a document, each whole or not at all."""

    async def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        """Deletes what is not kept, an outcome for each item in order."""

    async def list_entries(self, index: IndexName, after: tuple[str, str], limit: int) -> list[Entry]:
        """The next `limit` entries behind (document, id) in order; ("", "") is the beginning."""

    async def drop(self, index: IndexName) -> bool:
        """Deletes the whole index, and leaves every other one alone; False where there was none. A write that comes later makes it anew."""

    async def list_languages(self, index: IndexName) -> frozenset[str]:
        """Languages that entries are in."""

    async def search(
        self,
        index: IndexName,
        query: QueryAnalysis,
        narrowed: Filter,
        candidates: Candidates,
        wanted: Wanted | None = None,
    ) -> Found:
        """The best chunks, at most so many of a document, and the best documents.

        With `wanted`, of documents alone that hold it as a whole; of these any chunk is found, those that hold the words before others.
        """

    async def weigh(
        self, index: IndexName, query: QueryAnalysis, covered: Sequence[str], named: Sequence[str]
    ) -> dict[str, Evidence]:
        """Evidence for chunks by id: coverage of those in `covered`, identifiers of those in `named`."""


class VectorIndex(Protocol):
    """An index of vectors by cosine similarity. Every method raises Unavailable."""

    async def start(self) -> None:
        """Makes the engine ready."""

    async def close(self) -> None:
        """Lets go of everything."""

    def not_ready_reason(self, index: IndexName) -> str:
        """Why this index cannot be searched now, as a leg's reason; empty when it can."""

    async def write(self, index: IndexName, model_id: str, items: Sequence[VectorItem]) -> Written:
        """Writes points, each whole or not at all. Raises: InvalidArgument for a vector of another dimension or model."""

    async def find_vectors(self, index: IndexName, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Vectors of this project by the hash of the embedded text."""

    async def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        """Deletes what is not kept, an outcome for each item in order."""

    async def list_entries(self, index: IndexName, after: tuple[str, str], limit: int) -> list[Entry]:
        """The next `limit` entries behind (document, id) in order; ("", "") is the beginning."""

    async def drop(self, index: IndexName) -> bool:
        """Deletes the whole index, and leaves every other one alone; False where there was none. A write that comes later makes it anew."""

    async def search(self, index: IndexName, vector: bytes, narrowed: Filter, candidates: Candidates) -> Found:
        """The nearest chunks, at most so many of a document, and the nearest documents, by cosine."""

    async def measure(self, index: IndexName, vector: bytes, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Cosines of these chunks, of those that have a vector."""
