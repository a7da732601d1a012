"""Takes HTML tags, JSX, Liquid and kramdown marks out of one line; knows nothing of the lines around it.

Text between tags stays, placeholders such as <index-name> stay, code spans stay.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SHORT_CHARACTERS = 80


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_INLINE = _names(
    """
    a abbr b bdi bdo big cite code del dfn em font i ins kbd mark nobr q rp rt ruby s samp small span strike strong
    sub sup tt u var wbr
    """
)
_BLOCK = _names(
    """
    BR P article aside audio blockquote br canvas caption center col colgroup dd details dialog div dl dt embed
    figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr iframe img li nav noscript ol p picture pre script
    section style summary svg table tbody td template textarea tfoot th thead tr ul video
    """
)
# Real tags whose names authors also use as placeholders: <path> alone in a sentence is one.
_AMBIGUOUS = _names(
    """
    address area base body button data datalist fieldset form g head html input label legend link main map menu meta
    meter object optgroup option output param path progress rect select source time title track
    """
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
_CODE_SPAN = re.compile(r"`(`*+)(?:(?!`).{0,400}?(?<!`)`\1(?!`))?")


def strip_marks(line: str) -> str:
    """A line without tags and template marks outside code spans."""
    return _strip_short(line) if len(line) <= _SHORT_CHARACTERS else _strip(line)


@lru_cache(maxsize=4096)
def _strip_short(line: str) -> str:
    """What comes again and again: includes, notes, tags on lines of their own."""
    return _strip(line)


def _strip(line: str) -> str:
    if "<h" in line and (heading := _HEADING_TAG.fullmatch(line)):
        line = f"{'#' * int(heading[1])} {heading[2].strip()}"
    is_alone = "<" in line and _ONLY_TAGS.fullmatch(line) is not None
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
    if (
        mark[1] == ":"
        and mark[2] != ":"
        and len(match.string.strip()) > len(mark)
        and not _ATTRIBUTE_LIST.fullmatch(mark)
    ):
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


def mask_code(line: str) -> str:
    """A line of equal length in which code spans are backticks throughout."""
    return _CODE_SPAN.sub(lambda match: "`" * len(match[0]), line) if "`" in line else line


def find_outside_code(line: str, text: str) -> int:
    """Where a text stands outside code spans, -1 where it does not."""
    return mask_code(line).find(text)


def is_open_tag(line: str) -> bool:
    """Whether a line starts with a tag that it does not end."""
    start = line.lstrip()
    if not start.startswith("<") or ">" in start:
        return False
    match = _TAG_NAME.match(start)
    return match is not None and (match[1] in _KNOWN or match[1][0].isupper())
