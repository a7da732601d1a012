"""A spec as its operations, whichever version it is of; pure, and knows nothing of how they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from refdesk.errors import InvalidArgument
from refdesk.openapi.references import References

METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
MAX_OPERATIONS = 5_000


@dataclass(frozen=True, eq=False)
class Operation:
    """One method of one path, or of one webhook. `raw` is as written, `item` the path item it stands in."""

    method: str
    path: str
    raw: Mapping[str, Any]
    item: Mapping[str, Any]
    is_webhook: bool = False

    @property
    def name(self) -> str:
        """`GET /users/{id}`; of a webhook `POST orderPlaced`."""
        return f"{self.method.upper()} {self.path}"

    @property
    def operation_id(self) -> str:
        """As written; empty where it has none."""
        return one_line(self.raw.get("operationId"), 200)

    @property
    def tags(self) -> tuple[str, ...]:
        """In their order."""
        return tuple(dict.fromkeys(tag for one in as_list(self.raw.get("tags")) if (tag := one_line(one, 100))))

    @property
    def summary(self) -> str:
        """One line, its own before the path's; maybe empty."""
        return one_line(self.raw.get("summary") or self.item.get("summary"), 300)


class Spec:
    """A spec that was read. Raises: InvalidArgument for one with too many operations."""

    def __init__(self, root: dict[str, Any], version: str) -> None:
        self.root = root
        self.version = version
        self.references = References(root)

    @property
    def is_old(self) -> bool:
        """Whether it is of version 2.0."""
        return self.version.startswith("2")

    @cached_property
    def info(self) -> Mapping[str, Any]:
        """Its `info`."""
        return as_mapping(self.root.get("info"))

    @property
    def title(self) -> str:
        """One line."""
        return one_line(self.info.get("title"), 200) or "API"

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """Of its paths, then of its webhooks, as written."""
        found = []
        for operation in self._walk():
            found.append(operation)
            if len(found) > MAX_OPERATIONS:
                raise InvalidArgument(f"it has more than {MAX_OPERATIONS:,} operations; split it")
        return tuple(found)

    def components(self, kind: str) -> Mapping[str, Any]:
        """Named parts: `schemas`, `securitySchemes`, by version 3's name of the kind."""
        if self.is_old:
            return as_mapping(
                self.root.get({"schemas": "definitions", "securitySchemes": "securityDefinitions"}.get(kind, kind))
            )
        return as_mapping(as_mapping(self.root.get("components")).get(kind))

    def servers(self, operation: Operation | None = None) -> list[str]:
        """Base addresses as written, an operation's own before the path's before the spec's."""
        if self.is_old:
            host, base = one_line(self.root.get("host"), 300), one_line(self.root.get("basePath"), 300)
            schemes = [one_line(one, 10) for one in as_list(self.root.get("schemes"))] or ["https"]
            return [f"{scheme}://{host}{base}" for scheme in schemes] if host else ([base] if base else [])
        owners = (operation.raw, operation.item, self.root) if operation else (self.root,)
        for owner in owners:
            urls = [url for one in as_list(owner.get("servers")) if (url := one_line(as_mapping(one).get("url"), 300))]
            if urls:
                return urls
        return []

    def parameters(self, operation: Operation) -> list[Mapping[str, Any]]:
        """An operation's, references followed; its own replace the path's of the same name and place."""
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        for one in (*as_list(operation.item.get("parameters")), *as_list(operation.raw.get("parameters"))):
            target = self.references.follow(one)
            parameter = dict(as_mapping(target.value))
            if target.problem:
                parameter.update(name=target.name, problem=target.problem)
            found[one_line(parameter.get("name"), 200), one_line(parameter.get("in"), 20)] = parameter
        return list(found.values())

    def security(self, operation: Operation) -> list[Mapping[str, Any]] | None:
        """Alternatives of schemes with their scopes; None where nothing is said."""
        said = operation.raw.get("security", self.root.get("security"))
        return [as_mapping(one) for one in said] if isinstance(said, list) else None

    def _walk(self) -> Iterator[Operation]:
        for key, is_webhook in (("paths", False), ("webhooks", True)):
            for path, given in as_mapping(self.root.get(key)).items():
                item = as_mapping(self.references.follow(given).value)
                if path.startswith("x-") and not is_webhook:
                    continue
                for method in METHODS:
                    if isinstance(item.get(method), dict):
                        yield Operation(method, one_line(path, 500), item[method], item, is_webhook)


def as_mapping(value: Any) -> Mapping[str, Any]:
    """A mapping as it is; anything else, which a spec may hold by mistake, as an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The same of lists."""
    return value if isinstance(value, list) else []


def one_line(value: Any, most: int) -> str:
    """A text or number on one line, at most `most` characters; anything else is empty."""
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return ""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in str(value)[: 4 * most]).split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
