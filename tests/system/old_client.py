"""Run by a Python that has the 1.x client: does what a JSON object on stdin says and prints what came, as JSON; imports nothing of ours.

In: url, version (of the protocol that it asks for), calls (pairs of a tool and its arguments). Out: version (that was agreed), session
(whether there is one), server (its name), tools, instructions, answers, and the first page of resources with the text of the first of them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import mcp.types as types
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

SECONDS = 60


async def ask(url: str, version: str, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Everything over one session."""
    types.LATEST_PROTOCOL_VERSION = version  # what the client asks for
    async with streamablehttp_client(url) as (read, write, session_id), ClientSession(read, write) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        answers = [await session.call_tool(name, arguments) for name, arguments in calls]
        resources = (await session.list_resources()).resources
        contents = [(await session.read_resource(one.uri)).contents[0] for one in resources[:1]]
        await session.send_ping()
        return {
            "version": hello.protocolVersion,
            "session": bool(session_id()),
            "server": hello.serverInfo.name,
            "instructions": hello.instructions,
            "tools": [tool.name for tool in tools],
            "answers": [answer.model_dump(mode="json", exclude_none=True) for answer in answers],
            "resources": [str(one.uri) for one in resources],
            "read": [one.model_dump(mode="json")["text"] for one in contents],
        }


async def main() -> None:
    """Within a bounded time."""
    wanted = json.load(sys.stdin)
    async with asyncio.timeout(SECONDS):
        done = await ask(wanted["url"], wanted["version"], wanted["calls"])
    json.dump(done, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
