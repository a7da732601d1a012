"""read_document: stored text, whole or in part, within a number of tokens; never the file system, and nothing of ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.budgets import MOST_TOKENS, NAME, Packer, longest
from refdesk.gateway.surfaces.docs.cutting import Cut, Cutter
from refdesk.gateway.surfaces.docs.reading import head_chunks, pieces_of, range_span, section_spans, whole_span
from refdesk.gateway.surfaces.docs.tools import DEFAULT_MAX_TOKENS
from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, call_text, one_line, quoted
from refdesk.gateway.surfaces.interface import ToolAnswer

SUGGESTED_PATHS = 5


@dataclass(frozen=True, slots=True)
class _Reading:
    """One document as it was asked for, and where it was cut."""

    document: docstore_api.Document
    chunk_count: int
    last_chunk: int
    max_tokens: int
    cut: Cut

    @property
    def rest(self) -> dict[str, str | int] | None:
        """Arguments of the call for the rest; None when nothing is left that a call could bring."""
        cut = self.cut
        if not cut.is_cut:
            return None
        more: dict[str, str | int] = {"path": self.document.path}
        if cut.next_chunk is None:
            if not self.max_tokens < cut.needed_tokens <= MOST_TOKENS:
                return None
            return {**more, **self._place(cut.first_chunk), "max_tokens": cut.needed_tokens}
        kept = {} if self.max_tokens == DEFAULT_MAX_TOKENS else {"max_tokens": self.max_tokens}
        return {**more, **self._place(cut.next_chunk), **kept}

    def _place(self, chunk: int) -> dict[str, int]:
        if chunk < 0:
            return {}
        ends = {} if self.last_chunk in (-1, self.chunk_count - 1) else {"to": self.last_chunk}
        return {"from": chunk, **ends}

    @property
    def message(self) -> str:
        """Where it was cut and how to ask for the rest; that counts are estimates; else empty."""
        lines = []
        if self.cut.is_cut:
            lines.append(f"[Cut at {self.max_tokens:,} tokens{self._shown()}.{self._way_on()}]")
        if self.cut.is_estimated:
            lines.append("[Tokens were estimated from characters: the embedder does not answer.]")
        return "\n".join(lines)

    def _shown(self) -> str:
        if self.cut.next_chunk is None:
            return "" if self.cut.first_chunk < 0 else f" inside chunk {self.cut.first_chunk} of {self.chunk_count}"
        return f", before chunk {self.cut.next_chunk} of {self.chunk_count}"

    def _way_on(self) -> str:
        if (rest := self.rest) is None:
            return " Narrow it with heading, or with from and to."
        return f" For the rest: {call_text('read_document', rest.items())}"


class ReadDocument:
    """Answers read_document, and reads documents as resources."""

    def __init__(self, docstore: Docstore, cutter: Cutter, packer: Packer) -> None:
        self._docstore = docstore
        self._packer = packer
        self._cutter = cutter

    async def run(self, project: docstore_api.Project, arguments: Mapping[str, Any]) -> ToolAnswer:
        """The asked part of a document under its header.

        Raises: NotFound for a path or heading that does not exist, naming near ones; InvalidArgument; Unavailable.
        """
        if arguments["heading"] and (arguments["from"] is not None or arguments["to"] is not None):
            raise InvalidArgument("give heading, or from and to, not both")
        document = await self._find(project, arguments["path"])
        head = f"File: {document.path}\nTitle: {' '.join(document.title.split())}\n---\n"

        async def compose(most_tokens: int) -> ToolAnswer:
            reading = await self._read(project, document, {**arguments, NAME: most_tokens}, head)
            text = "\n\n".join(part for part in (head + reading.cut.text, reading.message) if part)
            return ToolAnswer(text, _structured(reading), record_count=1)

        # The text is cut to what was asked for; as data it is a little longer, and may have no more than any answer.
        return await self._packer.fit(
            project.model_id, MOST_TOKENS, arguments[NAME], compose, lambda one: longest(one.text, one.structured)
        )

    async def read_text(self, project: docstore_api.Project, path: str, max_tokens: int) -> str:
        """The Markdown of a document, and where it was cut.

        Raises: NotFound; Unavailable.
        """
        document = await self._find(project, path)
        whole = {"heading": None, "from": None, "to": None, "max_tokens": max_tokens}
        reading = await self._read(project, document, whole, "")
        return "\n\n".join(part for part in (reading.cut.text, reading.message) if part)

    async def _read(
        self, project: docstore_api.Project, document: docstore_api.Document, arguments: Mapping[str, Any], head: str
    ) -> _Reading:
        chunks = head_chunks(document, project.live_generation)
        if arguments["heading"]:
            spans = section_spans(document, chunks, arguments["heading"])
        elif arguments["from"] is not None or arguments["to"] is not None:
            spans = [range_span(document, chunks, arguments["from"], arguments["to"])]
        else:
            spans = [whole_span(document)]
        parts = [pieces_of(document.text, chunks, span) for span in spans]
        cut = await self._cutter.cut(project.model_id, head, parts, arguments["max_tokens"], document.path)
        return _Reading(document, len(chunks), spans[-1].last_chunk, arguments["max_tokens"], cut)

    async def _find(self, project: docstore_api.Project, path: str) -> docstore_api.Document:
        request = docstore_api.GetDocumentsRequest(
            project=project.slug, paths=[path], include_text=True, generations=[project.live_generation]
        )
        item = (await self._docstore.get_documents(request)).items[0]
        if item.HasField("document") and not item.document.deleted:
            return item.document
        if item.moved_to:
            call = call_text("read_document", [("path", item.moved_to)])
            raise NotFound(f"{path} has moved to {item.moved_to}: {call}")
        near = docstore_api.SuggestPathsRequest(project=project.slug, path=path, limit=SUGGESTED_PATHS)
        paths = (await self._docstore.suggest_paths(near)).paths
        hint = f"nearest: {', '.join(paths)}" if paths else "list_topics shows every path"
        raise NotFound(f'no document {quoted(one_line(path, TITLE_CHARACTERS))} in project "{project.slug}"; {hint}')


def _structured(reading: _Reading) -> Mapping[str, Any]:
    document = reading.document
    shown: dict[str, Any] = {
        "path": document.path,
        "title": document.title,
        "text": reading.cut.text,
        "chunk_count": reading.chunk_count,
        "is_cut": reading.cut.is_cut,
        "message": reading.message,
    }
    for name, value in (("url", document.url), ("version", document.version), ("next", reading.rest)):
        if value:
            shown[name] = value
    return shown
