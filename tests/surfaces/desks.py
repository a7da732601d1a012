"""A gateway over the fakes, and that gateway on a loopback port with real clients."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp import Client
from mcp.types import TextContent

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.service import GatewayService
from refdesk.gateway.settings import GatewaySettings
from surfaces.fakes import GENERATION, MODEL, FakeDocstore, FakeEmbedder, FakeIngest, FakeSearch, Part, make_document

START_SECONDS = 10.0


def handbook(slug: str = "handbook") -> docstore_api.Project:
    """The project of the reference's examples."""
    return docstore_api.Project(
        slug=slug,
        surfaces=["docs"],
        model_id=MODEL,
        live_generation=GENERATION,
        followed_generations=[GENERATION],
        sources=[
            docstore_api.Source(name="policies", kind="folder", type="documentation"),
            docstore_api.Source(name="api", kind="git", type="documentation", description="API reference"),
            docstore_api.Source(name="notion", kind="notion", type="documentation"),
        ],
        revision=1,
    )


def few_documents() -> list[docstore_api.Document]:
    """Four documents in three directories of two sources."""
    onboarding = [Part(("Onboarding",), f"Step {number}.") for number in range(9)]
    travel = [Part(("Travel policy",), f"Rule {number}.") for number in range(4)]
    auth = [
        Part(("Authentication",), "Every call carries a token."),
        Part(("Authentication", "Tokens"), "A token lives for an hour."),
        Part(("Authentication", "Tokens", "Rotation"), "Rotate a token before it ends."),
        Part(("Authentication", "Errors"), "A bad token is answered with 401."),
    ]
    return [
        make_document("policies/onboarding.md", "Onboarding", onboarding),
        make_document("policies/travel.md", "Travel policy", travel),
        make_document("api/reference/auth.md", "Authentication", auth, version="v3"),
        make_document("api/changes.md", "Changes", [Part((), "Nothing changed.")]),
    ]


@dataclass
class Desk:
    """A gateway and the fakes that it asks."""

    docstore: FakeDocstore = field(default_factory=lambda: FakeDocstore(few_documents(), handbook()))
    search: FakeSearch = field(default_factory=FakeSearch)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    ingest: FakeIngest = field(default_factory=FakeIngest)
    settings: GatewaySettings = field(default_factory=lambda: GatewaySettings(catalog_seconds=0))

    def gateway(self) -> GatewayService:
        """The service, not started."""
        collaborators: Any = (self.docstore, self.search, self.embedder, self.ingest)
        return GatewayService(self.settings, *collaborators)


class QuietServer(uvicorn.Server):
    """uvicorn that leaves the process's signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


@contextlib.asynccontextmanager
async def served(gateway: GatewayService) -> AsyncIterator[str]:
    """The gateway's address on loopback, without a trailing slash, while the block runs."""
    # With the protocol named, asyncio switches Nagle off; without it every answer waits 40 ms for an ACK.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        config = uvicorn.Config(
            gateway.app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2, loop="none"
        )
        server = QuietServer(config)
        await gateway.start()
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with asyncio.timeout(START_SECONDS):
                while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody when it has started
                    await asyncio.sleep(0.005)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            async with asyncio.timeout(START_SECONDS):
                await task
            await gateway.close()


async def ask(desk: Desk, tool: str, **arguments: Any) -> str:
    """What a tool of the desk says to the official client; an error's text is marked with `error: `."""
    async with served(desk.gateway()) as url, Client(f"{url}/mcp") as client:
        result = await client.call_tool(tool, arguments)
    part = result.content[0]
    assert isinstance(part, TextContent)
    assert len(result.content) == 1
    return f"error: {part.text}" if result.is_error else part.text
