"""The MCP endpoint as ASGI: what comes in is checked, addressed and admitted, then handed to the SDK; knows no tool."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway import exchange
from refdesk.gateway.admission import Admission
from refdesk.gateway.call_log import CallLog
from refdesk.gateway.callers import Callers
from refdesk.gateway.door import read_what_came
from refdesk.gateway.failures import explain, problem_headers, status_code
from refdesk.gateway.messages import INVALID_REQUEST, SERVER_ERROR, Flaw, error_body, read_id, read_message
from refdesk.gateway.metrics import UNANSWERED
from refdesk.gateway.origins import Origins
from refdesk.gateway.presence import while_client_waits
from refdesk.gateway.server import KEY_KEY, SESSION_KEY, TARGET_KEY, Handlers
from refdesk.gateway.sessions import Seal, session_key
from refdesk.gateway.settings import GatewaySettings
from refdesk.gateway.targets import Targets
from refdesk.telemetry import tracing

JSON, EVENTS = "application/json", "text/event-stream"
SESSION_HEADER = "mcp-session-id"


class McpEndpoint:
    """Serves both protocol eras, without sessions: every POST stands for itself and nothing needs a standing stream."""

    def __init__(self, settings: GatewaySettings, targets: Targets, callers: Callers, call_log: CallLog) -> None:
        self._settings = settings
        self._callers = callers
        self._seal = Seal(session_key(settings.session_key_file))
        self._targets = targets
        self._server = Handlers(settings.deadline_seconds, call_log).build()
        self.admission = Admission(settings.concurrent_calls, settings.queued_calls, settings.queued_seconds)
        self._origins = Origins(settings.allowed_hosts, settings.allowed_origins, any_host=settings.answers_any_host)
        self._manager: StreamableHTTPSessionManager | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves while the block runs."""
        manager = StreamableHTTPSessionManager(
            self._server,
            json_response=True,
            stateless=True,
            max_request_body_size=self._settings.max_body_bytes,
        )
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one HTTP request."""
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        try:
            # Before anything is read or a place is taken: who may not call costs nobody that may.
            key = await self._callers.identify(headers.get("authorization", ""), docstore_api.KEY_SCOPE_READ)
            async with asyncio.timeout(self._settings.body_seconds):
                body = await _read_body(receive, self._settings.max_body_bytes)
        except errors.RefdeskError as error:
            UNANSWERED.labels(error.reason).inc()
            await _failure(error, read_id(await read_what_came(receive)))(scope, receive, send)
            return
        except TimeoutError:
            late = f"the body did not come within {self._settings.body_seconds:g} s: send the request again"
            await _json_error(408, INVALID_REQUEST, late)(scope, receive, send)
            return
        if body is None:
            too_large = f"the body is larger than {self._settings.max_body_bytes:,} bytes"
            await _json_error(413, INVALID_REQUEST, too_large)(scope, receive, send)
            return
        message = read_message(body)
        if isinstance(message, Flaw):
            await _json_error(400, message.code, message.message, message.request_id)(scope, receive, send)
            return
        try:
            async with while_client_waits(receive), self.admission:
                with tracing.following(headers):  # where the message's own _meta names no trace
                    await self._serve(scope, body, message, key, receive, send)
        except errors.RefdeskError as error:
            UNANSWERED.labels(error.reason).inc()
            await _failure(error, message.get("id"))(scope, receive, send)

    async def _serve(
        self,
        scope: Scope,
        body: bytes,
        message: Mapping[str, Any],
        key: docstore_api.AccessKey | None,
        receive: Receive,
        send: Send,
    ) -> None:
        """Hands the request of the owner of a key on.

        Raises: NotFound for an address that nothing is served at; Unavailable before the start.
        """
        if self._manager is None:
            raise errors.Unavailable("the gateway is starting")
        parameters = scope.get("path_params", {})
        try:
            names = parameters.get("project", ""), parameters.get("surface", "")
            target: Any = await self._targets.resolve(*names, key, _tools(scope))
        except errors.NotFound:
            raise
        except errors.RefdeskError as error:
            target = error  # the handlers say it in the protocol's own form
        # The HTTP parser leaves the white space that may stand behind a header's value; the SDK compares values exactly.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        accepts_json, accepts_events = _accepted(Headers(raw=headers))
        if accepts_events and not accepts_json:
            headers = _accepting_json(headers)
            send = _as_events(send)
        sealed = Headers(raw=headers).get(SESSION_HEADER, "")
        session = self._seal.read(sealed) if sealed else None
        scope = {
            **scope,
            "headers": headers,
            TARGET_KEY: target,
            KEY_KEY: key.key_id if key else "",
            SESSION_KEY: session,
        }
        version = Headers(raw=headers).get(MCP_PROTOCOL_VERSION_HEADER)
        if exchange.takes(version, message):
            answer = await exchange.answer(self._server, Request(scope), version, message)
            begun = {SESSION_HEADER: self._begin(message)} if message.get("method") == "initialize" else None
            await Response(answer, headers=begun, media_type=JSON)(scope, receive, send)
            return
        await self._manager.handle_request(scope, _replayed(body, receive), send)

    def _begin(self, message: Mapping[str, Any]) -> str:
        """A session's id for who introduces itself. One that is over, or of another key, is no session: nobody is turned away for it."""
        parameters = message.get("params")
        client = parameters.get("clientInfo") if isinstance(parameters, dict) else None
        names = [client.get(name) if isinstance(client, dict) else "" for name in ("name", "version")]
        return self._seal.give(*(name if isinstance(name, str) else "" for name in names))

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._origins.allows_host(headers.get("host", "")):
            return _json_error(421, INVALID_REQUEST, "this server does not answer to that Host header")
        if not self._origins.allows_origin(headers.get("origin", "")):
            return _json_error(403, INVALID_REQUEST, "pages from that Origin may not call this server")
        if scope["method"] != "POST":
            refusal = _json_error(405, INVALID_REQUEST, "MCP is served by POST: there is no standing stream")
            refusal.headers["Allow"] = "POST"
            return refusal
        if JSON not in _kinds(headers.get("content-type", "").split(";")[0]):
            return _json_error(415, INVALID_REQUEST, f"Content-Type must be {JSON}")
        if not any(_accepted(headers)):
            return _json_error(406, INVALID_REQUEST, f"Accept must have {JSON} or {EVENTS}")
        return None


