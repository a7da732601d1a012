"""Composes every module's settings into one model: default < YAML file < environment; an unknown key stops the start."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from refdesk.docstore.settings import DocstoreSettings
from refdesk.embedder.settings import EmbedderSettings
from refdesk.errors import InvalidArgument
from refdesk.gateway.settings import GatewaySettings
from refdesk.ingest.settings import IngestSettings
from refdesk.projects import RESERVED_SLUGS, ProjectSettings, Slug
from refdesk.rpc.settings import RpcSettings
from refdesk.search.settings import SearchSettings
from refdesk.telemetry.settings import TelemetrySettings

PREFIX = "REFDESK_"
OTHER_VARIABLES = ("REFDESK_URL", "REFDESK_CONFIG", "REFDESK_CACHE", "REFDESK_CORPORA")
"""Variables of the commands and the tests that are no settings; those that begin with REFDESK_TEST_ are none either."""
ALIASES = {
    "SEARCH_MAX_RESULT_CHARS": ("gateway", "search_max_result_chars"),
    "MCP_STRUCTURED_OUTPUT": ("gateway", "structured_output"),
}


class Settings(BaseModel):
    """The whole configuration; the defaults run a laptop with no file at all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str = Field("", description="Folder of the index; empty: .refdesk/<name>-<hash of the folder's path>.")
    rpc: RpcSettings = Field(default_factory=RpcSettings)
    telemetry: TelemetrySettings = Field(default_factory=TelemetrySettings)
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)
    ingest: IngestSettings = Field(default_factory=IngestSettings)
    embedder: EmbedderSettings = Field(default_factory=EmbedderSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    docstore: DocstoreSettings = Field(default_factory=DocstoreSettings)
    projects: dict[Slug, ProjectSettings] = Field(default_factory=dict, description="Declared projects, by slug.")

    @field_validator("projects")
    @classmethod
    def refuse_reserved(cls, value: dict[str, ProjectSettings]) -> dict[str, ProjectSettings]:
        """A reserved slug would hide a path of ours."""
        for slug in sorted(RESERVED_SLUGS & value.keys()):
            raise ValueError(f"{slug} is a reserved name; call the project something else")
        return value


def load(file: str, environment: Mapping[str, str], overrides: Mapping[str, Any]) -> Settings:
    """Reads the YAML file (none when empty) and the environment, and puts `overrides` on top.

    Raises: InvalidArgument naming the key, what is wrong with it and what is valid.
    """
    values = _read_file(Path(file)) if file else {}
    for keys, text in _environment_values(environment):
        _put(values, keys, text)
    values = _merged(values, overrides)
    try:
        return Settings.model_validate(values)
    except ValidationError as failure:
        raise InvalidArgument("; ".join(_lines(failure))) from None


def load_here(overrides: Mapping[str, Any] | None = None, file: str = "") -> Settings:
    """Loads what this process was given: the file of --config or REFDESK_CONFIG, and its environment."""
    return load(file or os.environ.get("REFDESK_CONFIG", ""), os.environ, overrides or {})


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError:
        raise InvalidArgument(f"config file {path} cannot be read: name another with --config") from None
    except (yaml.YAMLError, UnicodeDecodeError) as failure:
        where = getattr(failure, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise InvalidArgument(f"config file {path} is not YAML{line}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise InvalidArgument(f"config file {path} must hold keys such as projects:")
    return values


def _environment_values(environment: Mapping[str, str]) -> Iterable[tuple[tuple[str, ...], Any]]:
    for name, text in sorted(environment.items()):
        if name in ALIASES:
            yield ALIASES[name], yaml.safe_load(text)
        if not name.startswith(PREFIX) or name in OTHER_VARIABLES or name.startswith("REFDESK_TEST_"):
            continue
        yield tuple(part.lower() for part in name.removeprefix(PREFIX).split("__")), yaml.safe_load(text)


def _put(values: dict[str, Any], keys: tuple[str, ...], value: Any) -> None:
    for key in keys[:-1]:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            raise InvalidArgument(f"{PREFIX}{'__'.join(keys).upper()}: {key} is not a group of settings")
        values = inner
    values[keys[-1]] = value


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return merged


def _lines(failure: ValidationError) -> Iterable[str]:
    for error in failure.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in error["loc"])
        if error["type"] == "extra_forbidden":
            yield f"{where} is not a setting; valid here: {', '.join(_valid_keys(error['loc']))}"
            continue
        message = error["msg"].removeprefix("Value error, ")
        yield f"{where}: {message[0].lower()}{message[1:]}"


def _valid_keys(location: tuple[int | str, ...]) -> list[str]:
    model: Any = Settings
    for part in location[:-1]:
        fields = getattr(model, "model_fields", {})
        kind = fields[part].annotation if part in fields else None
        model = _inner_model(kind, model)
    return sorted(getattr(model, "model_fields", {}))


def _inner_model(kind: Any, current: Any) -> Any:
    if kind is None:  # an index of a list, or a slug: the model that it holds was already taken
        return current
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    models = [part for part in getattr(kind, "__args__", ()) if isinstance(part, type) and issubclass(part, BaseModel)]
    return models[0] if models else current
