"""get and multi_get: documents by name, docid or glob, within lines, bytes and tokens; knows nothing of ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.budgets import Packer, count_fitting
from refdesk.gateway.surfaces.docs.wording import count, one_line, quoted
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.surfaces.notes.globs import Glob, is_glob, split_list
from refdesk.gateway.surfaces.notes.library import Found, Library
from refdesk.gateway.surfaces.notes.shown import Asked, Desk, Shown

MOST_FILES = 100
"""Of one multi_get: more are counted, and named by nothing."""
MOST_ITEMS = 200
NAME_CHARACTERS = 200
READ_AT_ONCE = 8
"""Documents that are read together: each may have a megabyte."""
LEAST_TOKENS = 60
"""With less room nothing more is read."""
OMITTED = "omitted: does not fit in max_tokens; read it with get"
NAMES_SHARE = 4
"""Of max_tokens, a fourth may name what does not come; what is not even named is counted."""
SKIPPED_TOKENS = 12
"""Of each such name beside its line: its fields as data."""
MESSAGE_TOKENS = 40


class Get:
    """Answers get."""

    def __init__(self, library: Library, desk: Desk) -> None:
        self._library = library
        self._desk = desk

    async def run(self, project: docstore_api.Project, arguments: Mapping[str, Any]) -> ToolAnswer:
        """One document, or lines of it.

        Raises: NotFound with similar paths; InvalidArgument for a docid that fits several; Unavailable.
        """
        found = await self._library.find(project, arguments["file"])
        asked = Asked(arguments["fromLine"] or found.line or 1, arguments["maxLines"], arguments["lineNumbers"])
        notes = [found.note] if found.note else []
        shown = await self._desk.show(project, found.document, asked, arguments["max_tokens"], *notes)
        return ToolAnswer(shown.summary, shown.data(), record_count=1, resources=(shown.resource(),))


@dataclass
class _Gathered:
    """What a multi_get brings together, in the order in which it was asked for."""

    found: dict[str, Found | None] = field(default_factory=dict)
    """By path; None: named by a glob, and not read yet."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    left_out: int = 0

    def add(self, path: str, found: Found | None = None) -> None:
        """Takes a document once, as many as there is room for."""
        if len(self.found) >= MOST_FILES and path not in self.found:
            self.left_out += 1
            return
        self.found.setdefault(path, found)


