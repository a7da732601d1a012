"""Conditional puts of whole records; knows nothing of how they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from refdesk import failpoints
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.opensearch import rows
from refdesk.docstore.engines.opensearch.changing import Change, change_documents
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit
from refdesk.errors import InvalidArgument


async def put_documents(
    client: OpenSearchClient, alias: str, items: Sequence[pb.PutDocumentsItem], put_at_milliseconds: int
) -> list[pb.PutDocumentsOutcome]:
    """Puts what does not conflict; of several puts of one record each sees those before it. An outcome for each.

    Raises: InvalidArgument naming records that OpenSearch refuses to keep, the others are put then; Unavailable.
    """
    outcomes: dict[int, pb.PutDocumentsOutcome] = {}
    refused: list[str] = []
    for places in _waves(items):
        refused += await _put_wave(client, alias, items, places, put_at_milliseconds, outcomes)
    if refused:
        raise InvalidArgument(
            f"{', '.join(refused[:3])} cannot be kept: OpenSearch takes no record of that size, or a field is too long"
        )
    return [outcomes[place] for place in range(len(items))]


def _waves(items: Sequence[pb.PutDocumentsItem]) -> list[dict[str, int]]:
    """Key to place of the first puts of each record, then of the second ones, and so on."""
    waves: list[dict[str, int]] = []
    seen = Counter[str]()
    for place, item in enumerate(items):
        key = rows.key_of(item.document.project, item.document.document_id)
        if seen[key] == len(waves):
            waves.append({})
        waves[seen[key]][key] = place
        seen[key] += 1
    return waves


async def _put_wave(
    client: OpenSearchClient,
    alias: str,
    items: Sequence[pb.PutDocumentsItem],
    places: dict[str, int],
    put_at_milliseconds: int,
    outcomes: dict[int, pb.PutDocumentsOutcome],
) -> list[str]:
    """Paths that were refused."""

    def decide(key: str, standing: Hit | None) -> Change | None:
        item = items[places[key]]
        revision = int(standing.source["revision"]) if standing else 0
        if revision != item.expected_revision:
            outcomes[places[key]] = pb.PutDocumentsOutcome(committed=False, revision=revision)
            return None
        outcomes[places[key]] = pb.PutDocumentsOutcome(committed=True, revision=item.document.revision)
        return Change(rows.pack(item.document, put_at_milliseconds))

    failpoints.reach("docstore.before_commit")
    refused = await change_documents(client, alias, list(places), decide, only=["revision"])
    failpoints.reach("docstore.after_commit")
    return [items[places[key]].document.path for key in refused]
