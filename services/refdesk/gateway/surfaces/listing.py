"""A page of a project's documents for a listing of resources; knows nothing of how they are shown."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument
from refdesk.gateway.arguments import check_text

PAGE_SIZE = 200


async def list_page(
    docstore: Docstore, project: docstore_api.Project, cursor: str
) -> docstore_api.ListDocumentsResponse:
    """The 200 documents behind a cursor.

    Raises: InvalidArgument for a cursor of another listing; Unavailable.
    """
    check_text("cursor", cursor)
    request = docstore_api.ListDocumentsRequest(
        project=project.slug, generation=project.live_generation, page_token=cursor, page_size=PAGE_SIZE
    )
    try:
        return await docstore.list_documents(request)
    except InvalidArgument:
        raise InvalidArgument("cursor is not one of this listing: list without cursor to start again") from None
