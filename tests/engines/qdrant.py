"""Opens the vector index on the Qdrant that tests are given, or in memory of qdrant-client where they are given none.

The memory of qdrant-client is code of its makers in Python, not the server: it proves that our calls mean what we think, conditional
upserts and sweeps included. It proves nothing of strict mode, payload indexes, replication, ordering, graphs, durability, keys or the
wire: settings of a collection it takes and forgets.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from qdrant_client import AsyncQdrantClient

from refdesk.search.engines.qdrant_calls import open_remote
from refdesk.search.engines.qdrant_index import QdrantIndex
from refdesk.search.settings import SearchSettings

URL_VARIABLE = "REFDESK_TEST_QDRANT_URL"
KEY_FILE_VARIABLE = "REFDESK_TEST_QDRANT_KEY_FILE"
URL = os.environ.get(URL_VARIABLE, "")
IS_SERVER = bool(URL)
WHERE = "behind the vector index on Qdrant: " + (
    f"the server at {URL}"
    if IS_SERVER
    else f"qdrant-client's in-memory mode, NOT a server; set {URL_VARIABLE} to test one"
)


def settings_for(folder: Path) -> SearchSettings:
    """Settings of an index that no other test's folder shares."""
    return SearchSettings(
        vector_url=URL or "qdrant://memory",
        vector_api_key_file=os.environ.get(KEY_FILE_VARIABLE, ""),
        vector_collection_prefix=f"test-{sha256(str(folder).encode()).hexdigest()[:16]}",
    )


def open_qdrant(folder: Path) -> QdrantIndex:
    """An index of this folder's own: on a server it keeps what was written, in memory it begins empty."""
    return QdrantIndex(settings_for(folder), None if IS_SERVER else open_memory)


def open_memory(key: str) -> AsyncQdrantClient:
    """A client with nothing behind it."""
    return AsyncQdrantClient(":memory:")


async def clean_qdrant(folder: Path) -> None:
    """Deletes what an index of this folder left on the server."""
    if not IS_SERVER:
        return
    settings = settings_for(folder)
    key = Path(settings.vector_api_key_file).read_text().strip() if settings.vector_api_key_file else ""
    client = open_remote(settings)(key)
    for collection in (await client.get_collections()).collections:
        if collection.name.startswith(settings.vector_collection_prefix):
            await client.delete_collection(collection.name)
    await client.close()
