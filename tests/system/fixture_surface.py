"""A surface with what the conformance suite calls, over the gateway's own endpoint, handlers and sessions; it has no documents."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.call_log import CallLog
from refdesk.gateway.callers import Callers
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.endpoint import McpEndpoint
from refdesk.gateway.settings import GatewaySettings
from refdesk.gateway.surfaces.combined import SurfaceTable
from refdesk.gateway.surfaces.interface import Caller, Page, ToolAnswer, UnknownTool
from refdesk.gateway.targets import Targets
from surfaces.desks import handbook
from surfaces.fakes import FakeDocstore, FakeEmbedder

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEXT = {"type": "string"}
WIDE_SCHEMA = {
    "$schema": DRAFT,
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": TEXT, "city": TEXT}}},
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": TEXT,
        "email": TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""As the suite's scenario asks for it."""
EMBEDDED = {
    "uri": "test://embedded-resource",
    "mimeType": "text/plain",
    "text": "This is an embedded resource content.",
}
ANSWERS = {
    "test_simple_text": ToolAnswer("This is a simple text response for testing.", {}),
    "test_embedded_resource": ToolAnswer("A resource:", {}, resources=(EMBEDDED,)),
    "json_schema_2020_12_tool": ToolAnswer("ok", {}),
}
FAILING = "test_error_handling"
RESOURCES = {
    "test://static-text": "This is the content of the static text resource.",
    "test://template/123/data": '{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
}


class FixtureSurface:
    """Tools and resources by the suite's names."""

    name = "docs"
    server_name = "refdesk"
    always_structured = False

    def definitions(self, *, structured: bool) -> list[dict[str, Any]]:
        """Without arguments, but for the one whose schema is looked at."""
        plain = {"type": "object", "properties": {}}
        schemas = {"json_schema_2020_12_tool": WIDE_SCHEMA}
        return [
            {"name": name, "description": f"{name}.", "inputSchema": schemas.get(name, plain)}
            for name in (*ANSWERS, FAILING)
        ]

    async def call(
        self, project: docstore_api.Project, tool: str, arguments: Mapping[str, Any] | None, caller: Caller
    ) -> ToolAnswer:
        """What the scenario wants."""
        if tool == FAILING:
            raise InvalidArgument("this tool intentionally returns an error for testing")
        if tool not in ANSWERS:
            raise UnknownTool(f'no tool "{tool}"; valid: {", ".join(ANSWERS)}')
        return ANSWERS[tool]

    async def instructions(self, project: docstore_api.Project | None) -> str:
        """None."""
        return ""

    async def list_resources(self, project: docstore_api.Project, cursor: str) -> Page:
        """The first of them."""
        return Page([{"uri": "test://static-text", "name": "static text", "mimeType": "text/plain"}], "")

    async def read_resource(self, project: docstore_api.Project, uri: str) -> str:
        """One of them."""
        if uri not in RESOURCES:
            raise NotFound(f"no resource {uri}")
        return RESOURCES[uri]

    def resource_templates(self, project: docstore_api.Project) -> list[dict[str, Any]]:
        """The second of them."""
        return [{"uriTemplate": "test://template/{id}/data", "name": "template"}]


class FixtureGateway:
    """Starts and ends as the gateway does, and serves /mcp alone."""

    def __init__(self) -> None:
        docstore: Any = FakeDocstore(project=handbook())
        embedder: Any = FakeEmbedder()
        settings = GatewaySettings(catalog_seconds=0)
        catalog = Catalog(docstore, embedder, None, most_seconds=0, read_seconds=5)
        surface = FixtureSurface()
        targets = Targets(catalog, SurfaceTable({"docs": surface}, surface), structured_output=False)
        self._log = CallLog(docstore)
        self._endpoint = McpEndpoint(settings, targets, Callers(docstore, settings), self._log)
        self._running = contextlib.AsyncExitStack()

    @property
    def app(self) -> ASGIApp:
        """The endpoint at any path."""
        return self._endpoint

    async def start(self) -> None:
        """Begins to answer."""
        self._log.start()
        await self._running.enter_async_context(self._endpoint.running())

    async def close(self) -> None:
        """Ends."""
        await self._running.aclose()
        await self._log.close()
