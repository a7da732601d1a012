"""JSON in and out of the HTTP API: bodies read by a model, messages and values written; knows no route."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from refdesk.errors import InvalidArgument

Model = TypeVar("Model", bound=BaseModel)


def read_body(model: type[Model], body: bytes) -> Model:
    """What a body of JSON says. Raises: InvalidArgument naming the first field that is wrong."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise InvalidArgument(f"{where}: {first['msg'][:200].lower()}") from None


def plain(message: Message) -> dict[str, Any]:
    """A message as JSON has it, with every field that is not an absent one."""
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def json_response(value: Any, status: int = 200) -> Response:
    """A value as an answer of JSON."""
    return Response(json.dumps(value) + "\n", status, media_type="application/json")
