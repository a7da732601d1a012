"""Parts of a spec that are specs themselves: one operation or one schema with all that it refers to; pure, and counts no tokens.

A slice comes in pieces of text, nearest first, so that whoever counts their tokens can pack as many as fit.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from refdesk.errors import NotFound
from refdesk.openapi.references import pointer_parts, references_in
from refdesk.openapi.spec import METHODS, Operation, Spec, one_line

MAX_VALUES = 100_000
"""Looked through for references."""
MAX_PARTS = 1_000
HEAD_LINES = 8
NAMES_SHOWN = 12
NOTE_TOKENS = 420
"""Kept back for the comment that names what is left out."""
PLACE_TOKENS = 12
"""Of the keys above a part."""
OLD_PLACES = ("definitions", "parameters", "responses", "securityDefinitions")


@dataclass(frozen=True, slots=True)
class Part:
    """A named component: the keys that it stands under, its name, its YAML."""

    place: tuple[str, ...]
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Slice:
    """`head` is text in pieces of some lines; `parts` follow it, the nearest first. What does not fit is named in a comment."""

    head: tuple[str, ...]
    parts: tuple[Part, ...] = ()

    @property
    def texts(self) -> list[str]:
        """What has to be counted for `pack`."""
        return [*self.head, *(part.text for part in self.parts)]

    def pack(self, counts: Sequence[int], room: int) -> str:
        """The slice within `room` tokens; `counts` are those of `texts`, in order."""
        room -= NOTE_TOKENS
        head, fits = [], True
        for piece, count in zip(self.head, counts, strict=False):
            fits = fits and count < room
            if not fits:
                break
            head.append(piece)
            room -= count + 1
        if len(head) < len(self.head):
            return "".join(head) + "# the rest does not fit: raise max_tokens\n"
        taken: list[Part] = []
        left: list[str] = []
        for part, count in zip(self.parts, counts[len(self.head) :], strict=True):
            cost = count + PLACE_TOKENS
            if cost < room:
                taken.append(part)
                room -= cost
            else:
                left.append(part.name)
        return "".join(head) + assemble(taken) + _note(left)


def slice_operation(spec: Spec, name: str) -> Slice:
    """One operation, by `GET /users/{id}` or its operationId. Raises: NotFound with those of similar names."""
    operation = find_operation(spec, name)
    item = {key: value for key, value in operation.item.items() if key not in METHODS or key == operation.method}
    said = spec.security(operation)
    nodes: list[Any] = [item]
    security = {} if said is None or "security" in operation.raw else {"security": said}
    top = {"webhooks" if operation.is_webhook else "paths": {operation.path: item}}
    schemes = [name for one in said or () for name in one]
    return _slice(spec, {**security, **top}, nodes, schemes)


def slice_schema(spec: Spec, name: str) -> Slice:
    """One named schema. Raises: NotFound with those of similar names."""
    schemas = spec.components("schemas")
    if name not in schemas:
        raise NotFound(f'no schema "{one_line(name, 100)}" in this spec{_similar(name, list(schemas))}')
    start = {"$ref": "#/" + "/".join([*_schema_place(spec), name.replace("~", "~0").replace("/", "~1")])}
    return _slice(spec, {}, [start], [])


def find_operation(spec: Spec, name: str) -> Operation:
    """The operation of this name or operationId. Raises: NotFound."""
    method, _, path = name.strip().partition(" ")
    wanted = f"{method.upper()} {path.strip()}"
    for operation in spec.operations:
        if operation.name == wanted or (operation.operation_id and operation.operation_id == name.strip()):
            return operation
    names = [one.name for one in spec.operations] + [one.operation_id for one in spec.operations if one.operation_id]
    raise NotFound(f'no operation "{one_line(name, 100)}" in this spec{_similar(name, names)}')


def assemble(parts: Sequence[Part]) -> str:
    """The parts under their keys, as YAML."""
    lines: list[str] = []
    open_keys: tuple[str, ...] = ()
    for place in dict.fromkeys(part.place for part in parts):
        common = 0
        while common < min(len(place), len(open_keys)) and place[common] == open_keys[common]:
            common += 1
        lines += [f"{'  ' * depth}{place[depth]}:\n" for depth in range(common, len(place))]
        open_keys = place
        lines += [part.text for part in parts if part.place == place]
    return "".join(lines)


def _slice(spec: Spec, top: Mapping[str, Any], nodes: list[Any], schemes: Sequence[str]) -> Slice:
    info = {key: spec.info[key] for key in ("title", "version") if key in spec.info}
    head: dict[str, Any] = {"swagger" if spec.is_old else "openapi": spec.version, "info": info}
    for key in ("servers", "host", "basePath", "schemes", "consumes", "produces"):
        if top and key in spec.root:
            head[key] = spec.root[key]
    lines = dump({**head, **top}).splitlines(keepends=True)
    pieces = ["".join(lines[start : start + HEAD_LINES]) for start in range(0, len(lines), HEAD_LINES)]
    parts = [*_reached(spec, nodes), *_schemes(spec, schemes)]
    return Slice(tuple(pieces), tuple(parts))


def _reached(spec: Spec, nodes: list[Any]) -> Iterator[Part]:
    """The components that nodes refer to, then those that these refer to, and so on."""
    seen: set[tuple[str, ...]] = set()
    waiting = list(nodes)
    while waiting and len(seen) < MAX_PARTS:
        for reference in references_in(waiting.pop(0), MAX_VALUES):
            steps = component_of(spec, reference)
            value = spec.references.find("#/" + "/".join(_escape(step) for step in steps)) if steps else None
            if steps and steps not in seen and value is not None:
                seen.add(steps)
                waiting.append(value)
                yield _part(steps, value)


def component_of(spec: Spec, reference: str) -> tuple[str, ...]:
    """The keys of the component that a reference points at or into; empty where it points at none."""
    steps = tuple(pointer_parts(reference))
    if spec.is_old:
        return steps[:2] if len(steps) >= 2 and steps[0] in OLD_PLACES else ()
    return steps[:3] if len(steps) >= 3 and steps[0] == "components" else ()


def _schemes(spec: Spec, names: Sequence[str]) -> Iterator[Part]:
    schemes = spec.components("securitySchemes")
    place = ("securityDefinitions",) if spec.is_old else ("components", "securitySchemes")
    for name in dict.fromkeys(names):
        if name in schemes:
            yield _part((*place, name), schemes[name])


def _part(steps: tuple[str, ...], value: Any) -> Part:
    indent = "  " * (len(steps) - 1)
    text = "".join(indent + line for line in dump({steps[-1]: value}).splitlines(keepends=True))
    return Part(steps[:-1], steps[-1], text)


def _schema_place(spec: Spec) -> tuple[str, ...]:
    return ("definitions",) if spec.is_old else ("components", "schemas")


def _escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1").replace("%", "%25")


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """A slice is read by itself: what the spec shares is written out."""
        return True


def dump(value: Any) -> str:
    """YAML that readers of 1.1 and 1.2 read alike, in the order as given."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)


def _note(left: Sequence[str]) -> str:
    if not left:
        return ""
    shown = ", ".join(one_line(name, 30) for name in left[:NAMES_SHOWN])
    more = f" and {len(left) - NAMES_SHOWN:,} more" if len(left) > NAMES_SHOWN else ""
    return f"# left out, as it does not fit: {shown}{more}; ask for one with schema, or raise max_tokens\n"


def _similar(name: str, names: Sequence[str]) -> str:
    found = difflib.get_close_matches(name[:200], [one[:200] for one in names[:5_000]], n=5, cutoff=0.4)
    word, shown = ("similar", found) if found else ("it has", names[:NAMES_SHOWN])
    more = f" and {len(names) - NAMES_SHOWN:,} more" if not found and len(names) > NAMES_SHOWN else ""
    return f"; {word}: {', '.join(one_line(one, 100) for one in shown)}{more}" if shown else "; it has none"
