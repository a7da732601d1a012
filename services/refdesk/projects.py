"""What an operator declares of a project and its sources, as one file holds it; knows nothing of how any service stores it."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

SLUG = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
CONTEXT_CHARACTERS = 500
"""Of a description of a path prefix: it comes with every hit."""
RESERVED_SLUGS = frozenset({"docs", "all", "health", "api"})
SURFACES = ("docs", "site", "procedures", "notes", "connector")
"""That are built; more come with later releases."""

Slug = Annotated[str, Field(pattern=SLUG)]


class Declared(BaseModel):
    """A frozen part of the declared file; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FloorSettings(Declared):
    """Relevance floor of a project; an absent part is the model's own."""

    cosine: float | None = Field(None, ge=-1, le=1, description="Cosine similarity of the best chunk.")
    coverage: float | None = Field(None, ge=0, le=1, description="Share of the query's idf mass that one hit holds.")


class PublicSearchSettings(Declared):
    """The search box of a published site: anybody may ask, without a key."""

    origins: tuple[str, ...] = Field(
        (), max_length=50, description="Web pages that may read the answers, e.g. https://docs.example.com."
    )

    @field_validator("origins")
    @classmethod
    def refuse_what_is_no_origin(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """A browser names scheme, host and port, and nothing else; what is compared must be written so."""
        for origin in value:
            if not re.fullmatch(r"https?://[a-z0-9.\-\[\]:]+", origin):
                raise ValueError(f"{origin} is no origin: write it as https://docs.example.com, in lower case")
        return value


MARKDOWN = ("**/*.md", "**/*.mdx", "**/*.markdown")
SPECS = ("**/*.yaml", "**/*.yml", "**/*.json")


class SourceSettings(Declared):
    """One named origin of documents."""

    name: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$", description="First path segment.")
    kind: Literal["folder", "push"] = Field("folder", description="Where its documents come from.")
    path: str = Field("", description="Folder that is followed, for kind folder.")
    type: Literal["documentation", "api"] = Field("documentation", description="What its pages are.")
    include: tuple[str, ...] = Field(
        MARKDOWN, description="Globs to take; absent: Markdown, and for type api **/*.yaml, **/*.yml and **/*.json too."
    )
    exclude: tuple[str, ...] = Field((), description="Globs to leave out of what is taken.")
    unpublished: tuple[str, ...] = Field(
        (), description="Globs of documents that are held back, as `draft: true` in their front matter does."
    )
    navigation: str = Field(
        "",
        max_length=1024,
        description="Path within the source of its menu: a .yml of entries, an mkdocs.yml, a sidebars.json or a SUMMARY.md; absent: "
        "its folders.",
    )
    navigation_root: str | None = Field(
        None,
        max_length=1024,
        description="Folder within the source that the menu's pages are relative to; absent: its own, of an mkdocs.yml the docs_dir.",
    )
    title: str = Field("", max_length=100, description="Shown name; absent: its name.")
    version: str = Field("", max_length=64, description="Release label of all its documents.")
    language: str = Field("", max_length=8, description="ISO 639-1; detected per document where absent.")
    base_url: str = Field("", description="url = base_url + path without extension + /")
    description: str = Field("", max_length=300, description="One line.")
    contexts: dict[str, str] = Field(
        default_factory=dict,
        max_length=200,
        description="Descriptions of path prefixes within the source; the longest that fits counts.",
    )
    chunk_tokens: int = Field(200, ge=40, le=2000, description="Size that chunks aim for, tokens.")
    max_bytes: int = Field(1_048_576, ge=1, description="A larger file is reported by name, not indexed.")
    poll_seconds: float = Field(60, ge=1, description="How often the source is listed beside being watched.")

    @field_validator("contexts")
    @classmethod
    def trim_contexts(cls, value: dict[str, str]) -> dict[str, str]:
        """Prefixes are compared by whole segments, and descriptions are shown on one line."""
        trimmed = {prefix.strip("/"): " ".join(text.split()) for prefix, text in value.items()}
        for prefix, text in trimmed.items():
            if not 0 < len(text) <= CONTEXT_CHARACTERS:
                raise ValueError(f"the context of {prefix or '/'} must have 1 to {CONTEXT_CHARACTERS} characters")
        if len(trimmed) < len(value):
            raise ValueError("two contexts are of the same path prefix; keep one of them")
        return trimmed

    @field_validator("navigation", "navigation_root")
    @classmethod
    def refuse_what_leads_out(cls, value: str | None) -> str | None:
        """A menu lies within its source, and so do its pages."""
        if value and (value.startswith("/") or "\\" in value or ".." in value.split("/")):
            raise ValueError("give a path within the source, with slashes and without ..")
        return value

    @field_validator("base_url")
    @classmethod
    def end_with_slash(cls, value: str) -> str:
        """A base URL ends with one slash, so that paths can be put behind it."""
        return value.rstrip("/") + "/" if value else ""

    @model_validator(mode="after")
    def take_specs(self) -> Self:
        """Of an API's folder specs are taken besides Markdown, where nothing else is declared."""
        if self.kind == "folder" and self.type == "api" and "include" not in self.model_fields_set:
            object.__setattr__(self, "include", (*MARKDOWN, *SPECS))
        return self

    @model_validator(mode="after")
    def refuse_what_a_push_has_not(self) -> Self:
        """What is pushed has no folder, and its publisher chooses what to push."""
        given = [name for name in ("path", "include", "exclude") if name in self.model_fields_set]
        if self.kind == "push" and given:
            raise ValueError(f"a source of kind push takes no {' and no '.join(given)}: its publisher decides")
        return self

    @model_validator(mode="after")
    def refuse_no_path(self) -> Self:
        """Without one, the folder that the desk happens to be started in would be indexed."""
        if self.kind == "folder" and not self.path.strip():
            raise ValueError("a source of kind folder needs path, the folder that it follows")
        return self


class ProjectSettings(Declared):
    """The unit of isolation: its own documents, model, floor, pins."""

    surfaces: tuple[str, ...] = Field(
        ("docs",),
        min_length=1,
        description="What /mcp and /mcp/PROJECT serve, several as one; each has an address /mcp/PROJECT/SURFACE besides.",
    )
    title: str = Field("", max_length=100, description="Shown name; absent: its slug.")
    description: str = Field("", max_length=300, description="One line; agents are told it.")
    model: str = Field("", description="Model id; empty: the embedder's default.")
    floor: FloorSettings = Field(
        default_factory=lambda: FloorSettings(cosine=None, coverage=None), description="Relevance floor of its own."
    )
    pins: tuple[str, ...] = Field(
        (), description="Paths of documents that the surface procedures gives without a call, source included."
    )
    log_days: int = Field(30, ge=1, le=3650, description="Days that rows of calls are kept.")
    structured_output: bool = Field(False, description="Tools publish output schemas and structured content.")
    public_pages: bool = Field(
        False,
        description="Anybody may read /p/PROJECT/PATH, so that links which agents cite open for their readers; else a key is needed.",
    )
    public_search: PublicSearchSettings | None = Field(
        None, description="Set, with its origins: the search box of a site may ask without a key; absent: it may not."
    )
    sources: tuple[SourceSettings, ...] = Field((), description="Where its documents come from.")

    @field_validator("surfaces")
    @classmethod
    def refuse_unserved(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """A surface that nothing serves would leave every address without an answer."""
        for surface in value:
            if surface not in (*SURFACES, "all"):
                raise ValueError(f"no surface {surface} is served; valid: {', '.join(SURFACES)}, all")
        return value

    @field_validator("sources")
    @classmethod
    def refuse_equal_names(cls, value: tuple[SourceSettings, ...]) -> tuple[SourceSettings, ...]:
        """Two sources of one name would share paths."""
        names = [source.name for source in value]
        if len(set(names)) < len(names):
            raise ValueError("two sources have the same name; give each a name of its own")
        return value
