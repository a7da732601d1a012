"""What the MCP server needs of a surface, and what a surface answers; knows no surface by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import NotFound

MIME_TYPE = "text/markdown"
"""Of every resource: documents are kept as Markdown."""


class UnknownTool(NotFound):
    """The surface has no such tool."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as far as it is known; what is not known is empty."""

    key_id: str = ""
    client_name: str = ""
    client_version: str = ""
    session: str = ""
    """Names the conversation, where the client keeps one."""
    base_url: str = ""
    """Where the caller reached the gateway, e.g. http://127.0.0.1:8080; addresses of its pages begin with it."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool says: text, and the same as data, which alone suffices to act."""

    text: str
    structured: Mapping[str, Any]
    mode: str = ""
    """What was searched: hybrid, lexical or semantic; empty where nothing was."""
    degraded: str = ""
    """Why less was searched than asked; empty where all was."""
    record_count: int = 0
    """Results or documents that it holds."""
    always_structured: bool = False
    """Whether its data is sent whatever the project says."""
    resources: tuple[Mapping[str, Any], ...] = ()
    """Documents that come along as resources of the protocol, behind the text: uri, name, title, mimeType, text."""


@dataclass(frozen=True, slots=True)
class Page:
    """Resources of a listing as MCP has them, and the cursor of the next page ("" at the end)."""

    resources: list[dict[str, Any]]
    next_cursor: str


class WithoutResources:
    """For surfaces whose documents are no resources of the protocol."""

    async def list_resources(self, project: docstore_api.Project, cursor: str) -> Page:
        """None."""
        return Page([], "")

    async def read_resource(self, project: docstore_api.Project, uri: str) -> str:
        """There is none. Raises: NotFound."""
        raise NotFound("this surface has no resources: its tools read documents")

    def resource_templates(self, project: docstore_api.Project) -> list[dict[str, Any]]:
        """None."""
        return []


class Surface(Protocol):
    """A set of tools over one project, with its own wording."""

    name: str
    server_name: str
    """How the server calls itself on this surface."""
    always_structured: bool
    """Whether its tools answer data whatever the project says."""

    def definitions(self, *, structured: bool) -> list[dict[str, Any]]:
        """The tools for tools/list, always in the same order."""

    async def call(
        self, project: docstore_api.Project, tool: str, arguments: Mapping[str, Any] | None, caller: Caller
    ) -> ToolAnswer:
        """Runs one tool.

        Raises: UnknownTool; else what the tool's own answer should be as an error.
        """

    async def instructions(self, project: docstore_api.Project | None) -> str:
        """At most 2,048 characters on what is here and how to use it; without a project: how to use it only."""

    async def list_resources(self, project: docstore_api.Project, cursor: str) -> Page:
        """A page of the project's documents.

        Raises: InvalidArgument for a cursor of another listing.
        """

    async def read_resource(self, project: docstore_api.Project, uri: str) -> str:
        """The Markdown of one document.

        Raises: NotFound.
        """

    def resource_templates(self, project: docstore_api.Project) -> list[dict[str, Any]]:
        """How the addresses of the project's documents are built."""
