"""What docstore needs of an engine that keeps pushed documents; knows nothing of what decides between two statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from refdesk.api.docstore.v1 import docstore_pb2 as pb


@dataclass(frozen=True)
class RawPut:
    """One conditional put; the record's `change_count` is the expected one plus 1."""

    record: pb.RawDocument
    expected_change_count: int
    """Of the record that the writer read; 0: there was none."""


class RawStore(Protocol):
    """Records of pushed documents, one for each project, source and path; every read sees every put that was answered before it.

    A path is any text without control characters, at most 1024 characters long, compared and ordered by code points; the empty path is a
    record like any other. Arguments are valid already, messages that are handed out belong to the caller.
    Every method may raise Unavailable, after which the outcome of a write is not known.
    """

    async def get_raw(
        self, project: str, source: str, paths: Sequence[str], *, with_content: bool
    ) -> list[pb.RawDocument | None]:
        """One record a path, in the order of the paths, None where there is none; without `content` unless it is asked for."""

    async def put_raw(self, puts: Sequence[RawPut], put_at_milliseconds: int) -> list[bool]:
        """Puts each record if the one that stands has the expected change count (0: none stands), and answers which were.

        A record is named once in a call; a put that conflicts changes nothing and keeps no other from being done. When this returns, what
        was put survives a kill and a power loss. `put_at_milliseconds` is written to each record.
        """

    async def list_raw(
        self, project: str, source: str, after_path: str, limit: int, *, put_since_milliseconds: int = 0
    ) -> list[pb.RawDocument]:
        """Records of one source with a path greater than `after_path`, by path, without content; only those put since a time, inclusive.

        The record at the empty path is never among them.
        """
