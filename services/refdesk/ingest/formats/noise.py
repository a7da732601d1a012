"""Takes out of a page what its site generator put in: HTML, MDX, Liquid and kramdown marks; knows nothing of blocks.

Works on lines outside code. Text between tags stays, placeholders such as <index-name> stay, code spans stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from refdesk.ingest.formats.fences import find_fence_end, match_fence
from refdesk.ingest.formats.margins import MARGIN_SIGNS, Margin

_INLINE = frozenset(
    "a abbr b bdi bdo big cite del dfn em font i ins kbd mark q rp rt ruby s samp small span strike strong sub sup tt "
    "u wbr nobr".split()
)
_BLOCK = frozenset(
    "article aside blockquote br caption center col colgroup dd details dialog div dl dt figcaption figure footer "
    "h1 h2 h3 h4 h5 h6 header hgroup hr iframe img li nav noscript ol p picture pre section summary svg table tbody td "
    "template textarea tfoot th thead tr ul video audio canvas embed script style BR P".split()
)
# Real tags whose names authors also use as placeholders: <path> alone in a sentence is one.
_AMBIGUOUS = frozenset(
    "address area base body button code data datalist fieldset form g head html input label legend link main map "
    "menu meta meter object optgroup option output param path progress rect select source time title track var".split()
)
_KNOWN = _INLINE | _BLOCK | _AMBIGUOUS

# A code span (kept), or one of the marks. Every branch starts with its own sign, and none looks past the next one.
_MARK = re.compile(
    r"`(`*+)(?:(?!`).{0,400}?(?<!`)`\1(?!`))?"
    r"|</?[A-Za-z][A-Za-z0-9.]{0,40}(?:\s[^<>]{0,4000})?/?>"
    r"|\{%[^{}]{0,400}%\}"
    r"|\{\{[ ]{0,3}site\.(?:base)?url[ ]{0,3}\}\}"
    r"|\{:{1,2}[^{}]{0,200}\}"
)
_ONLY_TAGS = re.compile(r"\s*(?:<[^<>]*>\s*)+")
_TAG_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9.]*)")
_ATTRIBUTE = re.compile(r"""\b(alt|label|title)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_HEADING_TAG = re.compile(r"\s*<h([1-6])(?:\s[^<>]*)?>(.*)</h\1>\s*")
_ATTRIBUTE_LIST = re.compile(r"\{:{1,2}\s*(?:[.#/][^{}]*|[^{}]*=[^{}]*)\}")
_IMPORT = re.compile(r"""import\s+(?:[\w$*{][^'"]{0,2000}\sfrom\s+)?['"][^'"]+['"];?\s*""")
_OPEN_IMPORT = re.compile(r"import\s+(?:[\w$]+\s*,\s*)?\{[^}'\"]*")
_EXPORT = re.compile(r"export\s+(?:const|let|var|function|class|async|default|\{|\*)")
_ADMONITION = re.compile(r"(\s*):{3,}\s*([A-Za-z][\w-]*)?(?:\[([^\]]*)\])?\s*(.*)")
_IMPORT_END = re.compile(r"""[^'"]{0,400}\}\s*from\s+['"][^'"]+['"]""")
_CODE_SPAN = re.compile(r"`(`*+)(?:(?!`).{0,400}?(?<!`)`\1(?!`))?")
_PREFORMATTED = re.compile(r"<pre(?:\s[^<>]*)?>")
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]{0,4000}>")
_BACKTICKS = re.compile(r"`+")
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
    margin = Margin()
    cleaned: list[str] = []
    index, count = 0, len(lines)
    while index < count:
        line = lines[index]
        if not line or line.isspace():
            margin.pass_blank()
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
        self._lines = lines
        self._missing: set[str] = set()
        self.warnings: list[str] = []

    def clean(self, index: int, inside_paragraph: bool, in_list: bool) -> _Cleaned | None:
        """What takes the place of `lines[index]` and perhaps of lines after it; none where it stays as it is."""
        line = self._lines[index]
        if line[0] in "ie" and not inside_paragraph and (end := self._find_module_end(index)):
            return _Cleaned([], end)
        if ":::" in line and (match := _ADMONITION.fullmatch(line)):
            return _Cleaned(_name_admonition(match), index + 1)
        if "<" not in line and "{" not in line:
            return None
        for opening, closing in _HIDING:
            if opening in line and (at := _find_outside_code(line, opening)) >= 0:
                return self._hide(index, at, opening, closing)
        if "<pre" in line and (change := self._keep_preformatted(index)):
            return change
        return self._clean_marks(index, in_list)

    def _find_module_end(self, index: int) -> int:
        """The line after an MDX import or export, 0 where the line is neither."""
        line = self._lines[index]
        if _IMPORT.fullmatch(line):
            return index + 1
        if _OPEN_IMPORT.fullmatch(line):
            for end in range(index + 1, min(index + _LONGEST_MARK_LINES, len(self._lines))):
                if _IMPORT_END.match(self._lines[end]):
                    return end + 1
        if not _EXPORT.match(line):
            return 0
        end = index + 1
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        return end

    def _hide(self, index: int, at: int, opening: str, closing: str) -> _Cleaned | None:
        """Take out a comment or script, which may end on a later line; what stands around it stays."""
        line = self._lines[index]
        before, same_line = line[:at], line.find(closing, at + len(opening))
        if same_line >= 0:
            return _Cleaned(_clean_rest(before + line[same_line + len(closing) :]), index + 1)
        end = self._find(closing, index + 1)
        if end >= 0:
            after = self._lines[end].partition(closing)[2]
            return _Cleaned(_clean_rest(before) + _clean_rest(after.lstrip()), end + 1)
        if before.strip():
            return None
        self.warnings.append(f"line {index + 1}: {opening} is never closed and hides the rest of the page")
        return _Cleaned([], len(self._lines))

    def _keep_preformatted(self, index: int) -> _Cleaned | None:
        """Turn <pre> into a fence: the text stays as it is and is never taken for headings."""
        line = self._lines[index]
        match = _PREFORMATTED.search(line)
        if match is None or "</pre>" in line[match.end() :] or _find_outside_code(line, "<pre") != match.start():
            return None  # on one line its tags go like any other
        before = line[: match.start()]
        end = self._find("</pre>", index + 1)
        if end < 0 and before.strip():
            return None
        stop, last, after = len(self._lines), "", ""
        if end >= 0:
            stop, (last, _, after) = end, self._lines[end].partition("</pre>")
        content = [_ANY_TAG.sub("", text) for text in (line[match.end() :], *self._lines[index + 1 : stop], last)]
        return _Cleaned(_clean_rest(before) + _fence_off(content) + _clean_rest(after.strip()), stop + 1)

    def _clean_marks(self, index: int, in_list: bool) -> _Cleaned | None:
        """Take tags and template marks out of one line, or of the lines that one tag spreads over."""
        line, end = self._lines[index], index + 1
        if _is_open_tag(line):
            line, end = self._join_tag(index)
        cleaned = _strip_marks(line)
        if cleaned == line and end == index + 1:
            return None
        cleaned = cleaned.rstrip() if in_list else cleaned.strip()
        return _Cleaned([cleaned] if cleaned.strip() else [], end)

    def _join_tag(self, index: int) -> tuple[str, int]:
        """A tag that goes on over several lines, as one; the line alone where it does not end soon."""
        parts = [self._lines[index]]
        for end in range(index + 1, min(index + _LONGEST_MARK_LINES, len(self._lines))):
            line = self._lines[end]
            if not line.strip():
                break
            parts.append(line.strip())
            if ">" in line:
                return " ".join(parts), end + 1
        return self._lines[index], index + 1

    def _find(self, closing: str, start: int) -> int:
        """The first line from `start` on with the text, -1 without; a text once missed is not looked for again."""
        if closing in self._missing:
            return -1
        for index in range(start, len(self._lines)):
            if closing in self._lines[index]:
                return index
        self._missing.add(closing)
        return -1


