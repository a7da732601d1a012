"""Menus in YAML: our own form, and the `nav` of an mkdocs.yml; knows nothing of which pages exist.

Nodes are composed, never constructed: every scalar is the text that was written, tags mean nothing, and an alias is not copied.
"""

from __future__ import annotations

import posixpath

import yaml

from refdesk.errors import InvalidArgument
from refdesk.ingest.formats.navigation import Budget, Entry, check_size, entry_of, folder_path

MAX_DEPTH = 40
MAX_ALIASES = 64
KEYS = ("title", "page", "href", "children", "method", "icon", "folder")


def read_menu(content: bytes, name: str, root: str) -> tuple[Entry, ...]:
    """A list of entries, each a page's path or a mapping of KEYS. Raises: InvalidArgument that says what is wrong."""
    top = _compose(content, name)
    budget = Budget(name)
    if not isinstance(top, yaml.SequenceNode):
        raise InvalidArgument(f"menu {name} must be a list of entries")
    return tuple(_entry(node, name, root, budget, 1) for node in top.value)


def read_mkdocs(content: bytes, name: str, root: str | None) -> tuple[Entry, ...]:
    """The nav of an mkdocs.yml; pages are under its docs_dir where no root is given. Raises: InvalidArgument."""
    top = _compose(content, name)
    if not isinstance(top, yaml.MappingNode):
        raise InvalidArgument(f"menu {name} is no mkdocs.yml: it must be a mapping")
    fields = _fields(top)
    if root is None:
        docs = fields.get("docs_dir")
        folder = docs.value if isinstance(docs, yaml.ScalarNode) else "docs"
        root = posixpath.join(posixpath.dirname(name), folder)
    nav = fields.get("nav")
    if nav is None:
        return ()
    if not isinstance(nav, yaml.SequenceNode):
        raise InvalidArgument(f"nav of {name} must be a list")
    budget = Budget(name)
    return tuple(entry for node in nav.value for entry in _nav(node, name, root, budget, 1))


def _compose(content: bytes, name: str) -> yaml.Node | None:
    text = check_size(content, name)
    try:
        _check_events(text, name)
        return yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark is not None else ""
        raise InvalidArgument(f"menu {name} is not valid YAML: {line}{error.problem or 'it cannot be read'}") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise InvalidArgument(f"menu {name} is not valid YAML") from None


def _check_events(text: str, name: str) -> None:
    """Before anything is built: composing goes as deep as the text does."""
    depth = aliases = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
        if depth > MAX_DEPTH:
            raise InvalidArgument(f"menu {name} is nested more than {MAX_DEPTH} deep")
        if aliases > MAX_ALIASES:
            raise InvalidArgument(f"menu {name} has more than {MAX_ALIASES} aliases")


def _fields(node: yaml.MappingNode) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _entry(node: yaml.Node, name: str, root: str, budget: Budget, level: int) -> Entry:
    budget.enter(level)
    if isinstance(node, yaml.ScalarNode):
        return entry_of("", node.value, root=root)
    place = f"menu {name}, line {node.start_mark.line + 1}"
    if not isinstance(node, yaml.MappingNode):
        raise InvalidArgument(f"{place}: an entry is a page's path, or a mapping with {', '.join(KEYS)}")
    fields = _fields(node)
    for key, value in fields.items():
        if key not in KEYS:
            raise InvalidArgument(f'{place}: an entry has no "{key[:40]}"; valid: {", ".join(KEYS)}')
        if isinstance(value, yaml.SequenceNode) != (key == "children") or isinstance(value, yaml.MappingNode):
            raise InvalidArgument(f"{place}: {key} must be {'a list' if key == 'children' else 'a text'}")
    given = {key: value.value for key, value in fields.items() if isinstance(value, yaml.ScalarNode)}
    nodes = fields["children"].value if "children" in fields else ()
    children = tuple(_entry(child, name, root, budget, level + 1) for child in nodes)
    icon = given.get("method") or given.get("icon", "")
    if "folder" in given:
        return Entry(title=given.get("title", ""), folder=folder_path(given["folder"], root))
    return entry_of(given.get("title", ""), given.get("page") or given.get("href", ""), children, root=root, icon=icon)


def _nav(node: yaml.Node, name: str, root: str, budget: Budget, level: int) -> list[Entry]:
    """A nav item: a path, or one or more titles with a path or a list."""
    budget.enter(level)
    if isinstance(node, yaml.ScalarNode):
        return [entry_of("", node.value, root=root)]
    if not isinstance(node, yaml.MappingNode):
        raise InvalidArgument(f"nav of {name}, line {node.start_mark.line + 1}: an item is a path, or a title with one")
    entries = []
    for title, value in _fields(node).items():
        if isinstance(value, yaml.SequenceNode):
            children = [entry for child in value.value for entry in _nav(child, name, root, budget, level + 1)]
            entries.append(entry_of(title, "", tuple(children)))
        elif isinstance(value, yaml.ScalarNode):
            entries.append(entry_of(title, value.value, root=root))
    return entries
