"""Puts what counts its puts, on the revision that was read only; knows nothing of what it is."""

from __future__ import annotations

from typing import TypeVar

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.opensearch.changing import Change, change_documents
from refdesk.docstore.engines.opensearch.rows import encode
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit
from refdesk.errors import InvalidArgument

Counted = TypeVar("Counted", pb.Project, pb.AccessKey)


async def put_on_revision(
    client: OpenSearchClient, alias: str, message: Counted, expected_revision: int, *, name: str, what: str
) -> Counted | None:
    """The message as it is now, or None where it has another revision. `name` is the field that names it, `what` that of its blob.

    Raises: InvalidArgument; Unavailable.
    """
    written = type(message)()
    written.CopyFrom(message)
    written.revision = expected_revision + 1
    key = str(getattr(message, name))
    is_expected = False

    def decide(_: str, standing: Hit | None) -> Change | None:
        nonlocal is_expected
        is_expected = (standing.source["revision"] if standing else 0) == expected_revision
        if not is_expected:
            return None
        return Change({name: key, "revision": written.revision, what: encode(written.SerializeToString())})

    if await change_documents(client, alias, [key], decide, only=["revision"]):
        raise InvalidArgument(f"{what} {key} cannot be kept by OpenSearch")
    return written if is_expected else None
