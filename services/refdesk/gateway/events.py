"""POST /api/projects/{project}/events: change events of source systems as CloudEvents; knows nothing of MCP.

An answer below 300 means that docstore has what was pushed. That it is indexed comes behind: ingest is told, and asks by itself too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.ingest.v1 import ingest_pb2 as ingest_api
from refdesk.api.ingest.v1.ingest_protocol import Ingest
from refdesk.cloudevents import CloudEvent, read_request
from refdesk.failpoints import reach
from refdesk.gateway.admission import Admission
from refdesk.gateway.event_answers import Answer, batch_body, of_error, of_outcome, overall, problem, too_large
from refdesk.gateway.hints import Hints
from refdesk.gateway.metrics import EVENTS
from refdesk.gateway.origins import Origins
from refdesk.gateway.settings import GatewaySettings
from refdesk.rpc import deadline
from refdesk.source_events import SourceEvent, SourceEventType, read_source_event
from refdesk.telemetry import tracing

PATH = "/api/projects/{project}/events"
JSON, PROBLEM = "application/json", "application/problem+json"
CALL_SECONDS = 30.0
BODY_SECONDS = 30.0

Allow = Callable[[Request, str], Awaitable[None]]
"""Whether a request may publish to a project. Raises: Unauthenticated, PermissionDenied, NotFound."""


class EventsEndpoint:
    """Takes events in: what is pushed goes to docstore, what is hinted at to ingest."""

    def __init__(self, settings: GatewaySettings, docstore: Docstore, ingest: Ingest | None, *, allow: Allow) -> None:
        self._settings = settings
        self._docstore = docstore
        self._ingest = ingest
        self._allow = allow
        self._origins = Origins(settings.allowed_hosts, settings.allowed_origins, any_host=settings.answers_any_host)
        self._admission = Admission(settings.concurrent_pushes, 2 * settings.concurrent_pushes)
        self.hints = Hints(ingest)

    async def receive(self, request: Request) -> Response:
        """Answers one request. Raises: RefdeskError, for the request as a whole."""
        project = request.path_params["project"]
        self._origins.check_host(request.headers.get("host", ""))
        if not self._origins.allows_origin(request.headers.get("origin", "")):
            raise errors.PermissionDenied("pages from that Origin may not call this server")
        with tracing.following(request.headers), tracing.span("POST events", "server", begins=True):
            return await self._receive(request, project)

    async def _receive(self, request: Request, project: str) -> Response:
        await self._allow(request, project)
        async with self._admission:
            body = await self._read_body(request)
            if body is None:
                return _refuse(too_large("the request", self._settings.max_body_bytes, "gateway.max_body_bytes"))
            events = read_request({name.decode("latin-1"): value for name, value in request.headers.raw}, body)
            with deadline.limit(CALL_SECONDS):
                if isinstance(events, CloudEvent):
                    [answer] = await self._take(project, [events])
                    return _single(events, answer)
                return await self._take_batch(project, events)

    async def _take_batch(self, project: str, events: Sequence[CloudEvent | errors.InvalidArgument]) -> Response:
        most = self._settings.events_per_batch
        if len(events) > most:
            detail = f"the batch has {len(events):,} events: send at most {most:,}, or raise gateway.events_per_batch"
            return _refuse(Answer(413, "refused", detail, "TOO_LARGE"))
        answers = await self._take(project, events)
        ids = [event.id if isinstance(event, CloudEvent) else "" for event in events]
        whole = overall(answers)
        return Response(batch_body(ids, answers), whole.status, _headers(whole), JSON)

    async def _take(self, project: str, events: Sequence[CloudEvent | errors.InvalidArgument]) -> list[Answer]:
        """An answer for each event, in order."""
        read = [self._read(event, project) for event in events]
        answers = {place: one for place, one in enumerate(read) if isinstance(one, Answer)}
        known = {place: one for place, one in enumerate(read) if isinstance(one, SourceEvent)}
        answers |= await self._store(project, {place: one for place, one in known.items() if one.item is not None})
        answers |= await self._hint(project, {place: one for place, one in known.items() if one.item is None})
        for place, answer in answers.items():
            EVENTS.labels(known[place].type.value if place in known else "other", answer.outcome).inc()
        return [answers[place] for place in range(len(events))]

    def _read(self, event: CloudEvent | errors.InvalidArgument, project: str) -> SourceEvent | Answer:
        if isinstance(event, errors.InvalidArgument):
            return of_error(event)
        if len(event.data or b"") > self._settings.event_max_bytes:
            return too_large("the event's data", self._settings.event_max_bytes, "gateway.event_max_bytes")
        try:
            return read_source_event(event, project)
        except errors.RefdeskError as error:
            return of_error(error)

    async def _store(self, project: str, pushed: dict[int, SourceEvent]) -> dict[int, Answer]:
        if not pushed:
            return {}
        items = [one.item for one in pushed.values() if one.item is not None]
        request = docstore_api.PutRawDocumentsRequest(project=project, items=items)
        try:
            response = await self._docstore.put_raw_documents(request)
        except errors.RefdeskError as error:
            return dict.fromkeys(pushed, of_error(error))
        reach("gateway.events.stored")
        answers = {place: of_outcome(one) for place, one in zip(pushed, response.outcomes, strict=True)}
        for place, event in pushed.items():
            if answers[place].outcome == "stored":
                listed = event.type is SourceEventType.LISTED
                self.hints.give(project, event.source, None if listed else [event.path])
        return answers

    async def _hint(self, project: str, hinted: dict[int, SourceEvent]) -> dict[int, Answer]:
        """Hints are kept by nobody, so ingest must have looked before they are answered: one call a source."""
        answers: dict[int, Answer] = {}
        for source in dict.fromkeys(event.source for event in hinted.values()):
            places = [place for place, event in hinted.items() if event.source == source]
            paths = {hinted[place].path for place in places}
            answers |= dict.fromkeys(places, await self._tell(project, source, [] if "" in paths else sorted(paths)))
        return answers

    async def _tell(self, project: str, source: str, paths: list[str]) -> Answer:
        request = ingest_api.HintDocumentsRequest(project=project, source=source, paths=paths)
        try:
            if self._ingest is None:
                raise errors.Unavailable("no ingest service is known here")
            await self._ingest.hint_documents(request)
        except errors.RefdeskError as error:
            return of_error(error)
        return Answer(202, "announced")

    async def _read_body(self, request: Request) -> bytes | None:
        """The body; None where it is larger than it may be. Raises: InvalidArgument where the sender went away, or takes too long."""
        parts = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for part in request.stream():
                    parts += part
                    if len(parts) > self._settings.max_body_bytes:
                        return None
        except ClientDisconnect:
            raise errors.InvalidArgument("the request ended early") from None
        except TimeoutError:  # it holds a place that others wait for
            raise errors.InvalidArgument(f"the request's body did not come within {BODY_SECONDS:g} s") from None
        return bytes(parts)


def _single(event: CloudEvent, answer: Answer) -> Response:
    if not answer.is_good:
        return _refuse(answer)
    return Response(batch_body([event.id], [answer]), answer.status, media_type=JSON)


def _refuse(answer: Answer) -> Response:
    return Response(problem(answer), answer.status, _headers(answer), PROBLEM)


def _headers(answer: Answer) -> dict[str, str]:
    return {"Retry-After": str(answer.retry_after_seconds)} if answer.retry_after_seconds else {}
