"""Takes out of a page what its site generator put in: comments, MDX, tags, Liquid; knows nothing of blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from refdesk.ingest.formats.fences import find_fence_end, match_fence
from refdesk.ingest.formats.margins import MARGIN_SIGNS, Margin
from refdesk.ingest.formats.marks import find_outside_code, is_open_tag, mask_code, strip_marks

_IMPORT = re.compile(r"""import\s+(?:[\w$*{][^'"]{0,2000}\sfrom\s+)?['"][^'"]+['"];?\s*""")
_OPEN_IMPORT = re.compile(r"import\s+(?:[\w$]+\s*,\s*)?\{[^}'\"]*")
_EXPORT = re.compile(r"export\s+(?:const|let|var|function|class|async|default|\{|\*)")
_ADMONITION = re.compile(r"(\s*):{3,}\s*([A-Za-z][\w-]*)?(?:\[([^\]]*)\])?\s*(.*)")
_IMPORT_END = re.compile(r"""[^'"]{0,400}\}\s*from\s+['"][^'"]+['"]""")
_PREFORMATTED = re.compile(r"<pre(?:\s[^<>]*)?>")
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]{0,4000}>")
_BACKTICKS = re.compile(r"`+")
_CONTENTS_ITEM = re.compile(r"\s*(?:1\.|[-*+])\s+(?:TOC|toc)\s*\Z")  # what kramdown's {:toc} replaces
_HIDING = (
    ("<!--", "-->"),
    ("{/*", "*/}"),
    ("{% comment %}", "{% endcomment %}"),
    ("<script", "</script>"),
    ("<style", "</style>"),
)

_LONGEST_MARK_LINES = 20
_FIRST_SIGNS = frozenset("ie:")


class _Cleaned(NamedTuple):
    """What takes the place of some lines; `next_line` is the first line after them."""

    lines: list[str]
    next_line: int


def clean_lines(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines without noise, and warnings. What goes whole leaves one blank line: it parted what stood around it."""
    cleaner = _Cleaner(lines)
    lines = cleaner.lines
    margin = Margin()
    cleaned: list[str] = []
    index, count = 0, len(lines)
    while index < count:
        line = lines[index]
        if not line or line.isspace():
            margin.is_after_blank = True
            cleaned.append(line)
            index += 1
            continue
        if line[0] not in MARGIN_SIGNS:
            margin.pass_text()
            is_code = False
        else:
            is_code = margin.pass_line(line)
        if not is_code:
            if ("```" in line or "~~~" in line) and (fence := match_fence(line)):
                end = find_fence_end(lines, index, fence)
                cleaned.extend(lines[index:end])
                margin.is_after_blank = True
                index = end
                continue
            if "<" in line or "{" in line or line[0] in _FIRST_SIGNS or ":::" in line:
                inside_paragraph = bool(cleaned) and bool(cleaned[-1].strip())
                change = cleaner.clean(index, inside_paragraph, in_list=margin.content > 0)
                if change is not None:
                    if "toc}" in line and cleaned and _CONTENTS_ITEM.match(cleaned[-1]):
                        cleaned.pop()
                    _append_change(cleaned, change.lines)
                    index = change.next_line
                    continue
        cleaned.append(line)
        index += 1
    return cleaned, cleaner.warnings


def _append_change(cleaned: list[str], lines: list[str]) -> None:
    """Put in what is left of a change, or a blank line."""
    if lines:
        cleaned.extend(lines)
    elif cleaned and cleaned[-1].strip():
        cleaned.append("")


class _Cleaner:
    """Cleans the lines of one document; remembers what it looked for in vain, so that it looks only once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self._missing: set[str] = set()
        self.warnings: list[str] = []

    def clean(self, index: int, inside_paragraph: bool, in_list: bool) -> _Cleaned | None:
        """What takes the place of `lines[index]` and perhaps of lines after it; none where it stays as it is."""
        line = self.lines[index]
        if line[0] in "ie" and not inside_paragraph and (end := self._find_module_end(index)):
            return _Cleaned([], end)
        if ":::" in line and (match := _ADMONITION.fullmatch(line)):
            return _Cleaned(_name_admonition(match), index + 1)
        if "<" not in line and "{" not in line:
            return None
        bare = line
        for opening, closing in _HIDING:
            if opening in bare:
                bare = _drop_closed(bare, opening, closing)
                if (at := find_outside_code(bare, opening)) >= 0 and (change := self._hide(index, bare, at, closing)):
                    return change
        if "<pre" in bare and (change := self._keep_preformatted(index, bare)):
            return change
        return self._clean_marks(index, bare, in_list)

    def _find_module_end(self, index: int) -> int:
        """The line after an MDX import or export, 0 where the line is neither."""
        line = self.lines[index]
        if _IMPORT.fullmatch(line):
            return index + 1
        if _OPEN_IMPORT.fullmatch(line):
            for end in range(index + 1, min(index + _LONGEST_MARK_LINES, len(self.lines))):
                if _IMPORT_END.match(self.lines[end]):
                    return end + 1
        if not _EXPORT.match(line):
            return 0
        end = index + 1
        while end < len(self.lines) and self.lines[end].strip():
            end += 1
        return end

    def _hide(self, index: int, line: str, at: int, closing: str) -> _Cleaned | None:
        """Take out a comment or script that ends on a later line, of which the rest is then read like any other."""
        before = line[:at]
        end = self._find(closing, index + 1)
        if end >= 0:
            self.lines[end] = self.lines[end].partition(closing)[2].lstrip()
            return _Cleaned(_clean_rest(before), end if self.lines[end] else end + 1)
        if before.strip():
            return None
        self.warnings.append(f"line {index + 1}: a comment or script is never closed and hides the rest of the page")
        return _Cleaned([], len(self.lines))

    def _keep_preformatted(self, index: int, line: str) -> _Cleaned | None:
        """Turn <pre> into a fence: the text stays as it is and is never taken for headings."""
        match = _PREFORMATTED.search(line)
        if match is None or "</pre>" in line[match.end() :] or find_outside_code(line, "<pre") != match.start():
            return None  # on one line its tags go like any other
        before = line[: match.start()]
        end = self._find("</pre>", index + 1)
        if end < 0 and before.strip():
            return None
        stop, last, after = len(self.lines), "", ""
        if end >= 0:
            stop, (last, _, after) = end, self.lines[end].partition("</pre>")
        content = [_ANY_TAG.sub("", text) for text in (line[match.end() :], *self.lines[index + 1 : stop], last)]
        return _Cleaned(_clean_rest(before) + _fence_off(content) + _clean_rest(after.strip()), stop + 1)

    def _clean_marks(self, index: int, line: str, in_list: bool) -> _Cleaned | None:
        """Take tags and template marks out of one line, or of the lines that one tag spreads over."""
        end = index + 1
        if is_open_tag(line):
            line, end = self._join_tag(index, line)
        cleaned = strip_marks(line)
        if cleaned == self.lines[index]:
            return None
        cleaned = cleaned.rstrip() if in_list else cleaned.strip()
        return _Cleaned([cleaned] if cleaned.strip() else [], end)

    def _join_tag(self, index: int, line: str) -> tuple[str, int]:
        """A tag that goes on over several lines, as one; the line alone where it does not end soon."""
        parts = [line]
        for end in range(index + 1, min(index + _LONGEST_MARK_LINES, len(self.lines))):
            more = self.lines[end].strip()
            if not more:
                break
            parts.append(more)
            if ">" in more:
                return " ".join(parts), end + 1
        return line, index + 1

    def _find(self, closing: str, start: int) -> int:
        """The first line from `start` on with the text, -1 without; a text once missed is not looked for again."""
        if closing in self._missing:
            return -1
        for index in range(start, len(self.lines)):
            if closing in self.lines[index]:
                return index
        self._missing.add(closing)
        return -1


def _drop_closed(line: str, opening: str, closing: str) -> str:
    """A line without the comments that start and end on it, outside code spans."""
    masked = mask_code(line)
    parts, position = [], 0
    while (at := masked.find(opening, position)) >= 0:
        end = line.find(closing, at + len(opening))
        if end < 0:
            break
        parts.append(line[position:at])
        position = end + len(closing)
    return "".join(parts) + line[position:]


def _clean_rest(text: str) -> list[str]:
    """What is left of a line beside a comment, without its other marks; nothing where it is blank."""
    cleaned = strip_marks(text).rstrip()
    return [cleaned] if cleaned.strip() else []


def _fence_off(content: list[str]) -> list[str]:
    """Lines as a fenced block, without blank ones at its ends; nothing where all are blank."""
    filled = [number for number, line in enumerate(content) if line.strip()]
    if not filled:
        return []
    content = content[filled[0] : filled[-1] + 1]
    longest = max((len(run) for line in content for run in _BACKTICKS.findall(line)), default=0)
    marker = "`" * max(3, longest + 1)
    return [marker, *content, marker]


def _name_admonition(match: re.Match[str]) -> list[str]:
    """`:::note Title` as words; its closing line as nothing."""
    indent, kind, label, rest = match[1], match[2], match[3], match[4]
    if kind is None:
        return []
    title = " ".join((label or rest).split())
    name = kind.replace("-", " ").capitalize()
    return [f"{indent}**{name}: {title}**" if title else f"{indent}**{name}**", ""]
