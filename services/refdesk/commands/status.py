"""Asks a running desk's operator API, and writes what it says for people."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from refdesk.commands.generation_lines import generation_lines
from refdesk.desk import find_admin_key, find_url
from refdesk.errors import InvalidArgument, NotFound, PermissionDenied, RefdeskError, Unauthenticated, Unavailable
from refdesk.gateway.operator import PREFIX
from refdesk.telemetry.labels import source_label

TIMEOUT_SECONDS = 120.0
REASONS: dict[int, type[RefdeskError]] = {
    400: InvalidArgument,
    401: Unauthenticated,
    403: PermissionDenied,
    404: NotFound,
}


def operate(path: str, *, post: bool = False, body: Any = None) -> dict[str, Any]:
    """Calls one path of the operator API of the running desk, with a body of JSON where one is given.

    Raises: NotFound where no desk runs or it knows no such thing; Unavailable when it does not answer.
    """
    data = json.dumps(body).encode() if body is not None else None
    request = operator_request(path, data, post=post)
    url = request.full_url
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as failure:
        raise failed_as(failure) from None
    except OSError:
        raise Unavailable(f"the desk at {url.removesuffix(path)} does not answer: is it still running?") from None


def operator_request(path: str, data: Any = None, *, post: bool = False) -> urllib.request.Request:
    """A request to a path of the operator API of the running desk, with the admin's key where one is known.

    Raises: NotFound where no desk runs.
    """
    secret = find_admin_key()
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    url = f"{find_url()}{PREFIX}/{path}"
    return urllib.request.Request(url, data, headers, method="POST" if post else "GET")


def failed_as(failure: urllib.error.HTTPError) -> RefdeskError:
    """The error that an answer of the operator API stands for."""
    return REASONS.get(failure.code, Unavailable)(_detail(failure))


def _mended_line(mended: int, *, is_reconciling: bool) -> str:
    """That what was missing in the index is put back, as after an upgrade that lays words out anew."""
    documents = f"{mended:,} document{'' if mended == 1 else 's'}"
    if is_reconciling:
        return f"  putting the index right: {documents} so far; until it is done, searches may miss some"
    return f"  the newest comparison of index and records put {documents} right"


def status_lines(status: dict[str, Any]) -> Iterator[str]:
    """What a desk holds and does, for people."""
    for project in status["projects"]:
        stats, ingest = project["stats"], project["ingest"]
        documents, chunks = int(stats["document_count"]), int(stats["chunk_count"])
        yield f'project "{project["project"]}": {documents:,} documents, {chunks:,} chunks, model {project["model"]}'
        embedded, embeddable = int(stats["embedded_count"]), int(stats["embeddable_count"])
        yield f"  vectors: {embedded:,} of {embeddable:,} documents"
        yield f"  events waiting: {int(ingest['pending_events']):,}"
        if mended := int(ingest.get("mended_count", 0)):
            yield _mended_line(mended, is_reconciling=bool(ingest.get("reconciling")))
        for source in ingest["sources"]:
            state = source["state"].removeprefix("SOURCE_STATE_").lower()
            yield f"  source {source['name']} ({source['kind']}): {state}, {int(source['listed_count']):,} documents listed"
            if source["message"]:
                yield f"    {source['message']}"
                yield f'    in metrics: source="{source_label(project["project"], source["name"])}"'
        if not project["followed"]:
            yield "  it is declared no more: it is answered from what it holds, and nothing follows it"
        elif len(project["generations"]) > 1 or project["generations"][0]["message"]:
            yield from (f"  {line}" for line in generation_lines(project["generations"]))
        count = int(project["report_count"])
        if count:
            yield f"  not indexed, or with a remark: {count:,}"
        for report in project["reports"]:
            yield f"    {report['path']}: {report['reason']}"


def _detail(failure: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(failure)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the desk answered {failure.code}"
