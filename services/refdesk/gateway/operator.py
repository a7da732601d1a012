"""The operator API: status, sync, backup, generations, keys; agents never see it, and a browser's page is refused."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.ingest.v1 import ingest_pb2
from refdesk.api.ingest.v1.ingest_protocol import Ingest
from refdesk.gateway.admins import Admins
from refdesk.gateway.backup import pack, read_backup, restore_backup, unpack
from refdesk.gateway.bodies import json_response, plain
from refdesk.gateway.comparing import Comparison
from refdesk.gateway.explanations import Explanations
from refdesk.gateway.failures import problem_body, problem_headers, status_code
from refdesk.gateway.http import PROBLEM
from refdesk.gateway.operator_calls import call_routes
from refdesk.gateway.operator_generations import generation_routes
from refdesk.gateway.operator_keys import key_routes

PREFIX = "/api/operator"


def beside(app: ASGIApp, operator: ASGIApp) -> ASGIApp:
    """One app that answers the operator API's paths by `operator` and everything else, lifespan included, by `app`."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        own = scope["type"] == "http" and scope["path"].startswith(PREFIX + "/")
        await (operator if own else app)(scope, receive, send)

    return choose


def build_operator(
    docstore: Docstore,
    ingest: Ingest,
    comparison: Comparison,
    explanations: Explanations,
    admins: Admins | None = None,
) -> Starlette:
    """The operator API over the services that it asks; without `admins` it answers commands on this machine, else admins."""

    async def read_status(_: Request) -> Response:
        projects = (await docstore.list_projects(docstore_pb2.ListProjectsRequest())).projects
        return json_response({"projects": [await _project_status(docstore, ingest, project) for project in projects]})

    async def sync_source(request: Request) -> Response:
        confirm = request.query_params.get("confirm_deletes", "") == "true"
        answer = await ingest.sync_source(
            ingest_pb2.SyncSourceRequest(
                project=request.path_params["project"], source=request.path_params["source"], confirm_deletes=confirm
            )
        )
        return json_response(plain(answer))

    async def reconcile_project(request: Request) -> Response:
        project = request.path_params["project"]
        return json_response(plain(await ingest.reconcile_project(ingest_pb2.ReconcileProjectRequest(project=project))))

    async def explain(request: Request) -> Response:
        return json_response(await explanations.run(request.path_params["project"], await request.body()))

    async def send_backup(_: Request) -> Response:
        return StreamingResponse(_packed(docstore), media_type="application/octet-stream")

    async def take_backup(request: Request) -> Response:
        done = await restore_backup(docstore, unpack(request.stream()))
        for project in sorted(done.projects):
            await _reconcile(ingest, project)
        return json_response({**asdict(done), "projects": sorted(done.projects)})

    routes = [
        Route(f"{PREFIX}/status", read_status),
        Route(f"{PREFIX}/backup", send_backup),
        Route(f"{PREFIX}/restore", take_backup, methods=["POST"]),
        Route(f"{PREFIX}/projects/{{project}}/sources/{{source}}/sync", sync_source, methods=["POST"]),
        Route(f"{PREFIX}/projects/{{project}}/reconcile", reconcile_project, methods=["POST"]),
        Route(f"{PREFIX}/projects/{{project}}/explain", explain, methods=["POST"]),
        *generation_routes(ingest, comparison, PREFIX),
        *key_routes(docstore, PREFIX),
        *call_routes(docstore, PREFIX),
    ]
    app = Starlette(routes=routes, exception_handlers={errors.RefdeskError: _failed})
    app.add_middleware(_RefuseStrangers, admins=admins)
    return app


class _RefuseStrangers:
    """Refuses what a page in a browser sends, and who is no admin where admins are asked for.

    A page names an Origin, or a Host that is not this machine. Where the address can be reached from outside, a Host proves nothing.
    """

    def __init__(self, app: ASGIApp, admins: Admins | None) -> None:
        self._app = app
        self._admins = admins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                await self._check(Request(scope))
            except errors.RefdeskError as error:
                await _problem(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _check(self, request: Request) -> None:
        host = request.headers.get("host", "").rsplit(":", 1)[0]
        is_page = "origin" in request.headers
        if is_page or (self._admins is None and host not in ("127.0.0.1", "localhost", "[::1]")):
            raise errors.PermissionDenied("the operator API answers commands on this machine only")
        if self._admins is not None:
            await self._admins.check(request.headers.get("authorization", ""))


async def _packed(docstore: Docstore) -> AsyncIterator[bytes]:
    """A failure halfway ends the stream without its end, by which a reader knows."""
    async for item in read_backup(docstore):
        yield pack(item)


async def _reconcile(ingest: Ingest, project: str) -> None:
    """So that engines are made equal to what was restored; a project that is declared no more has nobody to do it."""
    with contextlib.suppress(errors.NotFound):
        await ingest.reconcile_project(ingest_pb2.ReconcileProjectRequest(project=project))


async def _project_status(docstore: Docstore, ingest: Ingest, project: docstore_pb2.Project) -> dict[str, Any]:
    stats = await docstore.get_stats(
        docstore_pb2.GetStatsRequest(project=project.slug, generation=project.live_generation)
    )
    reports = await docstore.list_reports(docstore_pb2.ListReportsRequest(project=project.slug, limit=50))
    status, generations = ingest_pb2.GetStatusResponse(), ingest_pb2.ListGenerationsResponse()
    is_followed = False
    with contextlib.suppress(errors.NotFound):  # it is declared no more
        status = await ingest.get_status(ingest_pb2.GetStatusRequest(project=project.slug))
        generations = await ingest.list_generations(ingest_pb2.ListGenerationsRequest(project=project.slug))
        is_followed = True
    return {
        "project": project.slug,
        "model": project.model_id,
        "generation": project.live_generation,
        "generations": plain(generations)["generations"],
        "stats": plain(stats),
        "ingest": plain(status),
        "followed": is_followed,
        "catalog": plain(project),
        "reports": [plain(report) for report in reports.reports],
        "report_count": reports.report_count,
    }


def _problem(error: errors.RefdeskError) -> Response:
    return Response(problem_body(error), status_code(error), problem_headers(error), media_type=PROBLEM)


async def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, errors.RefdeskError)
    return _problem(error)
