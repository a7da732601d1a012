"""Queries of tantivy's for what documents must hold, word by word in their order; knows no index and no ranking beyond one grain's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import tantivy

from refdesk.search.analysis import QueryAnalysis
from refdesk.search.engines.interface import Grain
from refdesk.search.words import Sought, Wanted

MOST_WORDS = 128
"""Words of a query that are looked at, from its beginning."""

_SHOULD, _MUST, _MUST_NOT = tantivy.Occur.Should, tantivy.Occur.Must, tantivy.Occur.MustNot


class WantedWords:
    """Builds the queries for one index, whose grains have these schemas."""

    def __init__(self, schemas: Mapping[Grain, tantivy.Schema]) -> None:
        self._schemas = schemas

    def match(self, wanted: Wanted, filters: Sequence[tantivy.Query]) -> tantivy.Query:
        """Whole documents that hold what is wanted, nothing that is excluded, and pass the filters; all score the same."""
        clauses = [(_MUST, self._sought(one)) for one in wanted.held]
        clauses += [(_MUST_NOT, self._sought(one)) for one in wanted.excluded]
        clauses += [(_MUST, one) for one in filters]
        return _scored(tantivy.Query.boolean_query(clauses), 0.0)

    def rank(
        self, query: QueryAnalysis, wanted: Wanted, within: Sequence[tantivy.Query], grain: Grain
    ) -> tantivy.Query:
        """All entries that are within, by BM25 of the query's words, and 1 for each word that begins as wanted."""
        terms = dict.fromkeys(term for word in query.words[:MOST_WORDS] for term in word.terms)
        schema = self._schemas[grain]
        clauses = [(_MUST, one) for one in within]
        for term in (*terms, *query.wholes[:MOST_WORDS]):
            clauses.append((_SHOULD, tantivy.Query.term_query(schema, "terms", term, "freq")))
        for word in wanted.beginnings:
            clauses.append((_SHOULD, _scored(_begins(schema, "terms", word), 1.0)))
        return tantivy.Query.boolean_query(clauses)

    def _sought(self, sought: Sought) -> tantivy.Query:
        schema = self._schemas[Grain.DOCUMENT]
        *words, last = sought.words
        if not words:
            if sought.is_prefix:
                return _begins(schema, "words", last)
            return tantivy.Query.term_query(schema, "words", last, "position")
        if not sought.is_prefix:
            return tantivy.Query.phrase_query(schema, "words", list(sought.words))
        patterns: list[str | tuple[int, str]] = [*map(re.escape, words), f"{re.escape(last)}.*"]
        return tantivy.Query.regex_phrase_query(schema, "words", patterns)


def _begins(schema: tantivy.Schema, field: str, word: str) -> tantivy.Query:
    # A pattern for it takes 0.5 ms to build, this 0.02 ms; at distance 0 it is the beginning and nothing else.
    return tantivy.Query.fuzzy_term_query(schema, field, word, 0, True, True)


def _scored(query: tantivy.Query, score: float) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, score)
