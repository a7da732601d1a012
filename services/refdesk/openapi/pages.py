"""Makes the pages of a spec: one an operation and an overview, each at a path that stays while the operation does; pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from refdesk.errors import InvalidArgument
from refdesk.openapi.operation_page import show_operation
from refdesk.openapi.prose import nest
from refdesk.openapi.reader import read_spec, version_of
from refdesk.openapi.schema_lines import code
from refdesk.openapi.spec import Operation, Spec, as_list, as_mapping, one_line

OVERVIEW = "overview.md"
WEBHOOKS = "webhooks"
MAX_TOTAL_CHARACTERS = 64 * 1024 * 1024
DESCRIPTION_CHARACTERS = 200_000
MAX_LISTED = 1_000
NAME_CHARACTERS = 100


class Page(NamedTuple):
    """A page of a spec; its path is relative to the spec's. `revision` is a digest of all that is shown."""

    path: str
    title: str
    text: str
    revision: str


class SpecPages(NamedTuple):
    """What a spec was made into."""

    title: str
    version: str
    pages: tuple[Page, ...]


def make_pages(content: bytes) -> SpecPages:
    """The pages of a spec's bytes, in path order. Raises: InvalidArgument that says what is wrong; NoSpec."""
    root = read_spec(content)
    spec = Spec(root, version_of(root))
    paths = place_operations(spec)
    pages = [_page(OVERVIEW, spec.title, show_overview(spec, paths))]
    total = 0
    for operation, path in paths.items():
        text = show_operation(spec, operation)
        total += len(text)
        if total > MAX_TOTAL_CHARACTERS:
            raise InvalidArgument(f"its pages would have more than {MAX_TOTAL_CHARACTERS:,} characters; split it")
        pages.append(_page(path, operation.name, text))
    return SpecPages(spec.title, spec.version, tuple(sorted(pages)))


def place_operations(spec: Spec) -> Mapping[Operation, str]:
    """Each operation's path: the folder of its first tag, then method and path.

    Where two would have the same, the second of them in order of their names bears a digest of its name.
    """
    wanted = _Places()
    for operation in sorted(spec.operations, key=lambda one: (one.is_webhook, one.name)):
        folder = WEBHOOKS if operation.is_webhook else slug(operation.tags[0]) if operation.tags else ""
        wanted.place(operation, f"{folder}/" if folder else "", f"{operation.method}-{slug(operation.path) or 'root'}")
    return {operation: wanted.paths[operation] for operation in spec.operations if operation in wanted.paths}


class _Places:
    """Paths that are taken. A name that comes twice (only a broken spec has it) keeps its first operation."""

    def __init__(self) -> None:
        self.paths: dict[Operation, str] = {}
        self._taken: set[str] = set()

    def place(self, operation: Operation, folder: str, name: str) -> None:
        for ending in ("", "-" + hashlib.sha256(operation.name.encode()).hexdigest()[:8]):
            path = f"{folder}{name}{ending}.md"
            if path not in self._taken:
                self._taken.add(path)
                self.paths[operation] = path
                return


def slug(text: str) -> str:
    """A name for folders and files: letters and digits of any script, in lower case, hyphens between."""
    folded = unicodedata.normalize("NFC", text).casefold()
    joined = unicodedata.normalize("NFC", re.sub(r"[\W_]+", "-", folded)).strip("-")
    if len(joined) <= NAME_CHARACTERS:
        return joined
    return joined[: NAME_CHARACTERS - 9].rstrip("-") + "-" + hashlib.sha256(text.encode()).hexdigest()[:8]


def show_overview(spec: Spec, paths: Mapping[Operation, str]) -> str:
    """The page about the API as a whole."""
    return "\n\n".join(block for block in _overview(spec, paths) if block) + "\n"


def _overview(spec: Spec, paths: Mapping[Operation, str]) -> Iterator[str]:
    yield f"# {spec.title}"
    yield one_line(spec.info.get("summary"), 300)
    yield nest(spec.info.get("description"), 1, DESCRIPTION_CHARACTERS)
    version = one_line(spec.info.get("version"), 100)
    facts = [f"- Version: {code(version)}" if version else "", f"- OpenAPI: {spec.version}"]
    facts += [f"- Server: {code(url)}" for url in spec.servers()[:20]]
    terms = one_line(spec.info.get("termsOfService"), 500)
    facts.append(f"- Terms of service: {terms}" if terms else "")
    yield "\n".join(fact for fact in facts if fact)
    yield from _security(spec)
    yield from _tags(spec)
    yield from _operations(paths)


def _security(spec: Spec) -> Iterator[str]:
    schemes = spec.components("securitySchemes")
    if not schemes:
        return
    yield "## Security"
    lines = []
    for name, given in islice(schemes.items(), 40):
        scheme = as_mapping(spec.references.follow(given).value)
        kind = " ".join(one_line(scheme.get(key), 40) for key in ("type", "scheme") if scheme.get(key))
        place = f", {one_line(scheme.get('name'), 100)} in {one_line(scheme.get('in'), 20)}" if scheme.get("in") else ""
        about = one_line(scheme.get("description"), 600)
        lines.append(f"- {code(name)} ({kind}{place}){': ' + about if about else ''}")
    yield "\n".join(lines)


def _tags(spec: Spec) -> Iterator[str]:
    tags = [as_mapping(one) for one in as_list(spec.root.get("tags"))[:200]]
    lines = [
        f"- {one_line(tag.get('name'), 100)}: {one_line(tag['description'], 600)}"
        for tag in tags
        if tag.get("description")
    ]
    if lines:
        yield "## Tags"
        yield "\n".join(lines)


def _operations(paths: Mapping[Operation, str]) -> Iterator[str]:
    if not paths:
        return
    yield "## Operations"
    lines = []
    for operation in islice(paths, MAX_LISTED):
        about = operation.summary + (" (deprecated)" if operation.raw.get("deprecated") is True else "")
        lines.append(f"- {code(operation.name)}{': ' + about.strip() if about else ''}")
    if len(paths) > MAX_LISTED:
        lines.append(f"- and {len(paths) - MAX_LISTED:,} more")
    yield "\n".join(lines)


def _page(path: str, title: str, text: str) -> Page:
    # JSON can escape halves of characters, and NUL; no text holds them.
    text = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return Page(path, title, text, hashlib.sha256(f"{title}\0{text}".encode()).hexdigest()[:32])
