"""Renders the chart as Helm does, offline, and hands out its objects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from helm_python import Chart

CHART = Path(__file__).resolve().parents[2] / "charts" / "refdesk"
CI = sorted((CHART / "ci").glob("*-values.yaml"))
RELEASE, NAMESPACE = "refdesk", "desk"
COMPONENTS = ("docstore", "embedder", "search", "ingest", "gateway")
Object = dict[str, Any]


@cache
def chart() -> Chart:
    """The chart as it stands."""
    return Chart.load(str(CHART))


def read_values(file: Path) -> dict[str, Any]:
    """What a file of values says."""
    return yaml.safe_load(file.read_text(encoding="utf-8")) or {}


def render_files(values: dict[str, Any], name: str = RELEASE) -> dict[str, str]:
    """What each template makes. Raises: helm_python's errors, with Helm's words."""
    return chart().render(values, name=name, namespace=NAMESPACE)


def render(values: dict[str, Any], name: str = RELEASE) -> list[Object]:
    """The objects."""
    texts = (text for path, text in render_files(values, name).items() if not path.endswith("NOTES.txt"))
    return [each for text in texts for each in yaml.load_all(text, UniqueKeys) if each]


@cache
def render_file(file: Path) -> list[Object]:
    """The objects that a file of values makes; not to be changed."""
    return render(read_values(file))


def notes(values: dict[str, Any]) -> str:
    """What Helm says after an install."""
    return next(text for path, text in render_files(values).items() if path.endswith("NOTES.txt"))


def of_kind(objects: list[Object], kind: str) -> dict[str, Object]:
    """The objects of a kind, by name."""
    return {each["metadata"]["name"]: each for each in objects if each["kind"] == kind}


def pods(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """Name and spec of each pod that the objects make."""
    for each in objects:
        if each["kind"] == "Pod":
            yield each["metadata"]["name"], each["spec"]
        elif each["kind"] in ("Deployment", "StatefulSet"):
            yield each["metadata"]["name"], each["spec"]["template"]["spec"]


def config_of(objects: list[Object]) -> str:
    """The settings file of the components."""
    return str(of_kind(objects, "ConfigMap")["refdesk-config"]["data"]["config.yaml"])


class UniqueKeys(yaml.SafeLoader):
    """Refuses a key that stands twice in a mapping: server-side apply would too."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        doubles = {key for key in keys if keys.count(key) > 1}
        assert not doubles, f"{doubles} stand twice at line {node.start_mark.line}"
        return super().construct_mapping(node, deep)
