"""Reaches one Qdrant server: opens its client, tries again within a budget, words failures as ours; knows no collections."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

import grpc
import structlog
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse

from refdesk import errors
from refdesk.rpc.deadline import remaining_seconds
from refdesk.search.settings import SearchSettings

PORT = 6334
CALL_TIMEOUT_SECONDS = 20
"""Of one call where its caller set no deadline."""
READ_BUDGET_SECONDS, WRITE_BUDGET_SECONDS = 0.5, 8.0
"""How long a call is tried again: somebody waits for a search, and a write outlasts a restarted connection (2 s at most)."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.1, 2.0
MESSAGE_BYTES = 64 * 1024 * 1024
CHANNEL_OPTIONS = {
    "grpc.max_receive_message_length": MESSAGE_BYTES,
    "grpc.max_send_message_length": MESSAGE_BYTES,
    "grpc.lb_policy_name": "round_robin",
    "grpc.dns_min_time_between_resolutions_ms": 2000,
    "grpc.initial_reconnect_backoff_ms": 200,
    "grpc.max_reconnect_backoff_ms": 2000,
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 3_000,
}
"""A server that comes back is found within 2 s; one that went away without a word is noticed within 13 s, by deadlines sooner."""

OpenClient = Callable[[str], AsyncQdrantClient]
"""Opens a client with this API key; an empty one is none."""
_Answer = TypeVar("_Answer")
_log = structlog.get_logger()


class Place(NamedTuple):
    """Where a server listens for gRPC."""

    host: str
    port: int
    is_encrypted: bool


def read_place(url: str) -> Place:
    """The server that `qdrant://host:port` or, with TLS, `qdrant+tls://host:port` names. Raises: InvalidArgument."""
    form = "write qdrant://HOST:PORT, or qdrant+tls://HOST:PORT; PORT is the one for gRPC"
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
    except ValueError:
        raise errors.InvalidArgument(f"search.vector_url holds no valid address; {form}") from None
    if parts.username is not None or parts.password is not None:  # the URL is not repeated: it may hold a secret
        raise errors.InvalidArgument(
            "search.vector_url holds a user or a key; name its file in search.vector_api_key_file"
        )
    if not parts.hostname or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise errors.InvalidArgument(f"search.vector_url {url!r} names no server; {form}")
    return Place(parts.hostname, port, parts.scheme == "qdrant+tls")


def open_remote(settings: SearchSettings) -> OpenClient:
    """Opens clients of the server that `settings.vector_url` names; they connect on first use. Raises: InvalidArgument."""
    place = read_place(settings.vector_url)
    if settings.vector_ca_file and not place.is_encrypted:
        raise errors.InvalidArgument(
            "search.vector_ca_file is set, but search.vector_url is not encrypted; write qdrant+tls:"
        )

    def open_client(key: str) -> AsyncQdrantClient:
        options: dict[str, object] = dict(CHANNEL_OPTIONS)
        if settings.vector_ca_file:
            options["root_certificates"] = _read_file("vector_ca_file", settings.vector_ca_file)
        return AsyncQdrantClient(
            host=f"[{place.host}]" if ":" in place.host else place.host,
            port=None,
            grpc_port=place.port,
            prefer_grpc=True,
            https=place.is_encrypted,
            headers={"api-key": key} if key else None,  # not `api_key`: that warns of every key without TLS
            timeout=CALL_TIMEOUT_SECONDS,
            grpc_options=options,
            check_compatibility=False,  # it asks by HTTP, in a thread; we ask by gRPC at the start
            cloud_inference=True,  # else each number of each vector is looked at for a text to embed: 90 ms a batch
        )

    return open_client


