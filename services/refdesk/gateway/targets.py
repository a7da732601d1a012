"""Says what an address stands for: which project, on which surface; knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import NotFound, Unavailable
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.interface import Surface

DEFAULT_PROJECT = "default"
DEFAULT_SURFACE = "docs"


@dataclass(frozen=True, slots=True)
class Target:
    """A project on a surface; `structured`: its tools answer structured content too."""

    project: docstore_api.Project
    surface: Surface
    structured: bool


class Targets:
    """Resolves /mcp, /mcp/{project} and /mcp/{project}/{surface}."""

    def __init__(self, catalog: Catalog, surfaces: Mapping[str, Surface], *, structured_output: bool) -> None:
        self._catalog = catalog
        self._surfaces = surfaces
        self._structured_output = structured_output

    async def resolve(self, slug: str, surface_name: str, key: docstore_api.AccessKey | None = None) -> Target:
        """The target of an address for the owner of a key; "" where the address leaves a part out.

        Raises: NotFound, in the same words whatever it is that does not exist; Unavailable, also while nothing is declared.
        """
        address = slug
        if key is not None:
            slug = slug or key.project
        project = self._find(slug, await self._catalog.projects())
        if project is None:
            projects = await self._catalog.projects(missing=True)
            if not projects:
                raise Unavailable("no project is declared yet")
            project = self._find(slug, projects)
        if project is not None and (key is None or key.project == project.slug):
            served = list(project.surfaces) or [DEFAULT_SURFACE]
            if key is not None and key.surfaces:
                served = [name for name in served if name in key.surfaces]
            name = surface_name or next(iter(served), "")
            surface = self._surfaces.get(name) if name in served else None
            if surface is not None:
                structured = surface.always_structured or self._structured_output or project.structured_output
                return Target(project, surface, structured)
        raise NotFound(_nothing_here(address, surface_name))

    @staticmethod
    def _find(slug: str, projects: Mapping[str, docstore_api.Project]) -> docstore_api.Project | None:
        if slug:
            return projects.get(slug)
        if len(projects) == 1:
            return next(iter(projects.values()))
        return projects.get(DEFAULT_PROJECT)


def _nothing_here(slug: str, surface_name: str) -> str:
    address = "/".join(part for part in ("/mcp", slug[:63], surface_name[:63]) if part)
    return f"nothing is served at {address}: check the names of the project and of the surface"
