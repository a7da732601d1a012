"""Which reader a menu file is read by, by its name; knows nothing of where it lies."""

from __future__ import annotations

import posixpath

from refdesk.errors import InvalidArgument
from refdesk.ingest.formats.navigation import Entry
from refdesk.ingest.formats.navigation_docusaurus import read_sidebars
from refdesk.ingest.formats.navigation_summary import read_summary
from refdesk.ingest.formats.navigation_yaml import read_menu, read_mkdocs


def read_navigation(content: bytes, path: str, root: str | None) -> tuple[Entry, ...]:
    """The menu in a file at `path` of a source. `root`: the folder that its pages are relative to; None: the file's own (mkdocs: docs_dir).

    Raises: InvalidArgument that names the file and what is wrong.
    """
    folder, name = posixpath.split(path)
    own = folder if root is None else root
    name = name.lower()
    if name in ("mkdocs.yml", "mkdocs.yaml"):
        return read_mkdocs(content, path, root)
    if name.endswith((".yml", ".yaml")):
        return read_menu(content, path, own)
    if name.endswith(".json"):
        return read_sidebars(content, path, own)
    if name.endswith((".md", ".markdown")):
        return read_summary(content, path, own)
    raise InvalidArgument(
        f"menu {path} is of no known kind: name a .yml of entries, an mkdocs.yml, a sidebars.json or a SUMMARY.md"
    )