class MultiGet:
    """Answers multi_get."""

    def __init__(self, library: Library, desk: Desk, packer: Packer) -> None:
        self._packer = packer
        self._library = library
        self._desk = desk

    async def run(self, project: docstore_api.Project, arguments: Mapping[str, Any]) -> ToolAnswer:
        """The documents of a pattern; what does not come is named with its reason.

        Raises: NotFound where nothing fits; InvalidArgument for a pattern that cannot be read; Unavailable.
        """
        pattern = arguments["pattern"]
        gathered = await self._gather(project, pattern)
        most_tokens = arguments["max_tokens"]
        names_tokens = most_tokens // NAMES_SHARE
        shown = await self._show(project, gathered, arguments, most_tokens - names_tokens)
        if not shown and not gathered.skipped:
            raise NotFound(f"no files match {quoted(one_line(pattern, NAME_CHARACTERS))}: query finds what there is")
        costs = await self._packer.costs(project.model_id, [_skipped_line(*one) for one in gathered.skipped])
        named = count_fitting((cost + SKIPPED_TOKENS for cost in costs), names_tokens - MESSAGE_TOKENS)
        return _answer(shown, gathered, named)

    async def _gather(self, project: docstore_api.Project, pattern: str) -> _Gathered:
        items = split_list(pattern)
        if not 0 < len(items) <= MOST_ITEMS:
            raise InvalidArgument(f"pattern must name 1 to {MOST_ITEMS} files, docids or globs, not {len(items)}")
        gathered = _Gathered()
        for item in items:
            if is_glob(item):
                paths, fitting = await self._library.match(project, Glob(item), MOST_FILES)
                for path in paths:
                    gathered.add(path)
                gathered.left_out += fitting - len(paths)
                if not fitting:
                    gathered.skipped.append((item, "no files match"))
                continue
            try:
                found = await self._library.find(project, item)
                gathered.add(found.document.path, found)
            except (NotFound, InvalidArgument) as refusal:
                gathered.skipped.append((item, refusal.message))
        if not gathered.found and len(items) == 1 and is_glob(items[0]):
            gathered.skipped.clear()
        return gathered

    async def _show(
        self, project: docstore_api.Project, gathered: _Gathered, arguments: Mapping[str, Any], room: int
    ) -> list[Shown]:
        shown: list[Shown] = []
        paths = list(gathered.found)
        for start in range(0, len(paths), READ_AT_ONCE):
            some = paths[start : start + READ_AT_ONCE]
            if room < LEAST_TOKENS:
                gathered.skipped += [(path, OMITTED) for path in some]
                continue
            for path, found in (await self._read(project, gathered, some)).items():
                one = await self._show_one(project, found, arguments, room)
                if isinstance(one, str) or (shown and one.part.last < _last_wanted(one, arguments)):
                    gathered.skipped.append((path, one if isinstance(one, str) else OMITTED))
                    continue
                room -= one.tokens
                shown.append(one)
        return shown

    async def _read(self, project: docstore_api.Project, gathered: _Gathered, paths: Sequence[str]) -> dict[str, Found]:
        """These documents in their order; those that are gone meanwhile are left out."""
        unread = [path for path in paths if gathered.found[path] is None]
        read = {one.path: Found(one) for one in await self._library.read_all(project, unread)}
        known = {path: gathered.found[path] or read.get(path) for path in paths}
        return {path: found for path, found in known.items() if found}

    async def _show_one(
        self, project: docstore_api.Project, found: Found, arguments: Mapping[str, Any], room: int
    ) -> Shown | str:
        """A document, or why it is skipped."""
        size_bytes = len(found.document.text.encode())
        if size_bytes > arguments["maxBytes"]:
            return f"{size_bytes:,} bytes are more than maxBytes {arguments['maxBytes']:,}; read it with get"
        if room < LEAST_TOKENS:
            return OMITTED
        asked = Asked(found.line or 1, arguments["maxLines"], arguments["lineNumbers"])
        notes = [found.note] if found.note else []
        return await self._desk.show(project, found.document, asked, room, *notes)


def _last_wanted(shown: Shown, arguments: Mapping[str, Any]) -> int:
    """The last line that would come if there were room."""
    most = arguments["maxLines"]
    return shown.part.total if most is None else min(shown.part.total, shown.part.first + most - 1)


def _skipped_line(name: str, reason: str) -> str:
    return f"[SKIPPED: {one_line(name, NAME_CHARACTERS)}: {reason}]"


def _answer(shown: Sequence[Shown], gathered: _Gathered, named: int) -> ToolAnswer:
    skipped, unnamed = gathered.skipped[:named], len(gathered.skipped[named:])
    lines = [f"{count(len(shown), 'document')}:", *(one.summary for one in shown)]
    lines += [_skipped_line(*one) for one in skipped]
    message = ""
    if gathered.left_out:
        message = (
            f"{count(gathered.left_out, 'file')} more match; at most {MOST_FILES} come at once: narrow the pattern"
        )
    if unnamed:
        message = "; ".join(
            part for part in (message, f"{count(unnamed, 'file')} more did not fit and are not named") if part
        )
    if message:
        lines.append(f"[{message}.]")
    structured = {
        "documents": [one.data() for one in shown],
        "skipped": [{"file": name, "reason": reason} for name, reason in skipped],
        **({"message": message} if message else {}),
    }
    resources = tuple(one.resource() for one in shown)
    return ToolAnswer("\n".join(lines), structured, record_count=len(shown), resources=resources)
