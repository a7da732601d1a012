"""How entries of words lie in OpenSearch: indices, their names, their fields; pure, knows nothing of requests.

Each grain is an index of its own, so that chunks have the word statistics of chunks and documents those of documents, and nobody else's.
Texts are not kept, docstore has them; ids and stamps are read from columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.indices import Index
from refdesk.search.engines.interface import Grain, IndexName

VERSION = 2
"""Counts the changes to the fields."""
MIN_READER = 1
"""The oldest version whose release can read these fields; raised with VERSION where that is not so: then indices have other names."""
K1, B = 1.2, 0.75

_LONGEST_GENERATION = 64
_SIMILARITY = "words"
_ASKED: Mapping[str, Any] = {"type": "keyword", "doc_values": False}
_READ: Mapping[str, Any] = {"type": "keyword", "index": False}

PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "id": _READ,  # also the document's own _id, which cannot be sorted by
    "document_id": {"type": "keyword"},
    "stamp": {"type": "long", "index": False},
    "source": _ASKED,
    "version": _ASKED,
    "kind": _ASKED,
    "folders": _ASKED,
    "language": {"type": "keyword"},
    "terms": {"type": "text", "analyzer": "whitespace", "index_options": "freqs", "similarity": _SIMILARITY},
    "identifiers": {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False},
    "words": {"type": "text", "analyzer": "whitespace", "norms": False},  # in their order, of whole documents alone
}
FAMILY = Index(
    "words",
    PROPERTIES,
    {"similarity": {_SIMILARITY: {"type": "BM25", "k1": K1, "b": B}}},
    VERSION,
    MIN_READER,
    keeps_source=False,
)
"""What all have in common; each is called words.GRAIN.PROJECT.GENERATION."""


def build_index(name: IndexName, grain: Grain) -> Index:
    """The index of one grain. Generations differ in letters that OpenSearch takes for the same, so a hash tells them apart."""
    generation = name.generation.lower()[:_LONGEST_GENERATION]
    digest = sha256(name.generation.encode()).hexdigest()[:12]
    what = f"{FAMILY.what}.{grain.name.lower()}.{name.project}.{generation}-{digest}"
    return Index(what, FAMILY.properties, FAMILY.settings, FAMILY.version, FAMILY.min_reader, FAMILY.keeps_source)


class Names(NamedTuple):
    """What the two indices of a project and generation are called."""

    aliases: dict[Grain, str]
    grains: dict[str, Grain]
    """By the index itself, as hits tell it."""


def name_indices(client: OpenSearchClient, name: IndexName) -> Names:
    """Their names on this cluster."""
    indices = {grain: build_index(name, grain) for grain in Grain}
    return Names(
        {grain: index.alias(client) for grain, index in indices.items()},
        {index.name(client): grain for grain, index in indices.items()},
    )


def score_factor(engine_version: str) -> float:
    """What scores are multiplied by to be those of BM25 as all our engines have it: since version 3 OpenSearch leaves out k1 + 1."""
    return K1 + 1 if int(engine_version.partition(".")[0]) >= 3 else 1.0
