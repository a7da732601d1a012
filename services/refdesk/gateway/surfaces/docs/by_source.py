"""Pages of a project's documents, one source after the other as they are declared; knows nothing of how they are shown."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument


async def list_by_source(
    docstore: Docstore, project: docstore_api.Project, sources: Sequence[str], cursor: str, size: int
) -> docstore_api.ListDocumentsResponse:
    """A page of `size` documents of these sources, and the cursor of the next one.

    The cursor names its source and the place in it, so sources that are added or emptied meanwhile change nothing before it.
    Raises: InvalidArgument for a cursor of another project, or of a source that is gone; Unavailable.
    """
    place, token = _read(cursor, project.slug, sources) if cursor else (0, "")
    found = docstore_api.ListDocumentsResponse()
    for name in sources[place:]:
        missing = size - len(found.documents)
        page = await _list(docstore, project, name, token, missing or 1)
        if not missing:  # the page is full: is there anything more?
            if page.documents:
                found.next_page_token = _write(project.slug, name, "")
                break
            continue
        found.documents.extend(page.documents)
        token = ""
        if page.next_page_token:
            found.next_page_token = _write(project.slug, name, page.next_page_token)
            break
    return found


async def _list(
    docstore: Docstore, project: docstore_api.Project, source: str, token: str, size: int
) -> docstore_api.ListDocumentsResponse:
    return await docstore.list_documents(
        docstore_api.ListDocumentsRequest(
            project=project.slug,
            generation=project.live_generation,
            source=source,
            page_token=token,
            page_size=size,
        )
    )


def _write(project: str, source: str, token: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([project, source, token]).encode()).decode().rstrip("=")


def _read(cursor: str, project: str, sources: Sequence[str]) -> tuple[int, str]:
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        raise InvalidArgument("cursor is none of this listing") from None
    if not isinstance(parts, list) or len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        raise InvalidArgument("cursor is none of this listing")
    if parts[0] != project or parts[1] not in sources:
        raise InvalidArgument("cursor is of another listing")
    return list(sources).index(parts[1]), parts[2]
