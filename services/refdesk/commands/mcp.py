"""`refdesk mcp`: a surface of the running desk, or of one that is opened here, on stdin and stdout or on a port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from refdesk.commands.connecting import TIMEOUT_SECONDS
from refdesk.commands.mcp_bridge import bridge
from refdesk.commands.mcp_relay import build_relay
from refdesk.commands.serving import bind, served
from refdesk.commands.stopping import stop_signal
from refdesk.desk import default_data, find_url, read_note
from refdesk.errors import NotFound, Unavailable

READY_SECONDS = 30.0
LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class McpOptions:
    """What the command line says."""

    docs: str
    http: bool
    port: int
    surface: str
    project: str


async def serve(options: McpOptions) -> None:
    """Serves until stdin ends, or until it is told to stop.

    Raises: NotFound where no desk runs and no folder is given; InvalidArgument, Unavailable: what keeps one from starting.
    """
    async with _desk(options.docs) as url:
        target = f"{url}/mcp/{options.project}/{options.surface}"
        if not options.http:
            await bridge(target)
            return
        stop = stop_signal()
        listener = bind("127.0.0.1", options.port, "is it taken? choose another with --port")
        async with httpx2.AsyncClient(timeout=TIMEOUT_SECONDS) as http, served(build_relay(target, http), listener):
            await stop.wait()


@asynccontextmanager
async def _desk(docs: str) -> AsyncIterator[str]:
    """Address of the desk of a folder, or of any that runs; one is opened for the folder where there is none."""
    if docs:
        note = read_note(default_data(Path(docs).expanduser()))
        if note is not None and note.runs:
            yield note.url
            return
        from refdesk.commands.up import (
            UpOptions,
            opened,
        )  # loads all five services: only who opens a desk has a use for them

        async with opened(UpOptions(docs, "", "127.0.0.1", 0, "", "", False)) as (_, desk):
            await _wait_until_ready(desk.url)
            yield desk.url
        return
    try:
        url = find_url()
    except NotFound:
        raise NotFound(
            "no desk runs here: start one with `refdesk up`, set REFDESK_URL to its address, or name a folder with --docs"
        ) from None
    yield url


async def _wait_until_ready(url: str) -> None:
    """Until questions are answered. Raises: Unavailable when that takes too long."""
    reason: Any = ""
    async with httpx2.AsyncClient(timeout=TIMEOUT_SECONDS) as http:
        for _ in range(int(READY_SECONDS / LOOK_SECONDS)):
            answer = await http.get(f"{url}/readyz")
            if answer.status_code == 200:
                return
            reason = answer.json().get("reason")
            await asyncio.sleep(LOOK_SECONDS)
    raise Unavailable(f"the desk was not ready within {READY_SECONDS:.0f} s: {reason}")
