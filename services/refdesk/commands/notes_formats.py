"""Writes answers of the surface notes as cli, json, csv, md, xml or files; pure, knows no desk."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Data = Mapping[str, Any]
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Format(StrEnum):
    """How an answer is written."""

    cli = "cli"
    json = "json"
    csv = "csv"
    md = "md"
    xml = "xml"
    files = "files"


RESULT_FIELDS = ("docid", "score", "file", "title", "context")
DOCUMENT_FIELDS = ("docid", "name", "title", "context")
COLLECTION_FIELDS = ("name", "documents", "description")


def write_results(results: Sequence[Data], form: Format, why: Data | None = None) -> str:
    """The results of a query: with `body` where they have it, else their snippet; as json with why, where that is given."""
    if why is not None and form is Format.json:
        return json.dumps({"results": list(results), "explain": why}, indent=2, ensure_ascii=False)
    if form is Format.files:
        return _csv([[one["docid"], one["score"], one["file"], one["context"] or ""] for one in results])
    if form is Format.cli:
        return "\n\n".join(_cli_result(one) for one in results) if results else "No results found."
    return _write(
        results, RESULT_FIELDS, "body" if any("body" in one for one in results) else "snippet", "results", form
    )


def write_documents(documents: Sequence[Data], form: Format) -> str:
    """Documents with their text."""
    if form is Format.files:
        return _csv([[one["docid"], one["name"], one["context"] or ""] for one in documents])
    if form is Format.cli:
        return "\n\n".join(_cli_document(one) for one in documents)
    return _write(documents, DOCUMENT_FIELDS, "text", "documents", form)


def write_collections(collections: Sequence[Data], form: Format) -> str:
    """Collections with their counts."""
    if form is Format.files:
        return "\n".join(one["name"] for one in collections)
    return _write(collections, COLLECTION_FIELDS, "", "collections", form)


def _write(rows: Sequence[Data], fields: Sequence[str], body: str, what: str, form: Format) -> str:
    shown = (*fields, body) if body else fields
    if form is Format.json:
        return json.dumps([dict(row) for row in rows], indent=2, ensure_ascii=False)
    if form is Format.csv:
        return _csv([list(shown), *([_cell(row[name]) for name in shown] for row in rows)])
    if form is Format.md:
        return "\n\n".join(_markdown(row, fields, body) for row in rows)
    return "\n".join((f"<{what}>", *(_xml(row, fields, body) for row in rows), f"</{what}>"))


def _cli_result(one: Data) -> str:
    head = f"{one['docid']} {round(one['score'] * 100)}% {one['file']} - {one['title']}"
    context = [f"Context: {one['context']}"] if one["context"] else []
    return "\n".join((head, *context, one.get("body", one["snippet"])))


def _cli_document(one: Data) -> str:
    context = [f"Context: {one['context']}"] if one["context"] else []
    return "\n".join((f"{one['docid']} {one['name']} - {one['title']}", *context, "", one["text"]))


def _markdown(row: Data, fields: Sequence[str], body: str) -> str:
    name = row.get("file") or row["name"]
    lines = [f"- {field}: {row[field]}" for field in fields if row[field] not in (None, "") and row[field] != name]
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", row[body]))]) if body else ""
    block = [f"\n{fence}\n{row[body]}\n{fence}"] if body else []
    return "\n".join((f"## {name}\n", *lines, *block))


def _xml(row: Data, fields: Sequence[str], body: str) -> str:
    given = [(field, _cell(row[field])) for field in fields if row[field] is not None]
    attributes = "".join(f" {field}={quoteattr(_NOT_XML.sub('', value))}" for field, value in given)
    inside = escape(_NOT_XML.sub("", row[body])) if body else ""
    return f"<item{attributes}>{inside}</item>"


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue().rstrip("\n")
