"""Asks a running desk through a real MCP client."""

from __future__ import annotations

from typing import Any

from mcp.types import TextContent

from refdesk.commands.connecting import connect
from refdesk.desk import find_url
from refdesk.errors import InvalidArgument, Unavailable


async def ask(question: str, limit: int) -> tuple[str, bool]:
    """The answer's text, and whether it is an error.

    Raises: InvalidArgument without a question; NotFound where no desk runs; Unavailable when it does not answer.
    """
    if not question.strip():
        raise InvalidArgument('ask what? make ask Q="how do I …"')
    return await call("search_docs", {"query": question, "limit": limit})


async def call(tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """Calls one tool of the running desk.

    Raises: NotFound where no desk runs; Unavailable when it does not answer.
    """
    url = f"{find_url()}/mcp"
    try:
        async with connect(url) as client:
            result = await client.call_tool(tool, arguments)
    except (OSError, ExceptionGroup):
        raise Unavailable(f"the desk at {url} does not answer: is it still running?") from None
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    return "\n".join(texts), bool(result.is_error)
