"""Counts of current documents and heads, kept with every write so that reading them costs a few rows; knows nothing of texts."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass, field

from refdesk.api.docstore.v1 import docstore_pb2 as pb

HeadCounts = tuple[int, int, int, int]
"""Chunks, whether embeddable with a chunk, whether such and nothing missing, missing vectors."""


@dataclass(frozen=True)
class Counted:
    """A current document as the tallies see it."""

    project: str
    source: str
    version: str
    language: str
    heads: tuple[tuple[str, HeadCounts], ...]
    """By generation."""

    @property
    def document_key(self) -> tuple[str, str, str, str, str]:
        """The row of document_tallies that counts it."""
        generations = json.dumps(sorted(name for name, _ in self.heads))
        return self.project, self.source, self.version, self.language, generations


def count_head(chunk_count: int, missing_count: int, embeddable: bool) -> HeadCounts:
    """What one head adds."""
    speaks = embeddable and chunk_count > 0
    return chunk_count, int(speaks), int(speaks and not missing_count), missing_count


@dataclass
class Tally:
    """Differences that a transaction makes, written once at its end."""

    documents: Counter[tuple[str, str, str, str, str]] = field(default_factory=Counter)
    heads: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)

    def add(self, counted: Counted, sign: int = 1) -> None:
        """Counts a document in, or out with sign -1."""
        self.documents[counted.document_key] += sign
        for generation, counts in counted.heads:
            self.add_head((counted.project, generation, counted.source), counts, sign)

    def add_head(self, key: tuple[str, str, str], counts: HeadCounts, sign: int = 1) -> None:
        """Counts one head of (project, generation, source) in or out."""
        sums = self.heads.setdefault(key, [0, 0, 0, 0])
        for place, count in enumerate(counts):
            sums[place] += sign * count

    def write(self, connection: sqlite3.Connection) -> None:
        """Adds the differences to what is kept."""
        connection.executemany(
            "INSERT INTO document_tallies (project, source, version, language, generations, document_count) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET document_count = document_count + excluded.document_count",
            [(*key, count) for key, count in self.documents.items() if count],
        )
        connection.executemany(
            "INSERT INTO head_tallies "
            "(project, generation, source, chunk_count, embeddable_count, embedded_count, missing_count) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET chunk_count = chunk_count + excluded.chunk_count, "
            "embeddable_count = embeddable_count + excluded.embeddable_count, "
            "embedded_count = embedded_count + excluded.embedded_count, missing_count = missing_count + excluded.missing_count",
            [(*key, *sums) for key, sums in self.heads.items() if any(sums)],
        )


def read_stats(connection: sqlite3.Connection, project: str, generation: str) -> pb.GetStatsResponse:
    """Counts of a project in a generation; all zero for a project that is not known."""
    chunks = dict[str, int]()
    stats = pb.GetStatsResponse()
    for source, chunk_count, embeddable, embedded, missing in connection.execute(
        "SELECT source, chunk_count, embeddable_count, embedded_count, missing_count FROM head_tallies "
        "WHERE project = ? AND generation = ?",
        (project, generation),
    ):
        chunks[source] = chunk_count
        stats.chunk_count += chunk_count
        stats.embeddable_count += embeddable
        stats.embedded_count += embedded
        stats.missing_vector_count += missing
    _read_documents(connection, project, generation, chunks, stats)
    return stats


def _read_documents(
    connection: sqlite3.Connection, project: str, generation: str, chunks: dict[str, int], stats: pb.GetStatsResponse
) -> None:
    sources, languages, versions, others = Counter[str](), Counter[str](), set[str](), set[str]()
    for source, version, language, encoded, count in connection.execute(
        "SELECT source, version, language, generations, document_count FROM document_tallies "
        "WHERE project = ? AND document_count > 0",
        (project,),
    ):
        sources[source] += count
        languages[language] += count
        versions.add(version)
        generations = json.loads(encoded)
        if generations and generation not in generations:
            stats.other_generation_count += count
            others.update(generations)
    stats.document_count = sources.total()
    for source in sorted(sources):
        stats.sources.add(source=source, document_count=sources[source], chunk_count=chunks.get(source, 0))
    stats.versions.extend(sorted(versions - {""}))
    stats.languages.extend(sorted(languages.keys() - {""}, key=lambda name: (-languages[name], name)))
    stats.other_generations.extend(sorted(others))
