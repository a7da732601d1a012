"""Indices of docstore on OpenSearch: which fields there are to find, order and count by; knows nothing of how they are filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refdesk.engines.opensearch.indices import Index

_NAME: Mapping[str, Any] = {"type": "keyword"}
_LABEL: Mapping[str, Any] = {"type": "keyword", "ignore_above": 8191}
"""32,766 bytes, the most that a term may have, whatever the script."""
_BLOB: Mapping[str, Any] = {"type": "binary", "doc_values": True}
"""Read from its own column, so that a list touches no text."""
_KEPT: Mapping[str, Any] = {"type": "object", "enabled": False}
"""In the source alone."""

# One document a record, so that a put is one write: text, heads and what they are found by change together or not at all.
RECORDS = Index(
    "records",
    {
        "project": _NAME,
        "document_id": _NAME,
        "revision": {"type": "long"},
        "source": _NAME,
        # With its slashes as \x01, so that a folder stands right before the folders in it.
        "folder": _NAME,
        "path": {**_NAME, "fields": {"grams": {"type": "text", "analyzer": "grams", "norms": False}}},
        # The file's own, without regard to case.
        "name": {**_NAME, "doc_values": False},
        "previous_paths": _NAME,
        "version": _LABEL,
        "language": _LABEL,
        "bulk": {"type": "byte"},
        "put_at": {"type": "long"},
        "deleted": {"type": "boolean"},
        # Deleted, and its content still here.
        "purgeable": {"type": "boolean"},
        "text_length": {"type": "integer"},
        "generations": _NAME,
        # Generations whose head has work left.
        "unfinished": _NAME,
        # Of every head, for lists: chunks:missing:swept:generation.
        "progress": {**_NAME, "index": False},
        # Of every head, for sums.
        "heads": {
            "type": "nested",
            "properties": {
                "generation": _NAME,
                "source": _NAME,
                "chunk_count": {"type": "integer"},
                "missing_count": {"type": "integer"},
                # The model speaks it, and there is a chunk.
                "speaks": {"type": "boolean"},
            },
        },
        # Every chunk that a head lists.
        "chunks": {**_NAME, "doc_values": False},
        # The first 8 hex digits of the sections' ids and of the content hashes, and whether the release that put it wrote them.
        "section_names": {**_NAME, "doc_values": False},
        "content_names": {**_NAME, "doc_values": False},
        "named": {"type": "boolean"},
        # The Document message without text, sections and heads; with the heads alone; with the sections alone.
        "record": _BLOB,
        "cuts": _BLOB,
        "sections": _KEPT,
        "text": _KEPT,
    },
    {
        "analysis": {
            "tokenizer": {"grams": {"type": "ngram", "min_gram": 2, "max_gram": 3, "token_chars": ["letter", "digit"]}},
            "analyzer": {"grams": {"type": "custom", "tokenizer": "grams", "filter": ["lowercase"]}},
        }
    },
    version=2,
)

REPORTS = Index(
    "reports",
    {
        "project": _NAME,
        "source": _NAME,
        "path": _NAME,
        "kind": {"type": "integer"},
        "reported_at": {"type": "long"},
        "reason": _KEPT,
    },
)

PROJECTS = Index("projects", {"slug": _NAME, "revision": {"type": "long"}, "project": _BLOB})

CALLS = Index(
    "calls",
    {
        "call_id": _NAME,
        "project": _NAME,
        "at": {"type": "long"},
        "found_nothing": {"type": "boolean"},
        "denied": {"type": "boolean"},
        "call": _BLOB,
    },
)

KEYS = Index("keys", {"key_id": _NAME, "revision": {"type": "long"}, "key": _BLOB})

RAW = Index(
    "raw",
    {
        "project": _NAME,
        "source": _NAME,
        "path": _NAME,
        "change_count": {"type": "long"},
        "put_at": {"type": "long"},
        # The RawDocument message without its content.
        "record": _BLOB,
        "content": _KEPT,
    },
)

MENUS = Index("menus", {"project": _NAME, "source": _NAME, "menu": _KEPT})

INDICES = (RECORDS, REPORTS, PROJECTS, KEYS, CALLS, RAW, MENUS)
