"""Passes MCP between stdin and stdout and a desk over HTTP, in both protocol eras; knows no tool and no surface."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from refdesk.commands.connecting import connect
from refdesk.errors import Unavailable

Context = ServerRequestContext[Any, Any]


async def bridge(target: str) -> None:
    """Serves stdin until it ends; nothing but the protocol goes to stdout.

    Raises: Unavailable where nothing answers at the target, with what it said.
    """
    try:
        async with connect(target) as client:
            server = _build(client)
            async with stdio_server() as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
    except MCPError as failure:
        raise Unavailable(failure.error.message) from None
    except (OSError, ExceptionGroup):
        raise Unavailable(f"the desk at {target} does not answer: is it still running?") from None


def _build(client: Client) -> Server[Any]:
    async def list_tools(_: Context, params: types.PaginatedRequestParams | None) -> Any:
        return await client.list_tools(cursor=_cursor(params))

    async def call_tool(_: Context, params: types.CallToolRequestParams) -> Any:
        return await client.call_tool(params.name, params.arguments)

    async def list_resources(_: Context, params: types.PaginatedRequestParams | None) -> Any:
        return await client.list_resources(cursor=_cursor(params))

    async def list_templates(_: Context, params: types.PaginatedRequestParams | None) -> Any:
        return await client.list_resource_templates(cursor=_cursor(params))

    async def read_resource(_: Context, params: types.ReadResourceRequestParams) -> Any:
        return await client.read_resource(params.uri)

    async def list_prompts(_: Context, params: types.PaginatedRequestParams | None) -> Any:
        return types.ListPromptsResult(prompts=[])

    return Server(
        client.server_info.name if client.server_info else "refdesk",
        version=version("refdesk"),
        instructions=client.instructions,
        get_tool_input_schema=lambda _: None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
    )


def _cursor(params: types.PaginatedRequestParams | None) -> str | None:
    return params.cursor if params else None