def _find_outside_code(line: str, text: str) -> int:
    """Where a text stands outside code spans, -1 where it does not."""
    if "`" not in line:
        return line.find(text)
    masked = _CODE_SPAN.sub(lambda match: "`" * len(match[0]), line)
    return masked.find(text)


def _is_open_tag(line: str) -> bool:
    """Whether a line starts with a tag that it does not end."""
    start = line.lstrip()
    if not start.startswith("<") or ">" in start:
        return False
    match = _TAG_NAME.match(start)
    return match is not None and (match[1] in _KNOWN or match[1][0].isupper())


def _clean_rest(text: str) -> list[str]:
    """What is left of a line beside a comment, without its other marks; nothing where it is blank."""
    cleaned = _strip_marks(text).rstrip()
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


def _strip_marks(line: str) -> str:
    """A line without tags and template marks outside code spans."""
    if (heading := _HEADING_TAG.fullmatch(line)) is not None:
        line = f"{'#' * int(heading[1])} {heading[2].strip()}"
    is_alone = _ONLY_TAGS.fullmatch(line) is not None
    return _MARK.sub(_replace_alone if is_alone else _replace_inline, line)


def _replace_alone(match: re.Match[str]) -> str:
    return _replace_mark(match, is_alone=True)


def _replace_inline(match: re.Match[str]) -> str:
    return _replace_mark(match, is_alone=False)


def _replace_mark(match: re.Match[str], is_alone: bool) -> str:
    """What stays of a mark: a code span whole, a tag its alternative text, a template mark nothing."""
    mark = match[0]
    if mark[0] == "`" or (match.start() and match.string[match.start() - 1] == "\\"):
        return mark
    if mark[0] == "<":
        return _replace_tag(mark, is_alone)
    if mark[1] == ":" and len(match.string.strip()) > len(mark) and not _ATTRIBUTE_LIST.fullmatch(mark):
        return mark
    return ""


def _replace_tag(tag: str, is_alone: bool) -> str:
    """What stays of a tag; all of it where it is a placeholder rather than a tag."""
    name_match = _TAG_NAME.match(tag)
    name = name_match[1] if name_match else ""
    is_plain = tag[1] != "/" and "=" not in tag and not tag.endswith("/>")
    if name in _INLINE:
        return ""
    if name in _BLOCK:
        return _attribute_text(tag) if name == "img" else " "
    is_tag = name in _AMBIGUOUS or name[:1].isupper()
    if not is_tag or (is_plain and not is_alone) or (tag[1] == "/" and not is_alone and name not in _AMBIGUOUS):
        return tag
    return _attribute_text(tag)


def _attribute_text(tag: str) -> str:
    """The text that a tag shows: an image's alternative text, a tab's label, a block's title."""
    for match in _ATTRIBUTE.finditer(tag):
        text = (match[2] or match[3] or "").strip()
        if text:
            return text
    return ""
