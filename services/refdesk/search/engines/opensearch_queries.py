"""Searches as OpenSearch takes them: built JSON, of terms as they are indexed; pure, sends nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.search.analysis import QueryAnalysis
from refdesk.search.engines.interface import Filter
from refdesk.search.words import Sought, Wanted

MOST_WORDS = 128
"""Words of a query that are looked at, from its beginning."""
MOST_CLAUSES = 1000
"""Of terms; OpenSearch takes 1,024 clauses with those of the filters. Only long questions in an index of many languages have more."""

Body = Mapping[str, Any]


def rank(query: QueryAnalysis, narrowed: Filter) -> Body | None:
    """What scores by BM25 any of the query's words and wholes, as far as the filter allows; None where there is none."""
    terms = dict.fromkeys(term for word in query.words[:MOST_WORDS] for term in word.terms)
    clauses = [match("terms", [term]) for term in (*terms, *query.wholes[:MOST_WORDS])][:MOST_CLAUSES]
    return _any(clauses, _filter(narrowed)) if clauses else None


def rank_wanted(query: QueryAnalysis, wanted: Wanted, narrowed: Filter) -> Body:
    """Whole documents that hold what is wanted and nothing that is excluded, as far as the filter allows."""
    held = [_sought(one) for one in wanted.held]
    excluded = [_sought(one) for one in wanted.excluded]
    return _rank_within(query, wanted, [*held, *_filter(narrowed)], excluded)


def rank_chunks_of(query: QueryAnalysis, wanted: Wanted, document_ids: Sequence[str]) -> Body:
    """All chunks of these documents, those that hold the words before others."""
    return _rank_within(query, wanted, [match("document_id", document_ids)], [])


def read_fields(query: Body, size: int, *fields: str) -> Body:
    """The best `size` hits with these fields and nothing else, from columns: reading what is stored takes twice as long."""
    return {"query": query, "size": size, "_source": False, "stored_fields": "_none_", "docvalue_fields": list(fields)}


def count(query: Body) -> Body:
    """How many there are. OpenSearch remembers the answer until a refresh shows something new."""
    return {"query": query, "size": 0, "track_total_hits": True}


def name_matches(ids: Sequence[str], field: str, alternatives: Sequence[Sequence[str]]) -> Body:
    """Those of these entries that hold any of the alternatives; each hit names by their number those that it holds."""
    clauses = [match(field, terms, name=str(number)) for number, terms in enumerate(alternatives)]
    return read_fields(_any(clauses, [{"ids": {"values": list(ids)}}]), len(ids), "id")


def match(field: str, terms: Sequence[str], *, name: str = "") -> Body:
    """Entries with any of these terms; a hit tells by `name` that it is one."""
    named = {"_name": name} if name else {}
    if len(terms) == 1:
        return {"term": {field: {"value": terms[0], **named}}}
    return {"terms": {field: list(terms), **named}}


def _rank_within(query: QueryAnalysis, wanted: Wanted, must: Sequence[Body], must_not: Sequence[Body]) -> Body:
    terms = dict.fromkeys(term for word in query.words[:MOST_WORDS] for term in word.terms)
    stems = [match("terms", [term]) for term in (*terms, *query.wholes[:MOST_WORDS])]
    begun = [{"prefix": {"terms": {"value": word}}} for word in wanted.beginnings]
    should = [*stems, *begun][:MOST_CLAUSES]
    return {"bool": {"should": should, "minimum_should_match": 0, "filter": list(must), "must_not": list(must_not)}}


def _sought(sought: Sought) -> Body:
    *words, last = sought.words
    if not words:
        return {"prefix": {"words": {"value": last}}} if sought.is_prefix else match("words", [last])
    phrase = {"query": " ".join(sought.words)}
    if sought.is_prefix:
        return {"match_phrase_prefix": {"words": {**phrase, "max_expansions": MOST_CLAUSES}}}
    return {"match_phrase": {"words": phrase}}


def _any(clauses: Sequence[Body], filters: Sequence[Body]) -> Body:
    return {"bool": {"should": list(clauses), "minimum_should_match": 1, "filter": list(filters)}}


def _filter(narrowed: Filter) -> list[Body]:
    parts = (
        ("source", narrowed.sources),
        ("version", narrowed.versions),
        ("kind", narrowed.kinds),
        ("folders", (narrowed.path_prefix,) if narrowed.path_prefix else ()),
    )
    return [match(field, wanted) for field, wanted in parts if wanted]
