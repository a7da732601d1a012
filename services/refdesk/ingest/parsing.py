"""What parsing a document is asked and answers; knows nothing of where the work is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from refdesk.ingest.records import Generation, Origin
from refdesk.ingest.sources.interface import NOTHING_STATED, Stated
from refdesk.openapi.pages import SpecPages


class ParseTask(NamedTuple):
    """A document's bytes, and what it is cut for; `stored`: the bytes are its serialised record, whose text is cut as it stands."""

    content: bytes
    origin: Origin
    generations: tuple[Generation, ...]
    token_scale: float
    stored: bool = False
    stated: Stated = NOTHING_STATED


class Parsed(NamedTuple):
    """A serialised docstore Document with all that parsing finds, or why there is none; exactly one of the first four is not empty.

    `unusable`: its bytes are no text. `unpublished`: it says itself that it is a draft. `failure`: parsing it failed.
    """

    record: bytes = b""
    unusable: str = ""
    unpublished: str = ""
    failure: str = ""
    remarks: tuple[str, ...] = ()


class Parsers(Protocol):
    """Parses and cuts documents, an answer for each, in order."""

    async def parse(self, tasks: Sequence[ParseTask]) -> list[Parsed]:
        """Raises: Unavailable when nothing can be parsed; a document that cannot be is an answer that says so."""
        ...

    async def expand(self, content: bytes) -> SpecPages:
        """The pages of an API's spec. Raises: InvalidArgument that says what is wrong with it; Unavailable."""
        ...
