"""The operator API's routes for what was called: rows, searches that found nothing, denied attempts."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.json_format import MessageToDict
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument
from refdesk.gateway.bodies import json_response

SELECTIONS = {
    "calls": pb.CALL_SELECTION_UNSPECIFIED,
    "zero-results": pb.CALL_SELECTION_FOUND_NOTHING,
    "denied": pb.CALL_SELECTION_DENIED,
}
DAY_MILLISECONDS = 86_400_000
MOST_ROWS = 10_000
QUERIES = ("query", "plan", "searches")
"""Arguments that say what was searched for."""


def call_routes(docstore: Docstore, prefix: str) -> list[Route]:
    """GET /projects/{project}/log/{what} and, for denied attempts that belong to no project, GET /log/denied; `days` and `limit`."""

    async def read(request: Request) -> Response:
        what = request.path_params.get("what", "denied")
        if what not in SELECTIONS:
            raise InvalidArgument(f"{what[:40]} is no report; valid: {', '.join(SELECTIONS)}")
        days, limit = _number(request, "days", 30, 3650), _number(request, "limit", 1000, MOST_ROWS)
        asked = pb.ListCallsRequest(
            project=request.path_params.get("project", ""),
            selection=SELECTIONS[what],
            since_milliseconds=time.time_ns() // 1_000_000 - days * DAY_MILLISECONDS,
            limit=limit,
        )
        calls = (await docstore.list_calls(asked)).calls
        body: dict[str, Any] = {"calls": [MessageToDict(call, preserving_proto_field_name=True) for call in calls]}
        if what != "calls":
            body["counts"] = count(calls, _searched_for if what == "zero-results" else _attempt)
        return json_response(body)

    return [Route(f"{prefix}/projects/{{project}}/log/{{what}}", read), Route(f"{prefix}/log/denied", read)]


def count(calls: Sequence[pb.CallRecord], name: Callable[[pb.CallRecord], str]) -> list[dict[str, Any]]:
    """How often each came, the most frequent first, and when last; `calls` are the newest first."""
    names = [name(call) for call in calls]
    last = {one: call.at_milliseconds for one, call in reversed(list(zip(names, calls, strict=True)))}
    return [
        {"what": one, "count": times, "last_milliseconds": last[one]} for one, times in Counter(names).most_common()
    ]


def _searched_for(call: pb.CallRecord) -> str:
    try:
        inputs = json.loads(call.inputs)
    except ValueError:  # cut
        return call.inputs[:200]
    found = next((inputs[name] for name in QUERIES if inputs.get(name)), "")
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return " ".join(text.split()).casefold()[:200]


def _attempt(call: pb.CallRecord) -> str:
    return f"{call.denied} {call.key_id or 'no key'}"


def _number(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name, str(default))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise InvalidArgument(f"{name} is a whole number from 1 to {most:,}")
    return int(text)
