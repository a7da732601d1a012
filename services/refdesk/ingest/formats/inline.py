"""Inline markup to plain words: headings as a reader sees them, first sentences; knows nothing of blocks."""

from __future__ import annotations

import html
import re

_MARKUP = re.compile(r"[`*_\[\]<>&\\{}~!]")
_SPAN_LIMIT = 2000  # no heading or sentence is longer; bounds the work on lines that are not prose

_CODE = re.compile(r"`(`*+)(?:(?!`)(.{1,400}?)(?<!`)`\1(?!`))")
_IMAGE = re.compile(r"!\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])?")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_ANCHOR = re.compile(r"\s*\{(?:#|:|\.)[^{}]*\}\s*$")
_AUTOLINK = re.compile(r"<((?:https?|mailto|ftp):[^<>\s]*)>")
_STARS = re.compile(r"(\*{1,3})(?=\S)([^*]+?)(?<=\S)\1")
_LINES = re.compile(r"(?<![^\W_])(_{1,3})(?=[^\s_])(.+?)(?<=[^\s_])\1(?![^\W_])")
_STRIKE = re.compile(r"~~(?=\S)([^~]+)~~")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_HELD = re.compile("\x00(\\d+)\x00")
_SENTENCE_END = re.compile(r"[.!?](?=[\s\"')\]]|$)|[。！？](?:[」』）])?")
# A full stop after one of these ends no sentence.
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|bzw|z\.B|d\.h|No|Nr|St|Dr|Mr|Ms)|\b[A-Z])\.$")


def plain_text(markup: str) -> str:
    """Inline Markdown without its marks, on one line: code spans and links keep their text, images their alternative."""
    text = markup[:_SPAN_LIMIT]
    if not _MARKUP.search(text):
        return " ".join(text.split())
    held: list[str] = []

    def hold(content: str) -> str:
        held.append(content)
        return f"\x00{len(held) - 1}\x00"

    # Most texts have one kind of mark: to look for its sign costs a hundredth of looking for the whole.
    if "`" in text:
        text = _CODE.sub(lambda match: hold(match[2].strip() or match[2]), text)
    if "{" in text:
        text = _ANCHOR.sub("", text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda match: hold(match[1]), text)
    if "<" in text:
        text = _AUTOLINK.sub(lambda match: hold(match[1]), text)
    if "[" in text:
        for pattern in (_IMAGE, _LINK, _LINK):
            text = pattern.sub(r"\1", text)
    if "*" in text or "_" in text:
        for pattern in (_STARS, _LINES, _STARS, _LINES):
            text = pattern.sub(r"\2", text)
    if "~~" in text:
        text = _STRIKE.sub(r"\1", text)
    text = html.unescape(text)
    if held:
        text = _HELD.sub(lambda match: held[int(match[1])], text)
    return " ".join(text.split())


def first_sentence(text: str, limit_characters: int = 300) -> str:
    """The first sentence of plain text, cut at a word with … where it is longer than the limit."""
    for match in _SENTENCE_END.finditer(text[: limit_characters + 1]):
        end = match.end()
        if end <= limit_characters and not _ABBREVIATION.search(text[max(0, end - 12) : end]):
            return text[:end].strip()
    if len(text) <= limit_characters:
        return text.strip()
    cut = text[: limit_characters - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip() + "…"
