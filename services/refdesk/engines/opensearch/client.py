"""Requests to one OpenSearch cluster: tried again within a budget, answered or failed with one of our errors; knows no indices.

    client = OpenSearchClient(url, settings, Names("docstore.url", "docstore.opensearch"))
    await client.start()                                   # refuses what is no OpenSearch of ours, by the setting's name
    answer = await client.read("POST", "/refdesk-records/_search", {"query": …})
    answer = await client.write("PUT", "/refdesk-records-v1", {"mappings": …})
    await client.close()

indices.py makes indices, bulk.py writes documents, reading.py reads them; whoever uses those needs no request of its own.
"""

from __future__ import annotations

import asyncio
import io
import logging
import random
import time
from collections.abc import Collection, Mapping
from typing import Any

from opensearchpy import AIOHttpConnection, AsyncOpenSearch
from opensearchpy.exceptions import OpenSearchException

from refdesk.engines.opensearch.address import Credentials, Names, read_address, read_certificates
from refdesk.engines.opensearch.faults import Busy, Faults, Refused, never_sent
from refdesk.engines.opensearch.settings import OpenSearchSettings
from refdesk.errors import Internal, InvalidArgument, RefdeskError, Unavailable
from refdesk.rpc.deadline import remaining_seconds

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 1.0
READ_SHARE = 0.1
"""Of the budget: somebody waits for an answer."""
CONNECTIONS = 32
"""To each node."""
DEAD_SECONDS = 2.0
"""A node that could not be reached is left out for so long, and up to twice as long."""
OLDEST_VERSION = 2


class OpenSearchClient:
    """One cluster. Nothing connects before `start`; what fails says which setting to look at."""

    def __init__(self, url: str, settings: OpenSearchSettings, names: Names) -> None:
        self.settings = settings
        self.names = names
        self.address = read_address(url, names)
        self.faults = Faults(self.address, names, settings.user)
        self._credentials = Credentials(settings, names)
        self._tls = read_certificates(self.address, settings, names)
        self._driver: AsyncOpenSearch | None = None

    async def start(self) -> None:
        """Connects and checks what answers.

        Raises: InvalidArgument for what will not mend itself (credentials, TLS, another product); Unavailable.
        """
        self._driver = self._open_driver()
        try:
            self._check_product(await self.read("GET", "/", starting=True))
        except BaseException:
            await self.close()
            raise

    def _check_product(self, answer: object) -> None:
        version = answer.get("version") if isinstance(answer, Mapping) else None
        found = version if isinstance(version, Mapping) else {}
        major = str(found.get("number", "")).partition(".")[0]
        if found.get("distribution") != "opensearch" or not major.isdecimal() or int(major) < OLDEST_VERSION:
            raise InvalidArgument(
                f"what answers at {self.address} is no OpenSearch {OLDEST_VERSION} or newer; check {self.names.url}"
            )

    async def close(self) -> None:
        """Lets go of the connections. Closing twice does no harm."""
        driver, self._driver = self._driver, None
        if driver is None:
            return
        # Its own close leaves out the connections to nodes that could not be reached lately.
        for connection in getattr(driver.transport, "seed_connections", ()):
            await connection.close()

    async def read(
        self,
        method: str,
        path: str,
        body: object = None,
        params: Mapping[str, Any] | None = None,
        *,
        starting: bool = False,
    ) -> Any:
        """The answer of a request that changes nothing.

        Raises: Unavailable (Busy, IndexMissing); Internal; with `starting` InvalidArgument for what an operator must mend.
        """
        budget_seconds = self.settings.retry_seconds * READ_SHARE
        try:
            return await self._request(method, path, body, params, budget_seconds, is_read=True, starting=starting)
        except Refused as error:  # it holds nobody's document
            raise Internal(f"a request of ours was refused: {error.message}") from None

    async def write(
        self,
        method: str,
        path: str,
        body: object = None,
        params: Mapping[str, Any] | None = None,
        *,
        starting: bool = False,
    ) -> Any:
        """The answer of a request that changes something; it is sent again only where it certainly did nothing.

        Raises: as `read`, and Refused; after Unavailable, unless it is Busy or WriteBlocked, the outcome is unknown.
        """
        return await self._request(
            method, path, body, params, self.settings.retry_seconds, is_read=False, starting=starting
        )

    async def _request(
        self,
        method: str,
        path: str,
        body: object,
        params: Mapping[str, Any] | None,
        budget_seconds: float,
        *,
        is_read: bool,
        starting: bool,
    ) -> Any:
        pauses = Pauses(budget_seconds)
        while True:
            try:
                answer = await self._send(method, path, body, params, starting=starting)
            except OpenSearchException as error:
                failure = self.faults.translate(error, starting=starting)
                if not _may_repeat(error, failure, is_read=is_read) or not await pauses.rest():
                    raise failure from None
            else:
                if isinstance(answer, Mapping):
                    return answer
                raise self.faults.no_opensearch(200, starting=starting)

    async def _send(
        self, method: str, path: str, body: object, params: Mapping[str, Any] | None, *, starting: bool
    ) -> Any:
        if self._driver is None:
            raise Unavailable(f"OpenSearch of {self.names.url} is not open")
        return await self._driver.transport.perform_request(
            method,
            path,
            params=dict(params or {}),
            body=body,
            timeout=max(0.001, remaining_seconds(self.settings.request_timeout_seconds)),  # 0 would mean no limit
            headers=self._credentials.header(starting=starting),
        )

    def _open_driver(self) -> AsyncOpenSearch:
        logging.getLogger("opensearch").setLevel(logging.ERROR)  # failures are ours to tell; at debug it logs texts
        return AsyncOpenSearch(
            hosts=[{"host": host, "port": port} for host, port in self.address.hosts],
            connection_class=_Connection,
            use_ssl=self.address.is_encrypted,
            ssl_context=self._tls,
            pool_maxsize=CONNECTIONS,
            timeout=self.settings.request_timeout_seconds,
            max_retries=0,  # it would repeat a write whose outcome is unknown
            retry_on_status=(),
            dead_timeout=DEAD_SECONDS,
            timeout_cutoff=1,
        )


class _Connection(AIOHttpConnection):
    """Sends a body piece by piece: in one piece a large one would hold up everything else in this process."""

    async def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        timeout: float | None = None,
        ignore: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Status, headers and text of the answer."""
        pieces: Any = io.BytesIO(body) if body else None
        return await super().perform_request(method, url, params, pieces, timeout, ignore, headers)


class Pauses:
    """Rests between attempts, twice as long each time, until a budget is spent."""

    def __init__(self, budget_seconds: float) -> None:
        self._ends_at = time.monotonic() + remaining_seconds(budget_seconds)
        self._seconds = FIRST_PAUSE_SECONDS

    async def rest(self) -> bool:
        """Rests and returns True; False at once where the budget has no room for it."""
        seconds = self._seconds * random.uniform(0.5, 1)
        if time.monotonic() + seconds >= self._ends_at:
            return False
        await asyncio.sleep(seconds)
        self._seconds = min(2 * self._seconds, LONGEST_PAUSE_SECONDS)
        return True


def _may_repeat(error: OpenSearchException, failure: RefdeskError, *, is_read: bool) -> bool:
    if isinstance(failure, Busy) or never_sent(error):
        return True
    return is_read and type(failure) is Unavailable
