"""Says what an address stands for: which project, on which surface; knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import NotFound, Unavailable
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.combined import ALL, SurfaceTable
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
    """Resolves /mcp, /mcp/{project} and /mcp/{project}/{surface}.

    Without a surface's name a project is served on the surfaces that it declares, several of them as one; each surface, and all of them as
    one, has an address of its own besides.
    """

    def __init__(self, catalog: Catalog, surfaces: SurfaceTable, *, structured_output: bool) -> None:
        self._catalog = catalog
        self._surfaces = surfaces
        self._structured_output = structured_output

    async def resolve(
        self,
        slug: str,
        surface_name: str,
        key: docstore_api.AccessKey | None = None,
        tools: Sequence[str] = (),
    ) -> Target:
        """The target of an address for the owner of a key, trimmed to some tools; "" where the address leaves a part out.

        Raises: InvalidArgument for a tool that is not there; NotFound, in the same words whatever it is that does not exist;
        Unavailable, also while nothing is declared.
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
            surface = self._surfaces.combine(self._names(project, surface_name, key), tools)
            if surface is not None:
                structured = surface.always_structured or self._structured_output or project.structured_output
                return Target(project, surface, structured)
        raise NotFound(_nothing_here(address, surface_name))

    def _names(self, project: docstore_api.Project, wanted: str, key: docstore_api.AccessKey | None) -> Sequence[str]:
        names: Sequence[str] = [wanted] if wanted else list(project.surfaces) or [DEFAULT_SURFACE]
        if ALL in names:
            names = self._surfaces.names
        return [name for name in names if key is None or not key.surfaces or name in key.surfaces]

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
