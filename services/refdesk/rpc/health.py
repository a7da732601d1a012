"""Says over gRPC's health protocol how a process is: alive, started, able to serve; knows of services only whether they can."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer

from refdesk import errors
from refdesk.rpc.contract import CONTRACTS

WATCH_SECONDS = 0.5
LIVE, STARTED = "live", "started"
"""Asked for besides a service's own name: the process answers at all; everything in it has started. "" asks for all services."""


class Service(Protocol):
    """What health needs of a service."""

    def not_ready_reason(self) -> str:
        """Empty when it can serve, else why not."""


class Health:
    """The health of the services of one process, to be served on any listener."""

    def __init__(self, services: Mapping[str, Service]) -> None:
        self._services = dict(services)
        self._servicer = HealthServicer()
        self._watch: asyncio.Task[None] | None = None

    def add_to(self, server: grpc.aio.Server) -> None:
        """Has `server` answer for it."""
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    async def start(self) -> None:
        """Is alive from now on, and follows what the services say."""
        await self._servicer.set(LIVE, _serving(True))
        await self._servicer.set(STARTED, _serving(False))
        self._watch = asyncio.create_task(self._follow(), name="health")

    async def note_started(self) -> None:
        """Everything has started."""
        await self._servicer.set(STARTED, _serving(True))

    async def close(self) -> None:
        """Serves nothing any more, whatever is asked for."""
        if self._watch is not None:
            self._watch.cancel()
        await self._servicer.enter_graceful_shutdown()

    async def _follow(self) -> None:
        while True:
            ready = [not service.not_ready_reason() for service in self._services.values()]
            for component, is_ready in zip(self._services, ready, strict=True):
                name = CONTRACTS[component].full_name if component in CONTRACTS else component
                await self._servicer.set(name, _serving(is_ready))
            await self._servicer.set("", _serving(all(ready)))
            await asyncio.sleep(WATCH_SECONDS)


class HealthListener:
    """Health alone on a port of its own, without TLS: what asks there (a kubelet) has no certificate, and learns nothing else."""

    def __init__(self, services: Mapping[str, Service], address: str) -> None:
        self._health = Health(services)
        self._address = address
        self._server: grpc.aio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        """Raises: Unavailable when the address cannot be bound."""
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        self._health.add_to(server)
        try:
            self.port = server.add_insecure_port(self._address)
        except RuntimeError:
            raise errors.Unavailable(
                f"cannot listen on {self._address}: is it taken? set rpc.health_listen to another address"
            ) from None
        await self._health.start()
        await server.start()
        self._server = server

    async def note_started(self) -> None:
        """Everything has started."""
        await self._health.note_started()

    async def drain(self) -> None:
        """Says from now on that nothing is served."""
        await self._health.close()

    async def close(self) -> None:
        """Ends."""
        await self._health.close()
        if self._server is not None:
            await self._server.stop(0)


def _serving(ready: bool) -> Any:
    status = health_pb2.HealthCheckResponse
    return status.SERVING if ready else status.NOT_SERVING
