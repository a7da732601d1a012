"""Connects to a NATS server, or says which setting keeps it from being done; knows nothing of streams."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from nats.aio.client import Client
from nats.errors import Error

from refdesk.engines.nats.access import Names
from refdesk.errors import InvalidArgument, RefdeskError, Unavailable

CONNECT_TIMEOUT_SECONDS = 5.0
CLOSE_SECONDS = 0.5
ATTEMPTS = 3
"""A server that refuses may end the connection before its word is read."""
OLDEST_SERVER = (2, 12)
"""The first that publishes batches whole."""
_log = structlog.get_logger()


async def open_client(
    servers: Sequence[str], options: Mapping[str, Any], refusal: str, names: Names, *, service: str = "ingest"
) -> Client:
    """A client that is connected, and connects again by itself. `refusal` is what to say where the server lets us not in.

    Raises: Unavailable; InvalidArgument for a refusal, for TLS that does not come about, or for a server that is too old.
    """
    for attempt in range(1, ATTEMPTS + 1):
        client = Client()
        try:
            await _connect(client, servers, options, service)
        except (Error, OSError, TimeoutError) as error:
            await _give_up(client)
            found = _why(error, refusal, names)
            if isinstance(found, InvalidArgument) or not isinstance(error, ConnectionError) or attempt == ATTEMPTS:
                raise found from None
        else:
            return await _checked(client)
    raise AssertionError("the last attempt returns or raises")


async def _connect(client: Client, servers: Sequence[str], options: Mapping[str, Any], service: str) -> None:
    async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
        await client.connect(
            list(servers),
            name=f"refdesk {service}",
            allow_reconnect=False,  # not at first: what is wrong shall be said, and the client leaves sockets open as it tries
            max_reconnect_attempts=-1,
            reconnect_time_wait=1,
            connect_timeout=2,
            ping_interval=10,
            error_cb=_note_error,
            **options,
        )
    client.options["allow_reconnect"] = True


async def _checked(client: Client) -> Client:
    version = client.connected_server_version
    if (version.major, version.minor) < OLDEST_SERVER:
        await _give_up(client)
        raise InvalidArgument(f"the NATS server is {version.major}.{version.minor}: 2.12 or newer is needed")
    return client


async def _give_up(client: Client) -> None:
    """The client waits for the end of a connection, which one whose TLS did not come about never has."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await client.close()


def _why(error: Exception, refusal: str, names: Names) -> RefdeskError:
    said = str(error).lower()
    if "authorization" in said or "authentication" in said:
        return InvalidArgument(refusal)
    if isinstance(error, ssl.SSLError):
        return InvalidArgument(
            f"TLS with the NATS server failed: check {names.group}.ca_file, and {names.group}.certificate_file where it asks for one"
        )
    return Unavailable(f"the NATS server cannot be reached: see that it runs and that {names.url} is right")


async def _note_error(error: Exception) -> None:
    _log.warning("a connection to the NATS server had an error", error=type(error).__name__)
