"""Reads one keyword index of tantivy's: both grains, filters, evidence; blocking, knows nothing of writing or of processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import tantivy

from refdesk.search.analysis import QueryAnalysis, QueryIdentifier
from refdesk.search.engines.interface import (
    NOTHING,
    Candidates,
    Entry,
    Evidence,
    Filter,
    Found,
    Grain,
    IndexName,
    ScoredChunk,
)
from refdesk.search.engines.paths import join_id
from refdesk.search.engines.tantivy_schema import build_schema, exists, name_folder, open_index, read_numbers
from refdesk.search.engines.tantivy_words import WantedWords
from refdesk.search.grains import cap_documents
from refdesk.search.statistics import coverage, identifies, inverse_document_frequency
from refdesk.search.words import WANTED_DOCUMENTS, Wanted

MOST_WORDS = 128
"""Words of a query that are looked at, from its beginning."""
WIDEST_LOOK = 16
"""Times as many chunks as are wanted are read at most, where one document fills the list."""
MASK_BITS = 24
"""A score is a float of 32 bits: sums of 24 powers of two are exact."""

_SHOULD, _MUST = tantivy.Occur.Should, tantivy.Occur.Must


class IndexReader:
    """Both grains of one index, as of the last `reload`."""

    def __init__(self, root: Path, name: IndexName) -> None:
        self._schema = build_schema(Grain.CHUNK)
        self._schemas = {Grain.CHUNK: self._schema, Grain.DOCUMENT: build_schema(Grain.DOCUMENT)}
        self._indices = {grain: open_index(name_folder(root, *name, grain), self._schemas[grain]) for grain in Grain}
        for index in self._indices.values():
            index.config_reader("manual")

    @staticmethod
    def exists(root: Path, name: IndexName) -> bool:
        """Whether both grains have been created."""
        return all(exists(name_folder(root, *name, grain)) for grain in Grain)

    def reload(self) -> None:
        """Shows what was committed since."""
        for index in self._indices.values():
            index.reload()

    def search(
        self, query: QueryAnalysis, narrowed: Filter, candidates: Candidates, wanted: Wanted | None = None
    ) -> Found:
        """The best chunks and documents by BM25, each grain with its own scores."""
        if wanted is not None:
            return self._search_wanted(query, narrowed, candidates, wanted)
        terms = dict.fromkeys(term for word in query.words[:MOST_WORDS] for term in word.terms)
        clauses = [(_SHOULD, self._term("terms", term)) for term in (*terms, *query.wholes[:MOST_WORDS])]
        if not clauses:
            return NOTHING
        looked_for = tantivy.Query.boolean_query(clauses)
        filters = self._filter(narrowed)
        if filters:
            looked_for = tantivy.Query.boolean_query(
                [(_MUST, looked_for), *((_MUST, _unscored(part)) for part in filters)]
            )
        return Found(self._find_chunks(looked_for, candidates), self._find_documents(looked_for, candidates.documents))

    def _search_wanted(self, query: QueryAnalysis, narrowed: Filter, candidates: Candidates, wanted: Wanted) -> Found:
        """Documents that hold what is wanted; then their chunks, those that hold the words first."""
        words = WantedWords(self._schemas)
        fitting = words.match(wanted, [_unscored(part) for part in self._filter(narrowed)])
        documents = self._find_documents(words.rank(query, wanted, [fitting], Grain.DOCUMENT), WANTED_DOCUMENTS)
        if not documents:
            return NOTHING
        within = _unscored(self._any("document_id", list(documents)))
        return Found(self._find_chunks(words.rank(query, wanted, [within], Grain.CHUNK), candidates), documents)

    def weigh(self, query: QueryAnalysis, covered: Sequence[str], named: Sequence[str]) -> dict[str, Evidence]:
        """Coverage of the chunks in `covered`, identifier matches of those in `named`."""
        coverages = self._cover(query, covered)
        matches = self._match_identifiers(query.identifiers, named)
        return {id: Evidence(coverages.get(id), id in matches) for id in dict.fromkeys((*covered, *named))}

    def list_languages(self) -> frozenset[str]:
        """Languages that chunks are in."""
        counts = self._indices[Grain.CHUNK].searcher().terms_with_prefix("language", "")
        return frozenset(language for language, count in counts if count > 0)

    def list_entries(self, after: tuple[str, str], limit: int) -> list[Entry]:
        """The next `limit` entries behind (document, id), in order."""
        entries = [entry for grain in Grain for entry in self._list_grain(grain, after, limit)]
        return sorted(entries)[:limit]

    def _find_chunks(self, looked_for: tantivy.Query, candidates: Candidates) -> tuple[ScoredChunk, ...]:
        searcher = self._indices[Grain.CHUNK].searcher()
        width = 2
        while True:
            limit = candidates.chunks * width
            hits = searcher.search(looked_for, limit, count=False).hits
            (documents,) = read_numbers(searcher, ("document_high",), [address for _, address in hits])
            kept = cap_documents(documents, candidates)
            if len(kept) == candidates.chunks or len(hits) < limit or width >= WIDEST_LOOK:
                return tuple(self._name(searcher, [hits[position] for position in kept]))
            width = WIDEST_LOOK

    def _find_documents(self, looked_for: tantivy.Query, limit: int) -> dict[str, float]:
        searcher = self._indices[Grain.DOCUMENT].searcher()
        hits = searcher.search(looked_for, limit, count=False).hits
        high, low = read_numbers(searcher, ("document_high", "document_low"), [address for _, address in hits])
        return dict(zip(map(join_id, high, low), [score for score, _ in hits], strict=True))

    def _find(self, grain: Grain, looked_for: tantivy.Query, limit: int) -> list[ScoredChunk]:
        searcher = self._indices[grain].searcher()
        return self._name(searcher, searcher.search(looked_for, limit, count=False).hits)

    def _name(self, searcher: tantivy.Searcher, hits: Sequence[tuple[float, tantivy.DocAddress]]) -> list[ScoredChunk]:
        ids, documents = self._read_ids(searcher, [address for _, address in hits])
        return [ScoredChunk(id, document, score) for (score, _), id, document in zip(hits, ids, documents, strict=True)]

    def _read_ids(self, searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress]) -> tuple[list[str], list[str]]:
        columns = read_numbers(searcher, ("id_high", "id_low", "document_high", "document_low"), addresses)
        id_high, id_low, document_high, document_low = columns
        return list(map(join_id, id_high, id_low)), list(map(join_id, document_high, document_low))

    def _filter(self, narrowed: Filter) -> list[tantivy.Query]:
        parts = (("source", narrowed.sources), ("version", narrowed.versions), ("kind", narrowed.kinds))
        filters = [self._any(name, wanted) for name, wanted in parts if wanted]
        if narrowed.path_prefix:
            filters.append(self._term("folders", narrowed.path_prefix))
        return filters

    def _cover(self, query: QueryAnalysis, ids: Sequence[str]) -> dict[str, float]:
        searcher = self._indices[Grain.CHUNK].searcher()
        words = [word.terms for word in query.words[:MOST_WORDS]]
        frequencies = [max(searcher.doc_freq("terms", term) for term in terms) for terms in words]
        masses = [inverse_document_frequency(searcher.num_docs, frequency) for frequency in frequencies]
        held = {id: [False] * len(words) for id in ids}
        for start in range(0, len(words), MASK_BITS):
            for id, mask in self._mask(words[start : start + MASK_BITS], ids).items():
                for bit in range(min(MASK_BITS, len(words) - start)):
                    held[id][start + bit] = bool(mask >> bit & 1)
        return {id: coverage(masses, flags) for id, flags in held.items()}

    def _mask(self, words: Sequence[tuple[str, ...]], ids: Sequence[str]) -> dict[str, int]:
        """Which of at most 24 words each chunk holds, as bits: one search, each word scoring a power of two of its own."""
        clauses = [(_MUST, _unscored(self._any("id", ids)))]
        for bit, terms in enumerate(words):
            clauses.append((_SHOULD, tantivy.Query.const_score_query(self._any("terms", terms), float(1 << bit))))
        hits = self._find(Grain.CHUNK, tantivy.Query.boolean_query(clauses), len(ids)) if ids else []
        return {hit.chunk_id: int(hit.score) for hit in hits}

    def _match_identifiers(self, identifiers: Sequence[QueryIdentifier], ids: Sequence[str]) -> frozenset[str]:
        searcher = self._indices[Grain.CHUNK].searcher()
        telling = [
            spelling
            for identifier in identifiers[:MOST_WORDS]
            for spelling in identifier.spellings
            if identifies(searcher.num_docs, searcher.doc_freq("identifiers", spelling), identifier.is_plain)
        ]
        if not telling or not ids:
            return frozenset()
        both = [(_MUST, self._any("identifiers", telling)), (_MUST, self._any("id", ids))]
        return frozenset(hit.chunk_id for hit in self._find(Grain.CHUNK, tantivy.Query.boolean_query(both), len(ids)))

    def _list_grain(self, grain: Grain, after: tuple[str, str], limit: int) -> Iterable[Entry]:
        searcher = self._indices[grain].searcher()
        hits = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs), count=False).hits
        addresses = [address for _, address in hits]
        ids, documents = self._read_ids(searcher, addresses)
        (stamps,) = read_numbers(searcher, ("stamp",), addresses)
        entries = (
            Entry(document, id, grain, stamp) for document, id, stamp in zip(documents, ids, stamps, strict=True)
        )
        return sorted(entry for entry in entries if entry[:2] > after)[:limit]

    def _term(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, "freq" if field == "terms" else "basic")

    def _any(self, field: str, values: Sequence[str]) -> tantivy.Query:
        """Any of the values; a term query each, for a set query walks the whole dictionary: 3 ms for 20 ids, this 0.1 ms."""
        queries = [self._term(field, value) for value in values]
        return queries[0] if len(queries) == 1 else tantivy.Query.boolean_query([(_SHOULD, query) for query in queries])


def _unscored(query: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, 0.0)
