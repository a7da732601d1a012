"""The composition root: which services run in this process, what they hold of each other, and when they start and end."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import structlog

from refdesk import errors
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.tls import Certificates
from refdesk.settings import Settings
from refdesk.telemetry import tracing
from refdesk.telemetry.metrics import PROCESS

if TYPE_CHECKING:
    from refdesk.gateway.sessions import Sessions
    from refdesk.gateway.settings import GatewaySettings

log = structlog.get_logger()

SESSIONS_BUCKET = "refdesk_sessions"

TARGETS = ("docstore", "embedder", "search", "ingest", "gateway")
"""In the order in which they start; they end in the opposite one."""


class App:
    """The services of one process."""

    def __init__(self, settings: Settings, data: Path, targets: Sequence[str] = TARGETS) -> None:
        self.settings = settings
        self.data = data
        PROCESS.data = data
        self._end_traces = tracing.set_up(settings.telemetry, targets[0] if len(targets) == 1 else "desk")
        self.services: dict[str, Any] = {}
        tls = settings.rpc.tls
        self.certificates = Certificates(tls) if tls.is_on else None
        self._channels: list[grpc.aio.Channel] = []
        for target in TARGETS:
            if target in targets:
                self.services[target] = BUILDERS[target](self)

    def hold(self, component: str) -> Any:
        """What a caller of `component` holds: the service itself where it runs here, else a client of it. Decided here and nowhere else."""
        if component in self.services:
            return Near(self.services[component], CONTRACTS[component])
        channel = open_channel(getattr(self.settings.rpc, component), self.certificates)
        self._channels.append(channel)
        return Far(channel, CONTRACTS[component])

    async def start(self) -> None:
        """Starts every service, in order.

        Raises: whatever a service says keeps it from starting; those already started are closed again.
        """
        started = []
        try:
            for target, service in self.services.items():
                started.append(service)
                await service.start()
                log.info("started", service=target)
            gc.collect()
            gc.freeze()  # what is loaded by now stays: looking through it again and again would stall answers
        except BaseException:
            await _close(started)
            raise

    async def close(self) -> None:
        """Ends every service, the last started first, then the channels, then traces."""
        await _close(list(self.services.values()))
        for channel in self._channels:
            await channel.close(None)
        await asyncio.to_thread(self._end_traces)

    def readiness(self) -> Mapping[str, str]:
        """Service name to why it cannot serve; empty text when it can."""
        return {target: service.not_ready_reason() for target, service in self.services.items()}


async def _close(services: Sequence[Any]) -> None:
    for service in reversed(services):
        try:
            await service.close()
        except (errors.RefdeskError, OSError):
            log.exception("a service did not close cleanly", service=type(service).__name__)
        except asyncio.CancelledError:
            log.warning("closing was interrupted", service=type(service).__name__)


# A process loads the modules of what it runs and of nothing else: docstore by itself has no use for MCP or for a model.


def _docstore(app: App) -> Any:
    from refdesk.docstore.engines.table import document_store
    from refdesk.docstore.service import DocstoreService

    settings = app.settings.docstore
    return DocstoreService(
        settings, tracing.traced(document_store(settings, app.data), _system(settings.url, "sqlite"))
    )


def _system(url: str, embedded: str) -> str:
    """What an engine's steps are called in traces."""
    scheme = url.partition(":")[0].partition("+")[0]
    return embedded if scheme == "file" else scheme


def _embedder(app: App) -> Any:
    from refdesk.embedder.service import EmbedderService

    return EmbedderService(app.settings.embedder)


def _search(app: App) -> Any:
    from refdesk.search.engines.table import keyword_index, vector_index
    from refdesk.search.service import SearchService

    settings = app.settings.search
    words = tracing.traced(keyword_index(settings, app.data), _system(settings.keyword_url, "tantivy"))
    vectors = tracing.traced(vector_index(settings, app.data), _system(settings.vector_url, "qdrant-edge"))
    return SearchService(settings, words, vectors, app.hold("embedder"))


def _ingest(app: App) -> Any:
    from refdesk.ingest.events.table import events
    from refdesk.ingest.service import IngestService

    settings, projects = app.settings.ingest, app.settings.projects
    docstore, search, embedder = (app.hold(component) for component in ("docstore", "search", "embedder"))
    return IngestService(settings, projects, docstore, search, embedder, events(settings, app.data))


def _gateway(app: App) -> Any:
    from refdesk.gateway.service import GatewayService
    from refdesk.gateway.sessions import ensure_key

    docstore, search, embedder, ingest = (
        app.hold(component) for component in ("docstore", "search", "embedder", "ingest")
    )
    settings = app.settings.gateway
    key_file = settings.session_key_file or ensure_key(app.data / "gateway" / "session.key")
    settings = settings.model_copy(update={"session_key_file": key_file})
    return GatewayService(settings, docstore, search, embedder, ingest, _sessions(settings))


def _sessions(settings: GatewaySettings) -> Sessions:
    """Shared between gateways where a place for it is named."""
    from refdesk.engines.nats.access import Names
    from refdesk.engines.nats.marks import Marks
    from refdesk.gateway.sessions import LASTING_SECONDS, OwnMemory, SharedMemory

    if not settings.sessions_url:
        return OwnMemory()
    names = Names("gateway.sessions_url", "gateway.nats")
    return SharedMemory(Marks(settings.sessions_url, settings.nats, names, SESSIONS_BUCKET, LASTING_SECONDS))


BUILDERS: Mapping[str, Callable[[App], Any]] = {
    "docstore": _docstore,
    "embedder": _embedder,
    "search": _search,
    "ingest": _ingest,
    "gateway": _gateway,
}
