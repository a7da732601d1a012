"""Shows documents: their lines within a number of tokens, as a resource and as data; knows nothing of how they were found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, count, one_line
from refdesk.gateway.surfaces.interface import MIME_TYPE
from refdesk.gateway.surfaces.notes.contexts import Contexts
from refdesk.gateway.surfaces.notes.lines import Slice, slice_lines
from refdesk.gateway.surfaces.notes.wording import resource_uri, summary_line
from refdesk.gateway.tokens import MOST_TEXTS, TokenCounter
from refdesk.ids import docid

LINES_COUNTED = MOST_TEXTS - 1
"""At once; a longer document is cut there at the latest."""
DATA_TOKENS = 100
"""For the names of a document's fields as data."""
CHARACTERS_PER_TOKEN = 20
"""A line with more characters a token is cut off too: a tokenizer may call a word of a megabyte one token."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as it is given out; `tokens` of all that is said of it."""

    document: docstore_api.Document
    context: str
    part: Slice
    numbered: bool
    tokens: int
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Its lines."""
        return self.part.text(numbered=self.numbered)

    @property
    def summary(self) -> str:
        """One line on what it is, and what else is to be known of it."""
        return "\n".join((_head(self.document, self.context), *self.notes))

    def resource(self) -> Mapping[str, Any]:
        """As a resource of the protocol."""
        path = self.document.path
        shown = {"uri": resource_uri(path), "name": path, "title": _title(self.document), "mimeType": MIME_TYPE}
        return {**shown, **({"context": self.context} if self.context else {}), "text": self.text}

    def data(self) -> dict[str, Any]:
        """As structured content."""
        shown = {
            **self.resource(),
            "docid": docid(self.document.content_hash),
            "context": self.context or None,
            "fromLine": self.part.first,
            "toLine": max(0, self.part.last),
            "totalLines": self.part.total,
        }
        return {**shown, "message": "\n".join(self.notes)} if self.notes else shown


@dataclass(frozen=True, slots=True)
class Asked:
    """Which lines are wanted, and how."""

    first: int = 1
    most: int | None = None
    numbered: bool = False


class Desk:
    """Cuts documents to tokens of the project's model."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens

    async def show(
        self,
        project: docstore_api.Project,
        document: docstore_api.Document,
        asked: Asked,
        max_tokens: int,
        *notes: str,
    ) -> Shown:
        """As many of the lines as fit, none where not even one does."""
        context = Contexts(project).of_path(document.path)
        part = slice_lines(document.text, asked.first, asked.most)
        # What it is stands in the line about it, in the resource and in the data.
        head = "\n".join(
            (_head(document, context), context, *notes, _cut_note(document, part), resource_uri(document.path))
        )
        fitting, tokens = await self._fit(project.model_id, head, part, asked.numbered, max_tokens)
        left_out = fitting.last < part.total or asked.first > 1
        notes = (*notes, _cut_note(document, fitting)) if left_out and not fitting.is_whole else notes
        return Shown(document, context, fitting, asked.numbered, tokens, notes)

    async def _fit(self, model_id: str, head: str, part: Slice, numbered: bool, max_tokens: int) -> tuple[Slice, int]:
        lines = part.text(numbered=numbered).split("\n")[:LINES_COUNTED] if part.lines else []
        # As they stand in JSON, where a line's end has two characters: they are sent as data too.
        written = [json.dumps(f"{line}\n", ensure_ascii=False)[1:-1] for line in lines]
        counted = await self._tokens.count(model_id, [head, *written])
        used, kept, characters = counted.counts[0] + DATA_TOKENS, 0, 0
        for line, cost in zip(lines, counted.counts[1:], strict=True):
            characters += len(line)
            if used + cost + 1 > max_tokens or characters > max_tokens * CHARACTERS_PER_TOKEN:
                break
            used += cost
            kept += 1
        return part.cut_to(kept), used


def _title(document: docstore_api.Document) -> str:
    return one_line(document.title, TITLE_CHARACTERS) or document.path


def _head(document: docstore_api.Document, context: str) -> str:
    head = summary_line(docid(document.content_hash), document.path, document.title)
    return f"{head}\nContext: {context}" if context else head


def _cut_note(document: docstore_api.Document, part: Slice) -> str:
    if part.first > part.total:
        return f"[Line {part.first} is past the end: {document.path} has {count(part.total, 'line')}.]"
    if not part.lines:
        return f"[Line {part.first} of {part.total} does not fit: raise max_tokens.]"
    shown = f"[Lines {part.first} to {part.last} of {part.total}."
    return f"{shown} For more: get with fromLine={part.last + 1}.]" if part.last < part.total else f"{shown}]"
