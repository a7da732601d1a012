"""Pages that are hard to parse and to cut: one thing, again and again, and at last an end."""

MIB = 1 << 20
HARD = {
    "words": "lorem ipsum dolor sit amet ",
    "sentences": "Lorem ipsum. ",
    "one word": "x",
    "digits": "0123456789",
    "capitals and digits": "aB3dE6gH9",
    "chinese without stops": "漢",
    "open tags": "<a ",
    "open comments": "x <!--\n",
    "backticks": "` `` ",
    "liquid": "{%",
    "cells": "|a",
    "quotes": "> ",
    "brackets": "[a](",
    "emphasis": "*a_",
    "combining marks": "e\u0301",
    "fences": "```\n",
    "spaces": " ",
    "announcements": "a:\n\n",
}


def hard_page(name: str, size: int) -> str:
    """A page of about `size` characters that repeats the hard thing of this name."""
    return "# H\n\n" + HARD[name] * (size // len(HARD[name])) + " end"
