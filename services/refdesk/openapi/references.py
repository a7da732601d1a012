"""Follows references within a spec, keeping what stands beside them; never fetches anything: what lies elsewhere is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

MAX_HOPS = 32
NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference leads to. `name` is what it calls it, empty where there was no reference; `problem` says why there is nothing."""

    value: Any
    name: str = ""
    pointer: str = ""
    problem: str = ""


class References:
    """The references of one spec."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def follow(self, node: Any) -> Target:
        """What a node is, with its references followed; siblings of a reference go before what it leads to."""
        name = pointer = ""
        siblings: dict[str, Any] = {}
        for _ in range(MAX_HOPS):
            reference = node.get("$ref") if isinstance(node, dict) else None
            if not isinstance(reference, str):
                value = {**node, **siblings} if siblings and isinstance(node, dict) else node
                return Target(value, name, pointer)
            siblings = {**{key: value for key, value in node.items() if key != "$ref"}, **siblings}
            name = name or name_of(reference)
            pointer = reference
            if not reference.startswith("#"):
                shown = " ".join(reference.split())[:NAME_CHARACTERS]
                return Target(siblings, name, reference, f"defined elsewhere, in {shown}")
            found = self.find(reference)
            if found is None:
                return Target(siblings, name, reference, "not defined in this spec")
            node = found
        return Target(siblings, name, pointer, "a reference to itself")

    def find(self, reference: str) -> Any:
        """What a local reference (`#/a/b`) points at; None where nothing is there."""
        node = self._root
        for part in pointer_parts(reference):
            if isinstance(node, dict) and part in node:
                node = node[part]
            elif (
                isinstance(node, list)
                and part.isascii()
                and part.isdecimal()
                and len(part) < 9
                and int(part) < len(node)
            ):
                node = node[int(part)]
            else:
                return None
        return node


def pointer_parts(reference: str) -> list[str]:
    """The steps of a JSON pointer in a fragment; an anchor's name is a step that leads nowhere."""
    fragment = reference.removeprefix("#")
    if not fragment:
        return []
    steps = fragment.split("/")
    if steps[0]:
        return [fragment, ""]
    return [unquote(step).replace("~1", "/").replace("~0", "~") for step in steps[1:]]


def name_of(reference: str) -> str:
    """What people call the target: the last step, of a whole file its name."""
    last = unquote(reference.rstrip("/").rpartition("/")[2]).replace("~1", "/").replace("~0", "~").lstrip("#")
    return " ".join(last.split())[:NAME_CHARACTERS] or "#"


def references_in(node: Any, most: int) -> Iterator[str]:
    """The local references below a node, nearest first, within `most` values."""
    level = [node]
    while level and most > 0:
        below: list[Any] = []
        for one in level:
            most -= 1
            if isinstance(one, dict):
                reference = one.get("$ref")
                if isinstance(reference, str) and reference.startswith("#"):
                    yield reference
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one)
        level = below
