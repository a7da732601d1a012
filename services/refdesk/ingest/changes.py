"""What publishing is asked to do and how each of it ended; knows nothing of queues or of engines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from refdesk import ids
from refdesk.ingest.records import Origin
from refdesk.ingest.sources.interface import DocumentSource
from refdesk.ingest.sources.rules import read_globs
from refdesk.projects import SourceSettings


@dataclass(frozen=True)
class Change:
    """A document that may have changed; its path is relative to its source."""

    source: str
    path: str
    moved_from: str = ""
    bulk: bool = False
    least_token_scale: float = 1.0
    keep_absent: bool = False
    """True: where the source does not have it, nothing is done; only a change event may delete."""
    set_aside: str = ""
    """Why its content is not tried again until it changes; empty: it is tried."""


class Ending(Enum):
    """How publishing a document ended."""

    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # it cannot be indexed as it is; said by name, the last good text stays
    FAILED = "failed"  # by itself: trying again is all that may help
    HELD = "held"  # through nobody's fault: its source cannot be read, or a sweep is left
    CONFLICTED = "conflicted"  # another worker won every time


@dataclass(frozen=True)
class Outcome:
    """How it ended, and why where it did not end well."""

    ending: Ending
    reason: str = ""
    unparsed: bool = False
    """Whether it failed in its parser."""


@dataclass(frozen=True)
class Followed:
    """A declared source and what reads it."""

    settings: SourceSettings
    reader: DocumentSource

    @property
    def revisions_return(self) -> bool:
        """Whether a revision can come back after another: every event puts then. Of every kind so far: a file is restored, a listing
        names again what one before it left out."""
        return True


def origin_of(project: str, settings: SourceSettings, path: str) -> Origin:
    """What is known of a document before it is read; `path` is relative to the source."""
    stem, dot, _ = path.rpartition(".")
    without_extension = stem if dot and "/" not in path[len(stem) :] else path
    return Origin(
        document_id=ids.document_id(project, settings.name, path),
        project=project,
        source=settings.name,
        path=f"{settings.name}/{path}",
        url=f"{settings.base_url}{without_extension}/" if settings.base_url else "",
        version=settings.version,
        kind=settings.type,
        language=settings.language,
        chunk_tokens=settings.chunk_tokens,
        pushed=settings.kind == "push",
        held_back=path == settings.navigation or read_globs(settings.unpublished).match_file(path),
    )
