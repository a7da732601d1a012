"""Which language a text is written in, and which script a query; knows nothing of what any model speaks.

Answers are ISO 639-1 codes, or UNDETERMINED. The detector costs a second to load, so that what can be told without it
is: kana, hangul and other scripts of one language by their characters, English by its commonest words.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

UNDETERMINED = "und"
LEAST_CHARACTERS = 200  # a shorter text takes its source's language
MOST_CHARACTERS = 1_000  # of prose; more costs time and changes no answer
LEAST_CONFIDENCE = 0.35  # the right answers for 400 English pages start at 0.40

_LOOKED_AT_CHARACTERS = (2_500, 8_000)  # of the page, to find that much prose in; more where the first do not hold it
_LEAST_ENGLISH_SHARE = (
    0.07  # of the words; of 450 German, Chinese and Japanese pages none has above 0.058, of 1,890 English ones all have
)

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_MARKS = r"[#*_|>`\[\]-]"
# Every branch starts with a sign, so that the search passes over plain words at once.
_NOT_PROSE = re.compile(
    rf"`(?:[^`\n]{{0,400}}`|{_MARKS}*)|<[^<>\n]{{0,400}}>|\](?:\([^()\n]{{0,400}}\)|{_MARKS}*)|https?://\S{{1,400}}|"
    + "|".join(rf"{sign}{_MARKS}*" for sign in (r"\#", r"\*", "_", r"\|", ">", r"\[", "-"))
)
_WORD = re.compile(r"[^\W\d_]+")
_ASCII_GAPS = {code: " " for code in range(128) if not chr(code).islower()}
_DECLARED = re.compile(r"([A-Za-z]{2})(?:[-_.].*)?")
_ENGLISH = frozenset(
    ("the", "and", "of", "to", "for", "with", "this", "that", "are", "you", "from", "by", "can", "when", "which", "be",
     "is", "or", "your", "not", "has", "have", "it", "its", "use", "must", "only", "using", "following", "each", "into")
)  # fmt: skip

_LATIN = r"A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a"
_SCRIPTS = (
    ("han", r"\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"),
    ("kana", r"\u3041-\u309f\u30a1-\u30ff\uff66-\uff9f"),
    ("hangul", r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"),
    ("cyrillic", r"\u0400-\u052f"),
    ("greek", r"\u0370-\u03ff\u1f00-\u1fff"),
    ("arabic", r"\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff"),
    ("hebrew", r"\u0590-\u05ff"),
    ("devanagari", r"\u0900-\u097f"),
    ("bengali", r"\u0980-\u09ff"),
    ("tamil", r"\u0b80-\u0bff"),
    ("thai", r"\u0e00-\u0e7f"),
    ("georgian", r"\u10a0-\u10ff"),
    ("armenian", r"\u0530-\u058f"),
)
_LATIN_SIGN = re.compile(rf"[{_LATIN}](?:[\w./-]*[{_LATIN}])?", re.ASCII)
_SCRIPT_SIGNS = (("latin", _LATIN_SIGN), *((name, re.compile(f"[{characters}]")) for name, characters in _SCRIPTS))
_OTHER_SIGN = re.compile(f"[{''.join(characters for _, characters in _SCRIPTS)}]")
# Scripts that one language alone is written in, near enough. Han without kana is taken for Chinese.
_LANGUAGE_OF_SCRIPT = {
    "kana": "ja",
    "hangul": "ko",
    "han": "zh",
    "greek": "el",
    "hebrew": "he",
    "tamil": "ta",
    "thai": "th",
    "georgian": "ka",
    "armenian": "hy",
}


def detect(text: str, declared: str | None, source_language: str | None) -> str:
    """The language of a page: declared, else told by its prose, else its source's where there is too little prose."""
    if code := language_code(declared):
        return code
    prose = strip_code(text)
    if len(prose) < LEAST_CHARACTERS:
        return language_code(source_language) or _LANGUAGE_OF_SCRIPT.get(script(prose), UNDETERMINED)
    return _tell(prose[:MOST_CHARACTERS])


def query_language(text: str) -> str:
    """The language of a query as far as its script alone tells; latin, cyrillic or arabic letters tell nothing."""
    return _LANGUAGE_OF_SCRIPT.get(script(text), UNDETERMINED)


def script(text: str) -> str:
    """The script that most letters of a text belong to, empty without letters.

    A latin word or identifier counts as one letter of the other scripts. Japanese, written in both, is kana, not han.
    """
    if text.isascii():
        return "latin" if _WORD.search(text) else ""
    beginning = text[:MOST_CHARACTERS]
    if not _OTHER_SIGN.search(beginning):
        return "latin" if _LATIN_SIGN.search(beginning) else ""
    counts = Counter({name: len(found.findall(beginning)) for name, found in _SCRIPT_SIGNS})
    if counts["kana"] and counts["kana"] * 10 >= counts["han"]:
        counts["kana"] += counts.pop("han")
    name, most = counts.most_common(1)[0]
    return name if most else ""


def language_code(stated: str | None) -> str:
    """`en` for en, EN, en-GB or en_GB.UTF-8; empty for what is no two-letter code."""
    match = _DECLARED.fullmatch((stated or "").strip())
    return match[1].lower() if match else ""


def strip_code(text: str) -> str:
    """The prose of a page's beginning: without code, addresses and marks, white space collapsed."""
    prose = ""
    for looked_at in _LOOKED_AT_CHARACTERS:
        prose = " ".join(_NOT_PROSE.sub(" ", _leave_out_fences(text[:looked_at])).split())
        if len(prose) >= MOST_CHARACTERS or len(text) <= looked_at:
            break
    return prose


def _leave_out_fences(text: str) -> str:
    """The text without fenced code; what is not closed goes on to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    prose: list[str] = []
    marker = ""
    *lines, last = text.split("\n")
    for line in lines:
        if marker:
            if marker in line and _closes(line, marker):
                marker = ""
        elif ("```" in line or "~~~" in line) and (match := _FENCE.match(line)):
            marker = match[1]
        else:
            prose.append(line)
    if not marker:
        prose.append(last)
    return "\n".join(prose)


def _closes(line: str, marker: str) -> bool:
    """Whether a line closes a fence: there is the marker, and no other sign."""
    bare = line.lstrip(" \t>").rstrip(" \t")
    return bare.startswith(marker) and not bare.strip("`~")


def _tell(prose: str) -> str:
    """The language of prose that is long enough to tell."""
    if code := _LANGUAGE_OF_SCRIPT.get(script(prose)):
        return code
    words = _find_words(prose.lower())
    if words and sum(map(_ENGLISH.__contains__, words)) >= _LEAST_ENGLISH_SHARE * len(words):
        return "en"
    code, confidence = _load_identifier().classify(prose)
    if confidence < LEAST_CONFIDENCE or len(code) != 2:
        return UNDETERMINED
    return str(code)


def _find_words(text: str) -> list[str]:
    """All runs of letters of a lower-case text; in ASCII without the expression, which costs four times as much."""
    return text.translate(_ASCII_GAPS).split() if text.isascii() else _WORD.findall(text)


@cache
def _load_identifier() -> LanguageIdentifier:
    """The detector: loaded once, at the first text that needs it."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
