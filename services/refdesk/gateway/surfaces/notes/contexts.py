"""Descriptions of parts of a project: which one a document has; pure, knows nothing of where documents come from."""

from __future__ import annotations

from collections.abc import Iterator

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api


class Contexts:
    """The contexts of a project's sources; a source's own description is that of all its documents."""

    def __init__(self, project: docstore_api.Project) -> None:
        self._texts = {prefix: text for source in project.sources for prefix, text in _of_source(source) if text}

    def of_path(self, path: str) -> str:
        """What the longest prefix of a path, by whole segments, is described as; empty where none is."""
        while path:
            if path in self._texts:
                return self._texts[path]
            path = path.rpartition("/")[0]
        return ""

    def of_source(self, name: str) -> str:
        """What a source as a whole is described as."""
        return self._texts.get(name, "")


def _of_source(source: docstore_api.Source) -> Iterator[tuple[str, str]]:
    yield source.name, source.description
    for context in source.contexts:  # one of the whole source comes later, and counts
        yield f"{source.name}/{context.prefix}".rstrip("/"), context.text
