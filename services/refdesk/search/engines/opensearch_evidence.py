"""Weighs chunks against a query on OpenSearch: what of its idf mass they hold, whether its identifiers stand in them; knows no ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import read_hits, search_many
from refdesk.search.analysis import QueryAnalysis
from refdesk.search.engines.interface import Evidence
from refdesk.search.engines.opensearch_queries import MOST_WORDS, Body, count, match, name_matches
from refdesk.search.statistics import coverage, identifies, inverse_document_frequency

_Asked = tuple[str, str]
"""Field and term."""
_Held = Mapping[str, frozenset[int]]
"""Numbers of what each chunk holds, by id."""
_Part = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Field, ids of chunks, and the terms of each of the alternatives that they are looked at for."""


async def weigh(
    client: OpenSearchClient, alias: str, query: QueryAnalysis, covered: Sequence[str], named: Sequence[str]
) -> dict[str, Evidence]:
    """Coverage of the chunks in `covered`, identifier matches of those in `named`; one request, exact over all shards."""
    words = [word.terms for word in query.words[:MOST_WORDS]] if covered else []
    identifiers = query.identifiers[:MOST_WORDS] if named else ()
    spellings = [(spelling, one.is_plain) for one in identifiers for spelling in one.spellings]
    asked = [*(("terms", term) for terms in words for term in terms), *(("identifiers", one) for one, _ in spellings)]
    parts: list[_Part] = [("terms", covered, words), ("identifiers", named, [[one] for one, _ in spellings])]
    entry_count, frequencies, (word_hits, spelling_hits) = await _ask(client, alias, list(dict.fromkeys(asked)), parts)
    masses = [
        inverse_document_frequency(entry_count, max(frequencies["terms", term] for term in terms)) for terms in words
    ]
    telling = {
        number
        for number, (spelling, is_plain) in enumerate(spellings)
        if identifies(entry_count, frequencies["identifiers", spelling], is_plain)
    }
    coverages = {
        id: coverage(masses, [number in word_hits.get(id, ()) for number in range(len(words))]) for id in covered
    }
    matches = {id for id, numbers in spelling_hits.items() if numbers & telling}
    return {id: Evidence(coverages.get(id), id in matches) for id in dict.fromkeys((*covered, *named))}


async def _ask(
    client: OpenSearchClient, alias: str, asked: Sequence[_Asked], parts: Sequence[_Part]
) -> tuple[int, dict[_Asked, int], list[_Held]]:
    """How many entries there are, in how many each term stands, and for each part which of its alternatives its chunks hold."""
    counts: list[Body] = [count({"match_all": {}}), *(count(match(field, [term])) for field, term in asked)]
    looks = [name_matches(ids, field, alternatives) for field, ids, alternatives in parts if ids and alternatives]
    answers = await search_many(client, [(alias, body) for body in (*counts, *looks)])
    totals = [int(answer["hits"]["total"]["value"]) for answer in answers[: len(counts)]]
    found = iter(answers[len(counts) :])
    held: list[_Held] = []
    for _, ids, alternatives in parts:
        hits = read_hits(next(found)) if ids and alternatives else []
        held.append({hit.fields["id"][0]: frozenset(map(int, hit.matched)) for hit in hits})
    return totals[0], dict(zip(asked, totals[1:], strict=True)), held
