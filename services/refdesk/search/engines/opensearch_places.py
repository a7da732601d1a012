"""The indices of words on one cluster: made at the first write, checked before their first use; knows nothing of entries."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable

from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.indices import check_indices, drop_index, ensure_index, find_index
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.search.engines.interface import Grain, IndexName
from refdesk.search.engines.opensearch_schema import FAMILY, build_index


class Places:
    """What is remembered of indices: those that were found as they have to be."""

    def __init__(self, client: OpenSearchClient) -> None:
        self._client = client
        self._known: set[IndexName] = set()
        self._making: defaultdict[IndexName, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def check(self) -> None:
        """Looks at all that are there.

        Raises: InvalidArgument naming the first that this release cannot use, and what to do; Unavailable.
        """
        await check_indices(self._client, FAMILY)

    async def find(self, index: IndexName) -> bool:
        """Whether both grains are there. Raises: Unavailable, also where one cannot be used."""
        if index not in self._known:
            for grain in Grain:
                if not await _hold(find_index(self._client, build_index(index, grain))):
                    return False
            self._known.add(index)
        return True

    async def obtain(self, index: IndexName) -> None:
        """Makes what is not there. Two processes may: one makes it, both find it. Raises: Unavailable, also where one cannot be used."""
        async with self._making[index]:
            if index in self._known:
                return
            for grain in Grain:
                await _hold(ensure_index(self._client, build_index(index, grain)))
            self._known.add(index)

    async def drop(self, index: IndexName) -> bool:
        """Deletes both grains; whether there was one. Raises: Unavailable."""
        self.forget(index)
        dropped = [await drop_index(self._client, build_index(index, grain)) for grain in Grain]
        self.forget(index)
        return any(dropped)

    def forget(self, index: IndexName) -> None:
        """What is remembered of this index is not so any more."""
        self._known.discard(index)


async def _hold(work: Awaitable[bool | None]) -> bool | None:
    """What `work` answers; an index that cannot be used is nobody's document's fault, so it holds instead of parking one."""
    try:
        return await work
    except InvalidArgument as error:
        raise Unavailable(error.message) from None
