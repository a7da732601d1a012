"""Reads one index of words on OpenSearch: searches, lists, languages; knows nothing of writing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import MAX_HITS, Hit, read_hits, search, search_hits, search_many
from refdesk.search.analysis import QueryAnalysis
from refdesk.search.engines.interface import NOTHING, Candidates, Entry, Filter, Found, Grain, ScoredChunk
from refdesk.search.engines.opensearch_queries import Body, match, rank, rank_chunks_of, rank_wanted, read_fields
from refdesk.search.engines.opensearch_schema import Names
from refdesk.search.grains import cap_documents
from refdesk.search.words import WANTED_DOCUMENTS, Wanted

WIDTHS = (2, 16)
"""Times as many chunks as are wanted are read; the second where one document fills the list."""
MOST_LANGUAGES = 1000
PAGE_ENTRIES = 2000
"""Of one answer, where documents' entries are read for a sweep."""
ORDER = [{"document_id": "asc"}, {"id": "asc"}]


@dataclass(frozen=True)
class Seen:
    """An entry, and the very write of it that was read."""

    entry: Entry
    unchanged: dict[str, int | str]


@dataclass(frozen=True)
class Reader:
    """Both grains of one index, as of their last refresh."""

    client: OpenSearchClient
    names: Names
    score_factor: float = 1.0

    async def search(
        self, query: QueryAnalysis, narrowed: Filter, candidates: Candidates, wanted: Wanted | None = None
    ) -> Found:
        """The best chunks and documents by BM25, each grain with its own scores."""
        if wanted is not None:
            return await self._search_wanted(query, narrowed, candidates, wanted)
        ranked = rank(query, narrowed)
        if ranked is None:
            return NOTHING
        chunks, documents = await self._rank_both(ranked, candidates)
        return Found(await self._cap(ranked, chunks, candidates), self._read_documents(documents))

    async def _search_wanted(
        self, query: QueryAnalysis, narrowed: Filter, candidates: Candidates, wanted: Wanted
    ) -> Found:
        """Documents that hold what is wanted; then their chunks, those that hold the words first."""
        fitting = read_fields(rank_wanted(query, wanted, narrowed), WANTED_DOCUMENTS, "document_id")
        (answer,) = await search_many(self.client, [(self.names.aliases[Grain.DOCUMENT], fitting)])
        documents = self._read_documents(read_hits(answer))
        if not documents:
            return NOTHING
        ranked = rank_chunks_of(query, wanted, list(documents))
        chunks = await self._rank_chunks(ranked, _limit(candidates, WIDTHS[0]))
        return Found(await self._cap(ranked, chunks, candidates), documents)

    async def _cap(self, ranked: Body, chunks: list[Hit], candidates: Candidates) -> tuple[ScoredChunk, ...]:
        """As many chunks as are wanted, at most so many of a document; more are read where one fills the list."""
        kept = cap_documents([hit.fields["document_id"][0] for hit in chunks], candidates)
        if len(kept) < candidates.chunks and len(chunks) == _limit(candidates, WIDTHS[0]):
            chunks = await self._rank_chunks(ranked, _limit(candidates, WIDTHS[1]))
            kept = cap_documents([hit.fields["document_id"][0] for hit in chunks], candidates)
        return tuple(self._read_scored(chunks[position]) for position in kept)

    async def list_entries(self, after: tuple[str, str], limit: int) -> list[Entry]:
        """The next `limit` entries behind (document, id), in order; whatever is written meanwhile, what stays is listed once."""
        entries: list[Entry] = []
        while len(entries) < limit:
            size = min(limit - len(entries), MAX_HITS)
            page = await self._read_page({"match_all": {}}, after, size)
            entries += [seen.entry for seen in page]
            if len(page) < size:
                break
            after = entries[-1][:2]
        return entries

    async def read_documents(self, document_ids: Sequence[str]) -> dict[str, list[Seen]]:
        """The entries of documents, by document."""
        found: defaultdict[str, list[Seen]] = defaultdict(list)
        after = ("", "")
        while True:
            page = await self._read_page(match("document_id", document_ids), after, PAGE_ENTRIES)
            for seen in page:
                found[seen.entry.document_id].append(seen)
            if len(page) < PAGE_ENTRIES:
                return dict(found)
            after = page[-1].entry[:2]

    async def list_languages(self) -> frozenset[str]:
        """Languages that chunks are in."""
        languages = {"terms": {"field": "language", "size": MOST_LANGUAGES}}
        body = {"size": 0, "aggs": {"languages": languages}}
        answer = await search(self.client, self.names.aliases[Grain.CHUNK], body)
        return frozenset(bucket["key"] for bucket in answer["aggregations"]["languages"]["buckets"])

    async def _rank_both(self, ranked: Body, candidates: Candidates) -> tuple[list[Hit], list[Hit]]:
        chunks = read_fields(ranked, _limit(candidates, WIDTHS[0]), "id", "document_id")
        documents = read_fields(ranked, candidates.documents, "document_id")
        aliases = self.names.aliases
        answers = await search_many(self.client, [(aliases[Grain.CHUNK], chunks), (aliases[Grain.DOCUMENT], documents)])
        return read_hits(answers[0]), read_hits(answers[1])

    async def _rank_chunks(self, ranked: Body, limit: int) -> list[Hit]:
        body = read_fields(ranked, limit, "id", "document_id")
        (answer,) = await search_many(self.client, [(self.names.aliases[Grain.CHUNK], body)])
        return read_hits(answer)

    async def _read_page(self, query: Body, after: tuple[str, str], size: int) -> list[Seen]:
        body: dict[str, Any] = {
            **read_fields(query, size, "id", "document_id", "stamp"),
            "sort": ORDER,
            "search_after": list(after),
            "seq_no_primary_term": True,
        }
        hits = await search_hits(self.client, ",".join(self.names.aliases.values()), body)
        return [Seen(self._read_entry(hit), hit.unchanged) for hit in hits]

    def _read_entry(self, hit: Hit) -> Entry:
        fields = hit.fields
        return Entry(fields["document_id"][0], fields["id"][0], self.names.grains[hit.index], fields["stamp"][0])

    def _read_documents(self, hits: Sequence[Hit]) -> dict[str, float]:
        return {hit.fields["document_id"][0]: hit.score * self.score_factor for hit in hits}

    def _read_scored(self, hit: Hit) -> ScoredChunk:
        return ScoredChunk(hit.fields["id"][0], hit.fields["document_id"][0], hit.score * self.score_factor)


def _limit(candidates: Candidates, width: int) -> int:
    return min(candidates.chunks * width, MAX_HITS)
