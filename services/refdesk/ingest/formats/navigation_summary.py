"""Menus in a SUMMARY.md, as mdBook and GitBook have it: lists of links, parts under headings; knows nothing of which pages exist."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from refdesk.ingest.formats.navigation import Budget, Entry, check_size, entry_of

_ITEM = re.compile(r"(?P<indent>[ \t]*)[-*+][ \t]+(?P<rest>\S.*)")
_LINK = re.compile(r"\[(?P<title>(?:[^\]\\]|\\.)*)\]\((?P<target><[^>]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)[^)]*\)")
_PART = re.compile(r"#{1,6}[ \t]+(?P<title>.*?)[ \t#]*")
TAB_COLUMNS = 4
MAX_LINE_CHARACTERS = 2_000


@dataclass(slots=True)
class _Open:
    """An item whose children are still to come."""

    indent: int
    title: str
    target: str
    children: list[_Open] = field(default_factory=list)


def read_summary(content: bytes, name: str, root: str) -> tuple[Entry, ...]:
    """The lists of links in order; headings but the first one, the file's own title, make folders. Raises: InvalidArgument."""
    budget = Budget(name)
    top: list[_Open] = []
    level = [_Open(-1, "", "", top)]
    is_first = True
    for line in check_size(content, name).splitlines():
        if len(line) > MAX_LINE_CHARACTERS:
            continue
        item = _ITEM.match(line)
        if part := _PART.fullmatch(line):
            part_node = _Open(-1, part["title"], "")
            if not is_first or not re.fullmatch(r"summary|table of contents", part["title"], re.IGNORECASE):
                top.append(part_node)
                level = [part_node]
            is_first = False
            continue
        link = _LINK.match(item["rest"] if item else line.strip())
        if link is None and item is None:
            continue
        indent = len(item["indent"].expandtabs(TAB_COLUMNS)) if item else -1
        while len(level) > 1 and level[-1].indent >= indent:
            level.pop()
        budget.enter(len(level))
        title = re.sub(r"\\(.)", r"\1", link["title"]) if link else item["rest"] if item else ""
        node = _Open(indent, title, link["target"].strip("<>") if link else "")
        level[-1].children.append(node)
        if item:
            level.append(node)
    return tuple(_close(node, root) for node in top)


def _close(node: _Open, root: str) -> Entry:
    return entry_of(node.title, node.target, tuple(_close(child, root) for child in node.children), root=root)
