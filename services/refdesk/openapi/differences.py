"""What differs between two specs, by operation and by schema, with all that they refer to; pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from refdesk.openapi.references import references_in
from refdesk.openapi.schema_lines import code
from refdesk.openapi.slices import MAX_PARTS, MAX_VALUES, Slice, component_of
from refdesk.openapi.spec import Operation, Spec, as_mapping, one_line

ASPECTS = ("parameters", "requestBody", "security", "deprecated", "tags", "operationId", "summary", "description")
NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Changed:
    """An operation that is in both and not the same: which aspects differ, and which of the components that it refers to."""

    name: str
    aspects: tuple[str, ...]
    components: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Names of operations and schemas; `added` and `added_schemas` are in the new one alone."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Changed, ...]
    unchanged_count: int
    added_schemas: tuple[str, ...]
    removed_schemas: tuple[str, ...]
    changed_schemas: tuple[str, ...]


def compare_specs(old: Spec, new: Spec) -> Difference:
    """What has become of the old one's operations and schemas."""
    before, after = _Side(old), _Side(new)
    both = [name for name in after.operations if name in before.operations]
    changed = [one for name in both if (one := _compare(name, before, after))]
    old_schemas, new_schemas = old.components("schemas"), new.components("schemas")
    return Difference(
        added=tuple(name for name in after.operations if name not in before.operations),
        removed=tuple(name for name in before.operations if name not in after.operations),
        changed=tuple(changed),
        unchanged_count=len(both) - len(changed),
        added_schemas=tuple(name for name in new_schemas if name not in old_schemas),
        removed_schemas=tuple(name for name in old_schemas if name not in new_schemas),
        changed_schemas=tuple(
            name
            for name in new_schemas
            if name in old_schemas and digest(new_schemas[name]) != digest(old_schemas[name])
        ),
    )


def show_difference(old: Spec, new: Spec) -> Slice:
    """The difference as Markdown, a piece a line."""
    return Slice(tuple(f"{line}\n" for line in _lines(old, new, compare_specs(old, new))))


def _lines(old: Spec, new: Spec, found: Difference) -> Iterator[str]:
    yield f"# From {_label(old)} to {_label(new)}"
    yield ""
    yield (
        f"Operations: {len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed, "
        f"{found.unchanged_count} unchanged."
    )
    after = _Side(new)
    for title, names in (("Removed", found.removed), ("Added", found.added)):
        if names:
            yield f"\n## {title} operations\n"
        for name in names:
            about = after.operations[name].summary if name in after.operations else ""
            yield f"- {code(name)}{': ' + about if about else ''}"
    if found.changed:
        yield "\n## Changed operations\n"
    for one in found.changed:
        through = f"; through {_names(one.components)}" if one.components else ""
        yield f"- {code(one.name)}: {', '.join(one.aspects)}{through}"
    schemas = (
        ("Removed", found.removed_schemas),
        ("Added", found.added_schemas),
        ("Changed", found.changed_schemas),
    )
    for title, names in schemas:
        if names:
            yield f"\n## {title} schemas\n"
            yield from (f"- {code(name)}" for name in names)


def _label(spec: Spec) -> str:
    return f"{spec.title} {one_line(spec.info.get('version'), 60)}".strip()


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(map(code, names[:NAMES_SHOWN])) + more


class _Side:
    """One of the two specs; what is reached from a component is looked for once."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.operations: Mapping[str, Operation] = {one.name: one for one in reversed(spec.operations)}
        self.operations = {one.name: self.operations[one.name] for one in spec.operations}
        self.direct = lru_cache(maxsize=None)(self._direct)
        self.digest_of = lru_cache(maxsize=None)(self._digest_of)

    def _direct(self, steps: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        return self.references(self._value(steps))

    def _digest_of(self, steps: tuple[str, ...]) -> str:
        return digest(self._value(steps))

    def references(self, node: Any) -> tuple[tuple[str, ...], ...]:
        """The components that a node refers to itself."""
        found = (component_of(self.spec, reference) for reference in references_in(node, MAX_VALUES))
        return tuple(dict.fromkeys(steps for steps in found if steps))

    def reached(self, node: Any) -> dict[tuple[str, ...], str]:
        """The digests of all components that a node refers to, directly or through others."""
        waiting = list(self.references(node))
        reached: dict[tuple[str, ...], str] = {}
        while waiting and len(reached) < MAX_PARTS:
            steps = waiting.pop()
            if steps not in reached:
                reached[steps] = self.digest_of(steps)
                waiting.extend(self.direct(steps))
        return reached

    def aspects(self, name: str) -> dict[str, Any]:
        """What of an operation is compared, in the order in which it is told."""
        operation = self.operations[name]
        raw = operation.raw
        found: dict[str, Any] = {key: raw.get(key) for key in ASPECTS}
        found["parameters"] = [operation.item.get("parameters"), raw.get("parameters")]
        found["security"] = self.spec.security(operation)
        for status, response in as_mapping(raw.get("responses")).items():
            found[f"response {one_line(status, 20)}"] = response
        return found

    def _value(self, steps: tuple[str, ...]) -> Any:
        node: Any = self.spec.root
        for step in steps:
            node = as_mapping(node).get(step)
        return node


def _compare(name: str, before: _Side, after: _Side) -> Changed | None:
    old, new = before.aspects(name), after.aspects(name)
    aspects: list[str] = []
    components: dict[str, None] = {}
    for key in dict.fromkeys((*old, *new)):
        reached_before, reached_after = before.reached(old.get(key)), after.reached(new.get(key))
        differing = [
            steps
            for steps in dict.fromkeys((*reached_before, *reached_after))
            if reached_before.get(steps) != reached_after.get(steps)
        ]
        if differing or digest(old.get(key)) != digest(new.get(key)):
            how = " added" if key not in old else " removed" if key not in new else ""
            aspects.append(key + how)
            components.update(dict.fromkeys(steps[-1] for steps in differing))
    return Changed(name, tuple(aspects), tuple(components)) if aspects else None


def digest(value: Any) -> str:
    """Of a value whatever the order of its keys."""
    written = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()
