"""How the notes surface names documents; knows nothing of where numbers and names come from."""

from __future__ import annotations

from urllib.parse import quote

from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, one_line

SCHEME = "qmd"


def resource_uri(path: str) -> str:
    """The address of a document: its collection and its path within."""
    return f"{SCHEME}://{quote(path, safe='/')}"


def summary_line(docid: str, path: str, title: str) -> str:
    """`#abc123 notes/keys.md - Keys`."""
    shown = one_line(title, TITLE_CHARACTERS)
    return f"{docid} {path}{' - ' + shown if shown else ''}"
