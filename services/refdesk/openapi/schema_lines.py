"""Shows a schema as nested list lines of Markdown, its references resolved; bounded, and knows nothing of pages.

A named schema is spelled out once a page; after that, and within itself, it is shown by its name alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from refdesk.openapi.references import References, Target
from refdesk.openapi.spec import as_list, as_mapping, one_line

MAX_LINES = 400
MAX_STEPS = 20_000
MAX_LEVEL = 10
MAX_ALTERNATIVES = 50
MAX_VALUES = 40
DESCRIPTION_CHARACTERS = 600
INDENT = "  "
MORE = "more is left out here: this page is full"
_LIMITS = (
    ("format", "format"), ("pattern", "pattern"), ("minimum", "at least"), ("exclusiveMinimum", "above"), ("maximum", "at most"),
    ("exclusiveMaximum", "below"), ("multipleOf", "a multiple of"), ("minLength", "shortest"), ("maxLength", "longest"),
    ("minItems", "fewest items"), ("maxItems", "most items"), ("minProperties", "fewest properties"),
    ("maxProperties", "most properties"),
)  # fmt: skip
_FLAGS = (
    ("readOnly", "read only"),
    ("writeOnly", "write only"),
    ("uniqueItems", "unique items"),
    ("deprecated", "deprecated"),
)
_ALTERNATIVES = (("oneOf", "One of:"), ("anyOf", "Any of:"))


class SchemaLines:
    """Shows the schemas of one page."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._shown: set[str] = set()
        self._inside: list[str] = []
        self._lines_left = MAX_LINES
        self._steps_left = MAX_STEPS

    def show(self, schema: Any) -> list[str]:
        """A body's schema: what it is, then what it holds."""
        return self._show("", schema, 0, False)

    def show_field(self, name: str, schema: Any, notes: str, description: str) -> list[str]:
        """A parameter or header: `notes` stand before its type, `description` goes before the schema's own."""
        return self._show(name, schema, 0, False, notes, description)

    def _show(
        self, name: str, schema: Any, level: int, is_required: bool, notes: str = "", description: str = ""
    ) -> list[str]:
        if self._lines_left <= 0 or self._steps_left <= 0:
            return []
        self._lines_left -= 1
        target = self._references.follow(schema)
        inner = self._flatten(target.value, 0)
        words = [notes, self.kind(schema), "required" if is_required else "", *_details(inner)]
        if target.problem:
            words.append(target.problem)
        words.append(remark := self._why_not_inside(target, inner, level + 1))
        facts = ", ".join(word for word in words if word)
        label = (f"{code(name)} ({facts})" if facts else code(name)) if name else facts or "anything"
        description = one_line(description or inner.get("description") or inner.get("title"), DESCRIPTION_CHARACTERS)
        line = f"{INDENT * level}- {label}{': ' + description if description else ''}"
        if self._lines_left <= 0:
            return [line, f"{INDENT * level}- ({MORE})"]
        return [line] if remark else [line, *self._show_inside(target, inner, level + 1)]

    def _why_not_inside(self, target: Target, schema: Mapping[str, Any], level: int) -> str:
        """Why what a schema holds is not spelled out here; empty where it is, or there is nothing."""
        if not _has_inside(schema):
            return ""
        if target.pointer and target.pointer in self._inside:
            return "this one again, within itself"
        if target.pointer and target.pointer in self._shown:
            return "as shown above"
        return "nested deeper than is shown" if level > MAX_LEVEL else ""

    def _show_inside(self, target: Target, schema: Mapping[str, Any], level: int) -> list[str]:
        """The properties, items and alternatives of a schema."""
        if not _has_inside(schema):
            return []
        if target.pointer:
            self._shown.add(target.pointer)
        self._inside.append(target.pointer)
        lines = [line for one in self._parts(schema, level) for line in one]
        self._inside.pop()
        return lines

    def _parts(self, schema: Mapping[str, Any], level: int) -> Iterator[list[str]]:
        required = {one for one in as_list(schema.get("required")) if isinstance(one, str)}
        for name, inner in as_mapping(schema.get("properties")).items():
            if self._lines_left <= 0:
                return
            yield self._show(name, inner, level, name in required)
        for name, inner in as_mapping(schema.get("patternProperties")).items():
            yield self._show(f"/{name}/", inner, level, False, "names that match")
        if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
            yield self._show("*", schema["additionalProperties"], level, False, "any other name")
        for place, inner in enumerate(as_list(schema.get("prefixItems"))[:MAX_ALTERNATIVES]):
            yield self._show(f"[{place}]", inner, level, False)
        if isinstance(schema.get("items"), dict):
            yield from self._items(schema["items"], level)
        for key, label in _ALTERNATIVES:
            if as_list(schema.get(key)):
                yield [f"{INDENT * level}- {label}"]
                for inner in schema[key][:MAX_ALTERNATIVES]:
                    yield self._show("", inner, level + 1, False)
        if isinstance(schema.get("not"), dict):
            yield [f"{INDENT * level}- Not:"]
            yield self._show("", schema["not"], level + 1, False)

    def _items(self, items: Any, level: int) -> Iterator[list[str]]:
        """What an array holds, without a line of its own where its name says it all."""
        target = self._references.follow(items)
        inner = self._flatten(target.value, 0)
        said = as_mapping(inner.get("items")) or inner.get("description") or target.problem or list(_details(inner))
        if said or self._why_not_inside(target, inner, level):
            yield self._show("", items, level, False, "each")
        else:
            yield self._show_inside(target, inner, level)

    def kind(self, schema: Any, depth: int = 0) -> str:
        """What a schema is, in few words: `array of Pet`."""
        if schema is True or schema == {}:
            return "anything"
        if schema is False:
            return "nothing"
        target = self._references.follow(schema)
        inner = self._flatten(target.value, 0)
        plain = self._plain_kind(inner, depth)
        if not target.name:
            return plain
        return code(target.name) + (f" ({plain})" if plain not in ("", "object") else "")

    def _plain_kind(self, inner: Mapping[str, Any], depth: int) -> str:
        said = inner.get("type")
        kinds = [one_line(one, 40) for one in (said if isinstance(said, list) else [said])]
        if inner.get("nullable") is True and "null" not in kinds:
            kinds.append("null")
        words = [kind for kind in dict.fromkeys(kinds) if kind] or [_guess(inner)]
        if "array" in words and depth < 3 and isinstance(inner.get("items"), (dict, bool)):
            words[words.index("array")] = f"array of {self.kind(inner['items'], depth + 1)}"
        return " or ".join(word for word in words if word)

    def _flatten(self, schema: Any, depth: int) -> dict[str, Any]:
        """A schema with those of its allOf taken in: properties and required names together, else the first that says it."""
        self._steps_left -= 1
        if not isinstance(schema, dict) or self._steps_left <= 0:
            return {}
        parts = as_list(schema.get("allOf"))
        if not parts or depth > MAX_LEVEL:
            return schema
        flat = {key: value for key, value in schema.items() if key != "allOf"}
        flat["properties"] = dict(as_mapping(schema.get("properties")))
        flat["required"] = list(as_list(schema.get("required")))
        for part in parts[:MAX_ALTERNATIVES]:
            inner = self._flatten(self._references.follow(part).value, depth + 1)
            for name, value in as_mapping(inner.get("properties")).items():
                flat["properties"].setdefault(name, value)
            flat["required"] += as_list(inner.get("required"))
            for key, value in inner.items():
                if key not in ("properties", "required", "allOf"):
                    flat.setdefault(key, value)
        return flat


