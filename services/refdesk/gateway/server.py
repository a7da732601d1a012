"""The MCP server: its handlers over whatever surface the address names; knows nothing of HTTP beyond the request's scope."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, TypeVar

import mcp_types as types
import structlog
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.server.caching import CacheableMethod
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from refdesk import errors
from refdesk.gateway.call_log import CallLog
from refdesk.gateway.failures import explain
from refdesk.gateway.metrics import OPERATION_SECONDS
from refdesk.gateway.surfaces.interface import MIME_TYPE, Caller, ToolAnswer, UnknownTool
from refdesk.gateway.targets import Target
from refdesk.rpc import deadline

log = structlog.get_logger()

Context = ServerRequestContext[Any, Any]
Value = TypeVar("Value")

NAME = "refdesk"
VERSION = version("refdesk")
TITLE = "refdesk: a reference desk for agents"
TARGET_KEY = "refdesk.target"
"""Where a request's scope holds its Target, or the RefdeskError that kept it from being found."""
KEY_KEY = "refdesk.key"
"""Where a request's scope holds the id of its caller's key; empty where it brought none."""
SESSION_KEY = "refdesk.session"
"""Where a request's scope holds its Session; None where it belongs to none."""
CANCELLED = "CANCELLED"
"""What a call ended with whose client had gone away: nobody's failure."""
FAILURE_KEY = "refdesk.failure"
"""Where a handler leaves the reason of an error that it answered in a result."""
RESOURCES_KEY = "refdesk.resources"
"""Where a handler leaves the resources of its answer: the SDK takes off what their type does not name, such as their titles."""

COMPLETE = {"resultType": "complete"}
"""Required from revision 2026-07-28 on; the SDK takes it off for earlier ones."""
RESOURCE_NOT_FOUND_2025 = -32002
"""What revisions up to 2025-11-25 answer for a resource that does not exist; later ones say -32602."""
LISTING = CacheHint(ttl_ms=300_000, scope="private")
LIVE = CacheHint(ttl_ms=0, scope="private")
CACHE_HINTS: Mapping[CacheableMethod, CacheHint] = {
    "server/discover": LIVE,
    "tools/list": LISTING,
    "prompts/list": LISTING,
    "resources/templates/list": LISTING,
    "resources/list": LIVE,
    "resources/read": LIVE,
}
METHODS = frozenset((*CACHE_HINTS, "initialize", "ping", "tools/call", "completion/complete"))


