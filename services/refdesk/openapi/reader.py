"""Reads the bytes of a file as an OpenAPI spec within bounds, and tells without reading whether they may be one; pure."""

from __future__ import annotations

import json
import re
from typing import Any

from refdesk.errors import InvalidArgument
from refdesk.openapi.yaml_text import MAX_DEPTH, MAX_DIGITS, MAX_NODES, read_yaml

MAX_BYTES = 16 * 1024 * 1024
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_KEY = re.compile(rb"""(?:^|\n)\xef?\xbb?\xbf?(?:openapi|swagger)[ \t]*:|["'](?:openapi|swagger)["']\s*:""")


class NoSpec(InvalidArgument):
    """It may be valid, but has neither `openapi` nor `swagger` at its top."""


def may_be_spec(content: bytes) -> bool:
    """Whether a look at the bytes finds one of the two keys, at the start of a line or as JSON writes them."""
    return _KEY.search(content) is not None


def read_spec(content: bytes) -> dict[str, Any]:
    """The spec as plain data: YAML 1.2 or JSON. Raises: InvalidArgument that says what is wrong; NoSpec."""
    if len(content) > MAX_BYTES:
        raise InvalidArgument(f"it has {len(content):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"it is not UTF-8 at byte {error.start}") from None
    root = _read_json(text) if text.lstrip()[:1] == "{" else read_yaml(text)
    if not isinstance(root, dict) or not (version_of(root)):
        raise NoSpec("it is no OpenAPI spec: it has no openapi or swagger with a version at its top")
    version = version_of(root)
    if not re.fullmatch(r"2\.0|3\.[012](\.\d+)?(-.{1,20})?", version):
        raise InvalidArgument(f"it is of version {version[:20]}; 2.0 and 3.0 to 3.2 are read")
    return root


def version_of(root: dict[str, Any]) -> str:
    """The version of OpenAPI that a spec states; empty where it states none."""
    found = root.get("openapi", root.get("swagger"))
    # `swagger: 2.0` without quotes is a number, and a common slip.
    return str(found) if isinstance(found, (str, float, int)) and not isinstance(found, bool) else ""


def _read_json(text: str) -> Any:
    try:
        root = json.loads(text, parse_int=_integer, parse_constant=str)
    except json.JSONDecodeError as error:
        return _read_flow(text, error)
    except RecursionError:
        raise InvalidArgument(f"it is nested more than {MAX_DEPTH} deep") from None
    _check(root)
    if _SURROGATE.search(text):  # halves of characters, which no text may hold; whole pairs are characters by now
        root = json.loads(json.dumps(root, ensure_ascii=False).encode("utf-8", "replace"))
    return root


def _read_flow(text: str, error: json.JSONDecodeError) -> Any:
    """A brace may also begin YAML; what is neither is told as JSON is."""
    try:
        return read_yaml(text)
    except InvalidArgument:
        raise InvalidArgument(f"it is not valid JSON: line {error.lineno}: {error.msg.lower()}") from None


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= MAX_DIGITS else text


def _check(root: Any) -> None:
    nodes = 0
    level = [root]
    for depth in range(MAX_DEPTH + 1):
        nodes += len(level)
        if nodes > MAX_NODES:
            raise InvalidArgument(f"it has more than {MAX_NODES:,} values")
        level = [
            child
            for one in level
            if isinstance(one, (dict, list))
            for child in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
        if depth == MAX_DEPTH:
            raise InvalidArgument(f"it is nested more than {MAX_DEPTH} deep")
