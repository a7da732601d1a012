"""Looks at a POSTed body before the SDK does, so that what is wrong with it is said in our own words; knows no method."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

PARSE_ERROR, INVALID_REQUEST, SERVER_ERROR = -32700, -32600, -32000


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a body: JSON-RPC code and one line, and the id of the request where it can be told."""

    code: int
    message: str
    request_id: str | int | None = None


def read_message(body: bytes) -> dict[str, Any] | Flaw:
    """One JSON-RPC request or notification without flaws, else the first flaw."""
    try:
        message = from_json(body)
    except ValueError:
        return Flaw(PARSE_ERROR, "the body is not JSON")
    if not isinstance(message, dict):
        return Flaw(INVALID_REQUEST, "the body must be one JSON-RPC object: send batches one by one")
    request_id = message.get("id")
    if "id" in message and (not isinstance(request_id, (str, int)) or isinstance(request_id, bool)):
        return Flaw(INVALID_REQUEST, "id must be a text or an integer")
    return _flaw_of(message, request_id) or message


def read_id(body: bytes) -> str | int | None:
    """The id of the request in a body; None where there is none, or no request."""
    message = read_message(body) if body else None
    return message.request_id if isinstance(message, Flaw) else message.get("id") if message else None


def error_body(code: int, message: str, request_id: str | int | None) -> bytes:
    """A JSON-RPC error as bytes; an id that is not known is null."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}).encode()


def _flaw_of(message: dict[str, Any], request_id: str | int | None) -> Flaw | None:
    if message.get("jsonrpc") != "2.0":
        return Flaw(INVALID_REQUEST, 'jsonrpc must be "2.0"', request_id)
    if not isinstance(message.get("method"), str):
        return Flaw(
            INVALID_REQUEST, "method must be a text: this server asks nothing, so it takes no answers", request_id
        )
    params = message.get("params")
    if params is not None and not isinstance(params, dict):
        return Flaw(INVALID_REQUEST, "params must be an object", request_id)
    return None
