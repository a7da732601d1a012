"""Where a document stands as a page: its site path, its address, and which documents a site path may mean; pure."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import quote, unquote

from refdesk.errors import InvalidArgument

PREFIX = "/p"
"""Below it the gateway itself serves a readable page of every document."""
EXTENSIONS = (".md", ".mdx", ".markdown")
"""That a page's path may have lost, in the order in which they are tried."""
INVALID = "invalid path"
MOST_CHARACTERS = 4_096

_ROOT = "/site"
_REFUSED = re.compile(r"\\|\x00|%2e|%2f|%5c|(?:^|/)\.\.(?:/|$)", re.IGNORECASE)


def without_extension(path: str) -> str:
    """The path without what stands behind the last dot of its file's name."""
    stem, dot, _ = path.rpartition(".")
    return stem if dot and "/" not in path[len(stem) :] else path


def site_path(path: str) -> str:
    """The path of a document's page: `policies/travel.md` is `/policies/travel/`."""
    return f"/{without_extension(path)}/"


def page_url(base_url: str, project: str, path: str) -> str:
    """The address of the page that the gateway, reached at `base_url`, serves of a document."""
    return f"{base_url.rstrip('/')}{PREFIX}/{project}/{quote(path, safe='/')}"


def resolve_path(given: str) -> str:
    """A path from outside, checked as it came and only then decoded, as a document's path: without slashes at its ends.

    Raises: InvalidArgument for one that could mean something outside of the site.
    """
    if len(given) > MOST_CHARACTERS or _REFUSED.search(given):
        raise InvalidArgument(INVALID)
    try:
        decoded = unquote(given, errors="strict")
    except UnicodeDecodeError:
        raise InvalidArgument(INVALID) from None
    resolved = posixpath.normpath(f"{_ROOT}/{decoded}")
    # Again, on what it became: nothing may have walked out of the root.
    if "\x00" in decoded or not (resolved == _ROOT or resolved.startswith(f"{_ROOT}/")):
        raise InvalidArgument(INVALID)
    return resolved.removeprefix(_ROOT).strip("/")


def candidates(path: str) -> list[str]:
    """Documents that a checked path may mean, the likeliest first."""
    return [*(f"{path}{extension}" for extension in EXTENSIONS), path]
