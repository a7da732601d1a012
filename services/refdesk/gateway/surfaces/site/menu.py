"""The menu of a set as a flat walk and as the tree of a part of it; pure: it knows no store.

A walk lists leaves in order, each with the folders above it. Any run of leaves of a walk makes a tree, so a large menu can be answered in
parts: a folder that goes on is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_VERB = re.compile(rf"({'|'.join(METHODS)})\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on the way to a leaf; `name` is its own among its neighbours."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page (`page`: its path within the source, maybe without extension), a link, or the place of a derived `folder`."""

    folders: tuple[Folder, ...]
    title: str = ""
    page: str = ""
    href: str = ""
    method: str = ""
    folder: str = ""


def derive_leaves(
    documents: Iterable[docstore_api.DocumentSummary], above: tuple[Folder, ...] = (), within: str = ""
) -> list[Leaf]:
    """The walk of documents by their folders, in the order in which they are listed; `within`: those of one folder alone, below `above`."""
    leaves = []
    prefix = f"{within}/" if within not in ("", ".") else ""
    for document in documents:
        page = document.path.removeprefix(f"{document.source}/")
        if not page.startswith(prefix):
            continue
        folders = tuple(Folder(name, folder_title(name)) for name in page[len(prefix) :].split("/")[:-1])
        leaves.append(Leaf((*above, *folders), document.title, page))
    return leaves


def walk_menu(nodes: Sequence[docstore_api.MenuNode]) -> list[Leaf]:
    """The walk of a stored menu. A folder that is a page too has that page as its first entry; a folder's link is cleared."""
    return list(_walk(nodes, ()))


def _walk(nodes: Sequence[docstore_api.MenuNode], above: tuple[Folder, ...]) -> Iterator[Leaf]:
    for place, node in enumerate(nodes):
        if node.children:
            # Two folders of one title side by side stay two: the place makes their names differ.
            twins = sum(other.title == node.title and bool(other.children) for other in nodes[:place])
            name = f"{node.title} {twins + 1}" if twins else node.title
            inside = (*above, Folder(name, node.title))
            if node.page:
                yield Leaf(inside, node.title, node.page, "", node.method)
            yield from _walk(node.children, inside)
        elif node.folder:
            inside = (*above, Folder(node.title, node.title)) if node.title else above
            yield Leaf(inside, folder=node.folder)
        elif node.page or node.href:
            yield Leaf(above, node.title, node.page, "" if node.page else node.href, node.method)


def split_method(title: str, method: str, *, is_api: bool) -> tuple[str, str]:
    """A title without the verb in front of it, and the method; `GET /users` is `/users` and GET in an API reference alone."""
    if not is_api:
        return title, ""
    found = _VERB.match(title)
    if found and method in ("", found[1]):
        return title[found.end() :], found[1]
    return title, method


def build_tree(leaves: Sequence[tuple[Leaf, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The nodes of leaves and the folders above them."""
    top: list[dict[str, Any]] = []
    open_folders: list[tuple[Folder, list[dict[str, Any]]]] = []
    for leaf, shown in leaves:
        common = 0
        while common < min(len(open_folders), len(leaf.folders)) and open_folders[common][0] == leaf.folders[common]:
            common += 1
        del open_folders[common:]
        for folder in leaf.folders[common:]:
            children: list[dict[str, Any]] = []
            siblings = open_folders[-1][1] if open_folders else top
            siblings.append({"name": folder.name, "title": folder.title, "children": children})
            open_folders.append((folder, children))
        (open_folders[-1][1] if open_folders else top).append(shown)
    return top


def folder_title(name: str) -> str:
    """`getting-started` as people write it."""
    words = " ".join(re.split(r"[-_\s]+", name)).strip()
    return words[:1].upper() + words[1:] if words else name