def _has_inside(schema: Mapping[str, Any]) -> bool:
    keys = ("properties", "patternProperties", "prefixItems", "oneOf", "anyOf")
    return any(schema.get(key) for key in keys) or any(
        isinstance(schema.get(key), dict) and schema[key] for key in ("items", "additionalProperties", "not")
    )


def _details(schema: Mapping[str, Any]) -> Iterator[str]:
    for key, word in _LIMITS:
        value = schema.get(key)
        if value is not None and value is not True and value is not False and not isinstance(value, (dict, list)):
            yield f"{word} {code(one_line(value, 200))}"
    for key, word in _FLAGS:
        if schema.get(key) is True:
            yield word
    if "const" in schema:
        yield f"always {_value(schema['const'])}"
    values = as_list(schema.get("enum"))
    if values:
        more = f" and {len(values) - MAX_VALUES:,} more" if len(values) > MAX_VALUES else ""
        yield "one of " + ", ".join(_value(value) for value in values[:MAX_VALUES]) + more
    if "default" in schema:
        yield f"default {_value(schema['default'])}"
    example = schema.get("example", next(iter(as_list(schema.get("examples"))), None))
    if example is not None and not isinstance(example, (dict, list)):
        yield f"e.g. {_value(example)}"
    about = one_line(as_mapping(schema.get("discriminator")).get("propertyName"), 100)
    if about or isinstance(schema.get("discriminator"), str):
        yield f"told apart by {code(about or one_line(schema['discriminator'], 100))}"


def _guess(schema: Mapping[str, Any]) -> str:
    if any(schema.get(key) for key in ("properties", "additionalProperties", "patternProperties")):
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else ""


def _value(value: Any) -> str:
    return code(one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), 120))


def code(text: str) -> str:
    """A code span that holds whatever the text has."""
    text = one_line(text, 300)
    if "`" not in text:
        return f"`{text}`" if text else ""
    ticks = "`" * (max(map(len, "".join(one if one == "`" else " " for one in text).split())) + 1)
    return f"{ticks} {text} {ticks}"
