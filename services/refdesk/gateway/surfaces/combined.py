"""Several surfaces at one address: their tools side by side, one search_docs; knows no tool but by its name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.surfaces.docs.wording import one_line, quoted, unknown_tool
from refdesk.gateway.surfaces.interface import Caller, Page, Surface, ToolAnswer

MOST_CHARACTERS = 2_048
"""Of instructions: clients cut there, without saying so."""
NAMED_CHARACTERS = 60
MOST_REMEMBERED = 256
ALL = "all"


class SurfaceTable:
    """Every surface by its name, and what several of them are together. `beside_site` stands for docs where site is served too."""

    def __init__(self, surfaces: Mapping[str, Surface], beside_site: Surface) -> None:
        self._surfaces = surfaces
        self._beside_site = beside_site
        self._combined: dict[tuple[tuple[str, ...], tuple[str, ...]], Surface] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """In the order in which tools are listed."""
        return tuple(self._surfaces)

    def combine(self, names: Collection[str], only: Sequence[str] = ()) -> Surface | None:
        """The surface of these names, whatever their order, trimmed to some tools; None where none of them exists.

        Raises: InvalidArgument for a tool that they do not have.
        """
        chosen = tuple(name for name in self._surfaces if name in names)
        if not chosen:
            return None
        if len(chosen) == 1 and not only:
            return self._surfaces[chosen[0]]
        key = chosen, tuple(sorted(set(only)))
        if key not in self._combined:
            combined = self._make(*key)
            if len(self._combined) >= MOST_REMEMBERED:
                self._combined.clear()
            self._combined[key] = combined
        return self._combined[key]

    def _make(self, names: tuple[str, ...], only: tuple[str, ...]) -> Surface:
        both = {"docs", "site"} <= set(names)
        surfaces = [self._beside_site if both and name == "docs" else self._surfaces[name] for name in names]
        whole = Combined("+".join(names) if names != self.names else ALL, surfaces)
        for name in only:
            if name not in whole.tools:
                raise InvalidArgument(
                    f"no tool {quoted(one_line(name, NAMED_CHARACTERS))} to trim to; valid: {', '.join(whole.tools)}"
                )
        return Combined(whole.name, surfaces, only) if only else whole


class Combined:
    """The tools of `surfaces` in their order; of two with one name the first counts. `only`: these tools and no others, "" all."""

    server_name = "refdesk"
    always_structured = False

    def __init__(self, name: str, surfaces: Sequence[Surface], only: Sequence[str] = ()) -> None:
        self.name = name
        self._surfaces = surfaces
        self._owners: dict[str, Surface] = {}
        for surface in surfaces:
            for tool in surface.definitions(structured=False):
                if not only or tool["name"] in only:
                    self._owners.setdefault(tool["name"], surface)

    @property
    def tools(self) -> Collection[str]:
        """The names of its tools, in their order."""
        return self._owners.keys()

    def definitions(self, *, structured: bool) -> list[dict[str, Any]]:
        """Always in the same order."""
        return [
            tool
            for surface in self._surfaces
            for tool in surface.definitions(structured=structured or surface.always_structured)
            if self._owners.get(tool["name"]) is surface
        ]

    async def call(
        self, project: docstore_api.Project, tool: str, arguments: Mapping[str, Any] | None, caller: Caller
    ) -> ToolAnswer:
        """Runs one tool, as the surface that it is of would.

        Raises: UnknownTool; what the tool raises.
        """
        if tool not in self._owners:
            raise unknown_tool(tool, self._owners)
        surface = self._owners[tool]
        answer = await surface.call(project, tool, arguments, caller)
        return replace(answer, always_structured=surface.always_structured)

    async def instructions(self, project: docstore_api.Project | None) -> str:
        """Those of each surface, as far as they fit; of the rest the names of their tools."""
        parts, names = [await surface.instructions(project) for surface in self._surfaces], []
        for surface in self._surfaces:
            tools = ", ".join(one["name"] for one in surface.definitions(structured=False))
            names.append(f"Also here ({surface.name}): {tools}.")
        for whole in range(len(parts), -1, -1):
            text = "\n\n".join(part for part in (*parts[:whole], *names[whole:]) if part)
            if len(text) <= MOST_CHARACTERS:
                return text
        return text[:MOST_CHARACTERS]

    async def list_resources(self, project: docstore_api.Project, cursor: str) -> Page:
        """Those of the first surface that has any: each document once."""
        surface = self._with_resources(project)
        return await surface.list_resources(project, cursor) if surface else Page([], "")

    async def read_resource(self, project: docstore_api.Project, uri: str) -> str:
        """The document of an address of any of the surfaces. Raises: NotFound; Unavailable."""
        failure: NotFound | None = None
        for surface in self._surfaces:
            try:
                return await surface.read_resource(project, uri)
            except NotFound as error:
                failure = failure or error
        raise failure or NotFound("there are no resources here")

    def resource_templates(self, project: docstore_api.Project) -> list[dict[str, Any]]:
        """Those of every surface."""
        return [template for surface in self._surfaces for template in surface.resource_templates(project)]

    def _with_resources(self, project: docstore_api.Project) -> Surface | None:
        return next((surface for surface in self._surfaces if surface.resource_templates(project)), None)
