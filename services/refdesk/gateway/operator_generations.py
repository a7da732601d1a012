"""The operator API's paths for generations: list, build, switch, roll back, drop, compare; knows nothing of how any of it is done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.api.ingest.v1.ingest_protocol import Ingest
from refdesk.errors import InvalidArgument
from refdesk.gateway.bodies import json_response, plain
from refdesk.gateway.comparing import Compared, Comparison

MOST_CHUNKERS = 1_000_000


def generation_routes(ingest: Ingest, comparison: Comparison, prefix: str) -> list[Route]:
    """Below `<prefix>/projects/{project}/generations`."""

    async def list_all(request: Request) -> Response:
        return json_response(plain(await ingest.list_generations(pb.ListGenerationsRequest(project=_project(request)))))

    async def build(request: Request) -> Response:
        asked = request.query_params
        wanted = pb.BuildGenerationRequest(
            project=_project(request),
            model_id=asked.get("model", ""),
            chunker_version=_read_number(asked.get("chunker", "") or "0"),
            hold_switch=asked.get("hold", "") == "true",
        )
        return json_response(plain(await ingest.build_generation(wanted)))

    async def switch(request: Request) -> Response:
        wanted = pb.SwitchGenerationRequest(project=_project(request), generation=_generation(request))
        return json_response(plain(await ingest.switch_generation(wanted)))

    async def roll_back(request: Request) -> Response:
        return json_response(
            plain(await ingest.roll_back_generation(pb.RollBackGenerationRequest(project=_project(request))))
        )

    async def drop(request: Request) -> Response:
        wanted = pb.DropGenerationRequest(project=_project(request), generation=_generation(request))
        return json_response(plain(await ingest.drop_generation(wanted)))

    async def compare(request: Request) -> Response:
        questions = _read_questions(await request.body())
        live, other, compared = await comparison.run(_project(request), _generation(request), questions)
        return json_response({"live": live, "other": other, "questions": [_describe(one) for one in compared]})

    folder = f"{prefix}/projects/{{project}}/generations"
    posts = {"switch": switch, "rollback": roll_back, "drop": drop, "compare": compare}
    return [
        Route(folder, list_all),
        Route(f"{folder}/build", build, methods=["POST"]),
        *(Route(f"{folder}/{name}", endpoint, methods=["POST"]) for name, endpoint in posts.items()),
    ]


def _project(request: Request) -> str:
    return str(request.path_params["project"])


def _generation(request: Request) -> str:
    return request.query_params.get("generation", "")


def _read_number(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_CHUNKERS:
        raise InvalidArgument(f"chunker {text[:20]!r} is not a number")
    return int(text)


def _read_questions(body: bytes) -> Sequence[str]:
    try:
        questions = json.loads(body)["questions"]
    except (ValueError, KeyError, TypeError):
        questions = None
    if not isinstance(questions, list) or not all(isinstance(one, str) for one in questions):
        raise InvalidArgument('the body must be JSON: {"questions": ["…", "…"]}')
    return questions


def _describe(compared: Compared) -> dict[str, Any]:
    return {**asdict(compared), "overlap": compared.overlap}