class Handlers:
    """Answers MCP requests for the target in their scope, each within `deadline_seconds`."""

    def __init__(self, deadline_seconds: float, call_log: CallLog) -> None:
        self._deadline_seconds = deadline_seconds
        self._call_log = call_log

    def build(self) -> Server[Any]:
        """The SDK's server with these handlers, for both protocol eras."""
        server: Server[Any] = Server(
            NAME, version=VERSION, title=TITLE, cache_hints=CACHE_HINTS, get_tool_input_schema=lambda _: None
        )
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self.list_tools)
        server.add_request_handler("tools/call", types.CallToolRequestParams, self.call_tool)
        server.add_request_handler("resources/list", types.PaginatedRequestParams, self.list_resources)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read_resource)
        server.add_request_handler(
            "resources/templates/list", types.PaginatedRequestParams, self.list_resource_templates
        )
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, self.list_prompts)
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self.complete)
        server.middleware.append(self.around)
        return server

    async def around(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Times every request, bounds it, and puts live instructions into initialize and server/discover."""
        if ctx.request_id is None:
            return await call_next(ctx)
        started = time.perf_counter()
        failure = "INTERNAL"
        try:
            with deadline.limit(self._deadline_seconds):
                result = await call_next(ctx)
                if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
                    result = {**result, "instructions": await self._instructions(ctx)}
                    if "serverInfo" in result:
                        result["serverInfo"] = {**result["serverInfo"], "name": _server_name(ctx)}
                result = _with_resources(_stamped(result, _server_name(ctx)), _scope(ctx).pop(RESOURCES_KEY, ()))
            failure = _scope(ctx).pop(FAILURE_KEY, "")
            return result
        except ValidationError:
            failure = errors.InvalidArgument.reason
            raise MCPError(types.INVALID_PARAMS, _misshapen(ctx.method)) from None
        except MCPError as error:
            failure = str(error.error.code)
            raise
        except asyncio.CancelledError:
            failure = CANCELLED
            raise
        finally:
            method = ctx.method if ctx.method in METHODS else "other"
            elapsed_seconds = time.perf_counter() - started
            OPERATION_SECONDS.labels(method, _tool_label(ctx), failure).observe(elapsed_seconds)

    async def list_tools(self, context: Context, _: Any) -> dict[str, Any]:
        """The surface's tools, the same for every caller."""
        target = await _answered(_target(context))
        return {**COMPLETE, "tools": target.surface.definitions(structured=target.structured)}

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        """Runs a tool; what fails is a result that says so, so that the agent reads it."""
        try:
            target = await _target(context)
        except errors.RefdeskError as error:
            return _failed(context, error)
        try:
            answer = await self._run(target, params, caller_of(context))
        except UnknownTool as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from None
        except errors.RefdeskError as error:
            return _failed(context, error)
        content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
        content += _embedded(answer.resources)
        _scope(context)[RESOURCES_KEY] = answer.resources
        result: dict[str, Any] = {**COMPLETE, "content": content, "isError": False}
        if target.structured or answer.always_structured:
            result["structuredContent"] = dict(answer.structured)
        return result

    async def _run(self, target: Target, params: types.CallToolRequestParams, caller: Caller) -> ToolAnswer:
        """Runs a tool and notes it, however it ended. Raises: RefdeskError."""
        started = time.perf_counter()
        answer, failure = None, errors.Internal.reason
        try:
            answer = await target.surface.call(target.project, params.name, params.arguments, caller)
            failure = ""
        except errors.RefdeskError as error:
            failure = error.reason
            raise
        except asyncio.CancelledError:
            failure = CANCELLED
            raise
        except Exception:
            log.exception("a tool failed", tool=params.name[:60])
            raise errors.Internal("the call could not be answered") from None
        finally:
            elapsed_seconds = time.perf_counter() - started
            place = target.project.slug, target.surface.name
            self._call_log.note_call(*place, params.name, params.arguments, caller, elapsed_seconds, answer, failure)
        return answer

    async def list_resources(self, context: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        """A page of documents."""
        target = await _answered(_target(context))
        page = await _answered(target.surface.list_resources(target.project, params.cursor or ""))
        listing: dict[str, Any] = {**COMPLETE, "resources": page.resources}
        return {**listing, "nextCursor": page.next_cursor} if page.next_cursor else listing

    async def read_resource(self, context: Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        """One document's Markdown."""
        target = await _answered(_target(context))
        uri = str(params.uri)
        try:
            text = await target.surface.read_resource(target.project, uri)
        except errors.NotFound as error:
            modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if modern else RESOURCE_NOT_FOUND_2025
            raise MCPError(code, error.message, {"uri": uri}) from None
        except errors.RefdeskError as error:
            raise _protocol_error(error) from None
        return {**COMPLETE, "contents": [{"uri": uri, "mimeType": MIME_TYPE, "text": text}]}

    async def list_resource_templates(self, context: Context, _: Any) -> dict[str, Any]:
        """How addresses of documents are built."""
        target = await _answered(_target(context))
        return {**COMPLETE, "resourceTemplates": target.surface.resource_templates(target.project)}

    async def list_prompts(self, _context: Context, _: Any) -> dict[str, Any]:
        """There are no prompts."""
        return {**COMPLETE, "prompts": []}

    async def complete(self, _context: Context, _: Any) -> dict[str, Any]:
        """There is nothing to complete."""
        return {**COMPLETE, "completion": {"values": [], "total": 0, "hasMore": False}}

    async def _instructions(self, context: Context) -> str:
        try:
            target = await _target(context)
        except errors.RefdeskError as error:
            return explain(error)  # a client may connect now and ask later
        try:
            return await target.surface.instructions(target.project)
        except errors.RefdeskError:
            return await target.surface.instructions(None)


async def _target(context: Context) -> Target:
    target = _scope(context)[TARGET_KEY]
    if isinstance(target, errors.RefdeskError):
        raise target
    assert isinstance(target, Target)
    return target


async def _answered(work: Awaitable[Value]) -> Value:
    try:
        return await work
    except errors.RefdeskError as error:
        raise _protocol_error(error) from None


def caller_of(context: Context) -> Caller:
    """Who asks, by what came with the request."""
    key_id = _scope(context).get(KEY_KEY, "")
    client = context.session.client_params
    caller = Caller(key_id) if client is None else Caller(key_id, client.client_info.name, client.client_info.version)
    session = _scope(context).get(SESSION_KEY)
    if session is not None:
        caller = Caller(key_id, session.client_name, session.client_version, session.name)
    return replace(caller, base_url=str(context.request.base_url)) if context.request else caller


def _embedded(resources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "resource", "resource": dict(resource)} for resource in resources]


def _with_resources(result: HandlerResult, resources: Sequence[Mapping[str, Any]]) -> HandlerResult:
    """The answer of a tool with its resources whole, name, title and context included, as their readers know them."""
    if not isinstance(result, dict) or not resources:
        return result
    return {**result, "content": [*result["content"][: -len(resources)], *_embedded(resources)]}


def _stamped(result: HandlerResult, name: str) -> HandlerResult:
    """The result with the surface's name where revisions from 2026 on name the server in every answer."""
    if not isinstance(result, dict) or name == NAME:
        return result
    meta = result.get("_meta") or {}
    stamp = meta.get(types.SERVER_INFO_META_KEY)
    if not stamp:
        return result
    return {**result, "_meta": {**meta, types.SERVER_INFO_META_KEY: {**stamp, "name": name}}}


def _server_name(context: Context) -> str:
    target = _scope(context).get(TARGET_KEY)
    return target.surface.server_name if isinstance(target, Target) else NAME


def _scope(context: Context) -> dict[str, Any]:
    assert context.request is not None
    scope: dict[str, Any] = context.request.scope
    return scope


def _protocol_error(error: errors.RefdeskError) -> MCPError:
    at_fault = isinstance(error, (errors.InvalidArgument, errors.NotFound))
    return MCPError(types.INVALID_PARAMS if at_fault else types.INTERNAL_ERROR, explain(error))


def _failed(context: Context, error: errors.RefdeskError) -> dict[str, Any]:
    _scope(context)[FAILURE_KEY] = error.reason
    return {**COMPLETE, "content": [{"type": "text", "text": explain(error)}], "isError": True}


def _misshapen(method: str) -> str:
    if method == "tools/call":
        return "tools/call needs name, a text, and arguments, an object"
    return f"the parameters of {method} do not have the protocol's shape"


def _tool_label(context: Context) -> str:
    if context.method != "tools/call":
        return ""
    target = _scope(context).get(TARGET_KEY)
    name = (context.params or {}).get("name")
    if isinstance(target, Target):
        names = (tool["name"] for tool in target.surface.definitions(structured=False))
        return name if isinstance(name, str) and name in names else "other"
    return "other"