class Calls:
    """Calls of one server. Every call may be repeated: writes are conditional, and what was created is found again."""

    def __init__(self, settings: SearchSettings, open_client: OpenClient) -> None:
        self._key_file = settings.vector_api_key_file
        self._open_client = open_client
        self._key = ""
        self._client: AsyncQdrantClient | None = None
        self._is_closed = False
        self._retiring: set[asyncio.Task[None]] = set()
        self.place = settings.vector_url

    async def read(self, work: Callable[[AsyncQdrantClient], Awaitable[_Answer]]) -> _Answer:
        """What a reading call answers. Raises: any of the nine classes, NotFound where there is no such collection."""
        return await self._run(work, READ_BUDGET_SECONDS)

    async def write(self, work: Callable[[AsyncQdrantClient], Awaitable[_Answer]]) -> _Answer:
        """What a writing call answers. Raises: as read."""
        return await self._run(work, WRITE_BUDGET_SECONDS)

    async def close(self) -> None:
        """Lets go of the connections when calls under way are done, and for good."""
        self._is_closed = True
        self._retire()
        if self._retiring:
            await asyncio.wait(self._retiring)

    async def _run(self, work: Callable[[AsyncQdrantClient], Awaitable[_Answer]], budget_seconds: float) -> _Answer:
        gives_up_at = time.monotonic() + remaining_seconds(budget_seconds)
        pause_seconds = FIRST_PAUSE_SECONDS
        while True:
            client = self._living()
            try:
                return await self._try(work, client)
            except (errors.Unauthenticated, errors.PermissionDenied):
                if not self._renew(client):
                    raise
            except (errors.Unavailable, errors.ResourceExhausted) as error:
                wait_seconds = max(pause_seconds * random.uniform(0.5, 1), error.retry_after_seconds or 0)
                if time.monotonic() + wait_seconds >= gives_up_at:
                    raise
                await asyncio.sleep(wait_seconds)
                pause_seconds = min(2 * pause_seconds, LONGEST_PAUSE_SECONDS)

    async def _try(self, work: Callable[[AsyncQdrantClient], Awaitable[_Answer]], client: AsyncQdrantClient) -> _Answer:
        allowed_seconds = remaining_seconds(CALL_TIMEOUT_SECONDS)
        try:
            async with asyncio.timeout(allowed_seconds):
                return await work(client)
        except TimeoutError:
            raise errors.DeadlineExceeded(f"{self.place} took longer than {allowed_seconds:.3g} s") from None
        except (grpc.aio.AioRpcError, ResourceExhaustedResponse) as error:
            raise self._translate(error) from error
        except grpc.aio.UsageError as error:  # the client was retired between our taking it and its call
            raise errors.Unavailable(f"{self.place} was asked on a closed connection; try again") from error
        except ValueError as error:  # pydantic's is one: the client reads every answer into its own models
            raise errors.Internal(f"{self.place} answers in a form that this release cannot read") from error

    def _living(self) -> AsyncQdrantClient:
        if self._is_closed:
            raise errors.Unavailable(f"the vector index on {self.place} is closed")
        if self._client is None:
            self._key = self._read_key()
            self._client = self._open_client(self._key)
        return self._client

    def _renew(self, refused: AsyncQdrantClient) -> bool:
        """Opens a client with the key that the file holds by now; False where it holds what was refused."""
        if self._client is not refused:  # another call has done it
            return True
        if self._read_key() == self._key:
            return False
        self._retire()
        return True

    def _retire(self) -> None:
        """Closes the client behind: a call on a channel that is closed at once would look as if its own caller had cancelled it."""
        client, self._client = self._client, None
        if client is not None:
            task = asyncio.create_task(client.close(grpc_grace=CALL_TIMEOUT_SECONDS))
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)

    def _read_key(self) -> str:
        if not self._key_file:
            return ""
        key = _read_file("vector_api_key_file", self._key_file).decode("ascii", "replace").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise errors.InvalidArgument(f"search.vector_api_key_file {self._key_file} holds no key of one line")
        return key

    def _translate(self, error: grpc.aio.AioRpcError | ResourceExhaustedResponse) -> errors.RefdeskError:
        if isinstance(error, ResourceExhaustedResponse):
            return errors.ResourceExhausted(
                f"{self.place} is given too much to do; try again later", retry_after_seconds=error.retry_after_s
            )
        code = error.code()
        if code not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.NOT_FOUND):
            _log.warning("qdrant refused a call", place=self.place, code=code.name, details=error.details())
        kind, message = _FAILURES.get(code, _DEFECT)
        return kind(f"{self.place} {message}")


_DEFECT = (errors.Internal, "answered what no call of this release can be answered; the log has its words")
_FAILURES: dict[grpc.StatusCode, tuple[type[errors.RefdeskError], str]] = {
    grpc.StatusCode.UNAVAILABLE: (
        errors.Unavailable,
        "cannot be reached; check that Qdrant runs there and that search.vector_url is right",
    ),
    grpc.StatusCode.UNAUTHENTICATED: (errors.Unauthenticated, "refuses the key; check search.vector_api_key_file"),
    grpc.StatusCode.PERMISSION_DENIED: (
        errors.PermissionDenied,
        "refuses the key or what it may do; check search.vector_api_key_file, which must allow to write",
    ),
    grpc.StatusCode.RESOURCE_EXHAUSTED: (errors.ResourceExhausted, "is given too much to do; try again later"),
    grpc.StatusCode.DEADLINE_EXCEEDED: (errors.DeadlineExceeded, "took too long"),
    grpc.StatusCode.NOT_FOUND: (errors.NotFound, "has no such collection"),
    grpc.StatusCode.ALREADY_EXISTS: (errors.AlreadyExists, "has this collection already"),
    grpc.StatusCode.INVALID_ARGUMENT: (errors.InvalidArgument, "does not take this request; the log has its words"),
    grpc.StatusCode.UNIMPLEMENTED: (
        errors.InvalidArgument,
        "is no Qdrant that this release can use; check search.vector_url, which takes the port for gRPC",
    ),
    grpc.StatusCode.INTERNAL: (errors.Unavailable, "failed; see its log, and whether its disk is full"),
    grpc.StatusCode.UNKNOWN: (errors.Unavailable, "failed; see its log"),
    grpc.StatusCode.ABORTED: (errors.Unavailable, "gave the call up; try again"),
    grpc.StatusCode.CANCELLED: (errors.Unavailable, "gave the call up; try again"),
    grpc.StatusCode.DATA_LOSS: (errors.Unavailable, "says that data is lost; see its log"),
    grpc.StatusCode.FAILED_PRECONDITION: (errors.Unavailable, "is not in a state to answer; see its log"),
}


def _read_file(setting: str, path: str) -> bytes:
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise errors.InvalidArgument(
            f"search.{setting} {path} cannot be read: {error.strerror or type(error).__name__}"
        ) from None