def _tools(scope: Scope) -> list[str]:
    """The tools that `?tools=a,b` trims an address to; none: all of them."""
    if not scope["query_string"]:
        return []
    return [name for text in QueryParams(scope["query_string"]).getlist("tools") for name in text.split(",") if name]


def _json_error(status: int, code: int, message: str, request_id: str | int | None = None) -> Response:
    return Response(error_body(code, message, request_id), status_code=status, media_type=JSON)


def _failure(error: errors.RefdeskError, request_id: str | int | None) -> Response:
    code = INVALID_REQUEST if isinstance(error, errors.NotFound) else SERVER_ERROR
    response = _json_error(status_code(error), code, explain(error), request_id)
    response.headers.update(problem_headers(error))
    return response


def _accepted(headers: Headers) -> tuple[bool, bool]:
    """Whether JSON and whether an event stream is accepted."""
    kinds = _kinds(headers.get("accept", "*/*"))
    return bool(kinds & {"*/*", "application/*", JSON}), bool(kinds & {"*/*", "text/*", EVENTS})


def _kinds(listed: str) -> set[str]:
    return {part.split(";")[0].strip().lower() for part in listed.split(",")}


async def _read_body(receive: Receive, most_bytes: int) -> bytes | None:
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(parts)
        parts += message.get("body", b"")
        if len(parts) > most_bytes:
            return None
        if not message.get("more_body", False):
            return bytes(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _accepting_json(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name != b"accept"]
    return [*kept, (b"accept", f"{JSON}, {EVENTS}".encode())]


def _as_events(send: Send) -> Send:
    """Turns a JSON answer into a stream of one event, for a client that takes nothing else."""
    starts: list[Message] = []
    body = bytearray()

    async def send_events(message: Message) -> None:
        if message["type"] == "http.response.start":
            starts.append(message)
            return
        body.extend(message.get("body", b""))
        if message.get("more_body", False):
            return
        start, content = starts[0], bytes(body)
        headers = MutableHeaders(raw=list(start["headers"]))
        if start["status"] == 200 and headers.get("content-type", "").startswith(JSON):
            content = b"event: message\r\ndata: " + content + b"\r\n\r\n"
            headers["content-type"] = EVENTS
            headers["cache-control"] = "no-cache, no-transform"
            headers["content-length"] = str(len(content))
        await send({**start, "headers": headers.raw})
        await send({"type": "http.response.body", "body": content})

    return send_events
