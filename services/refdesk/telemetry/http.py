"""The port of /metrics, /livez and /readyz that a service run by itself has; knows services only by whether they can serve."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Readiness = Callable[[], Mapping[str, str]]
"""Service name to why it cannot serve; empty text when it can."""


async def metrics_response(_: Request) -> Response:
    """All metrics of this process in Prometheus' text format."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def live_response(_: Request) -> Response:
    """200 while the process answers at all: asks nobody."""
    return Response("ok\n", media_type="text/plain")


def build_app(readiness: Readiness) -> Starlette:
    """The ASGI app of the port."""

    def ready_response(_: Request) -> Response:
        reasons = {name: reason for name, reason in readiness().items() if reason}
        body = json.dumps({"ready": not reasons, "reasons": reasons}) + "\n"
        return Response(body, status_code=503 if reasons else 200, media_type="application/json")

    return Starlette(
        routes=[Route("/metrics", metrics_response), Route("/livez", live_response), Route("/readyz", ready_response)]
    )
