"""Holds promises that no compiler does: every RPC names its errors, every setting says what it is for, every ADR is listed."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import REGISTRY
from pydantic import BaseModel

from refdesk.projects import ProjectSettings, SourceSettings
from refdesk.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
RPC = re.compile(r"((?:^[ \t]*//.*\n)+)[ \t]*rpc (\w+)\(", re.MULTILINE)


def main() -> int:
    """Prints each broken promise and exits 1 when there is one."""
    declared = [*silent_settings(ProjectSettings, "projects."), *silent_settings(SourceSettings, "sources.")]
    broken = [*silent_rpcs(), *silent_settings(Settings, ""), *declared, *unlisted_decisions(), *untold_metrics()]
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


def silent_rpcs() -> Iterator[str]:
    """RPCs whose comment says nothing of errors."""
    for proto in sorted((ROOT / "protos").rglob("*.proto")):
        text = proto.read_text(encoding="utf-8")
        found = RPC.findall(text)
        if len(found) != len(re.findall(r"^\s*rpc ", text, re.MULTILINE)):
            yield f"{proto.relative_to(ROOT)}: an RPC has no comment"
        for comment, name in found:
            if "Errors:" not in comment:
                yield f"{proto.relative_to(ROOT)}: {name} does not name its errors"


def silent_settings(model: type[BaseModel], where: str) -> Iterator[str]:
    """Settings without a description; a group of settings has its class's docstring."""
    for name, field in model.model_fields.items():
        place = f"{where}{name}"
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if not kind.__doc__:
                yield f"setting {place}: its group has no docstring"
            yield from silent_settings(kind, f"{place}.")
        elif not field.description:
            yield f"setting {place} has no description"


def unlisted_decisions() -> Iterator[str]:
    """Decisions that docs/decisions/README.md does not list."""
    folder = ROOT / "docs" / "decisions"
    listed = (folder / "README.md").read_text(encoding="utf-8") if (folder / "README.md").exists() else ""
    for decision in sorted(folder.glob("[0-9]*.md")):
        if f"({decision.name})" not in listed:
            yield f"docs/decisions/{decision.name} is not listed in docs/decisions/README.md"


def untold_metrics() -> Iterator[str]:
    """Metrics that docs/operations.md does not have, and those that only it has."""
    for component in ("rpc", "gateway", "embedder", "search", "docstore", "ingest", "telemetry"):
        importlib.import_module(f"refdesk.{component}.metrics")
    own = [metric for metric in REGISTRY.collect() if metric.name.startswith(("refdesk_", "mcp_"))]
    names = {f"{metric.name}_total" if metric.type == "counter" else metric.name for metric in own}
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`((?:refdesk|mcp)_[a-z_]+)`", page))
    yield from (f"metric {name} does not stand in docs/operations.md" for name in sorted(names - told))
    yield from (f"docs/operations.md tells of a metric {name} that no code has" for name in sorted(told - names))


if __name__ == "__main__":
    sys.exit(main())
