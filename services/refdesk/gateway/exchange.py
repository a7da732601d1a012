"""One request of the handshake era and its answer, by the SDK's kernel alone; knows no tool.

The SDK's stateless transport runs a session for each such request: four streams, three task groups, a dozen turns of the event loop, half
a millisecond. One POST that stands for itself needs none of it, as the SDK's own entry for later revisions shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
import structlog
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import DEFAULT_NEGOTIATED_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request

from refdesk import errors
from refdesk.gateway.failures import explain

log = structlog.get_logger()

_ONE_ANSWER = TransportContext(kind="streamable-http", can_send_request=False)


def takes(version: str | None, message: Mapping[str, Any]) -> bool:
    """Whether this is a request of the handshake era, and no notification or answer; `version` is what its header names."""
    is_request = "id" in message and not message.keys() & {"result", "error"}
    return is_request and (version is None or version in HANDSHAKE_PROTOCOL_VERSIONS)


async def answer(server: Server[Any], request: Request, version: str | None, message: Mapping[str, Any]) -> bytes:
    """The JSON-RPC answer to a request without flaws, a result or an error."""
    asked = types.JSONRPCRequest.model_validate(message, by_name=False)
    exchange = _Exchange(asked.id, ServerMessageMetadata(request_context=request, can_send_request=False))
    connection = Connection.from_envelope(version or DEFAULT_NEGOTIATED_VERSION, None, None)
    reply: types.JSONRPCResponse | types.JSONRPCError
    try:
        result = await serve_one(
            server, exchange, asked.method, asked.params, connection=connection, lifespan_state=_NOTHING
        )
        reply = types.JSONRPCResponse(jsonrpc="2.0", id=asked.id, result=result)
    except Exception as error:
        reply = types.JSONRPCError(jsonrpc="2.0", id=asked.id, error=_describe(error, asked.method))
    return reply.model_dump_json(by_alias=True, exclude_unset=True).encode()


@dataclass
class _Exchange:
    """The SDK's DispatchContext where there is one answer and no way back to the client."""

    request_id: types.RequestId
    message_metadata: ServerMessageMetadata
    transport: TransportContext = _ONE_ANSWER
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Refuses: the client's answer would have nowhere to land."""
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Drops it: an answer in JSON has no room for anything else."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Drops it."""


_NOTHING: dict[str, Any] = {}
"""What the SDK's default lifespan yields."""


def _describe(error: Exception, method: str) -> types.ErrorData:
    described = handler_exception_to_error_data(error)
    if described is not None:
        return described
    log.error("a request failed", method=method[:60], exc_info=error)
    failed = explain(errors.Internal("the request could not be answered"))
    return types.ErrorData(code=types.INTERNAL_ERROR, message=failed)
