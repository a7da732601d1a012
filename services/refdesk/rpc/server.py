"""Serves services over gRPC: one generic handler a contract, health, reflection, and a stop that lets calls finish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection
from grpc_status import rpc_status

from refdesk import errors
from refdesk.rpc import deadline
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import SIZE_OPTIONS
from refdesk.rpc.contract import CONTRACTS, Contract, Method
from refdesk.rpc.health import Health, Service
from refdesk.rpc.status import to_status
from refdesk.rpc.tls import Callers, Certificates, server_credentials
from refdesk.telemetry import tracing

DRAIN_SECONDS = 20.0
CONNECTION_AGE_MILLISECONDS = 60_000

Admit = Callable[[Any], None]
"""Given a call's context; raises PermissionDenied for who may not call."""


class Server:
    """One gRPC listener for the services of this process."""

    def __init__(
        self,
        services: Mapping[str, Service],
        address: str,
        certificates: Certificates | None = None,
        callers: Callers | None = None,
    ) -> None:
        self._services = dict(services)
        self._address = address
        self._certificates = certificates
        self._callers = callers
        self._health = Health(services)
        self._server: grpc.aio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        """Binds and serves.

        Raises: Unavailable when the address cannot be bound.
        """
        options = [("grpc.max_connection_age_ms", CONNECTION_AGE_MILLISECONDS), ("grpc.so_reuseport", 0), *SIZE_OPTIONS]
        server = grpc.aio.server(options=options)
        contracts = [CONTRACTS[component] for component in self._services if component in CONTRACTS]
        for contract in contracts:
            near = Near(self._services[contract.component], contract)
            server.add_generic_rpc_handlers((_handlers(near, contract, self._callers),))
        health = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
        self._health.add_to(server)
        reflection.enable_server_reflection(
            [contract.full_name for contract in contracts] + [health, reflection.SERVICE_NAME], server
        )
        try:
            self.port = self._bind(server)
        except RuntimeError:
            raise errors.Unavailable(
                f"cannot listen on {self._address}: is it taken? set rpc.listen to another address"
            ) from None
        await self._health.start()
        await server.start()
        await self._health.note_started()
        self._server = server

    def _bind(self, server: grpc.aio.Server) -> int:
        if self._certificates is None:
            return server.add_insecure_port(self._address)
        return server.add_secure_port(self._address, server_credentials(self._certificates))

    async def close(self) -> None:
        """Says not serving, lets calls finish within the drain time, and stops."""
        await self._health.close()
        if self._server is not None:
            await self._server.stop(DRAIN_SECONDS)


def _handlers(near: Near, contract: Contract, callers: Callers | None) -> grpc.GenericRpcHandler[Any, Any]:
    def admit(context: grpc.aio.ServicerContext[Any, Any]) -> None:
        if callers is not None:
            callers.check(contract.component, context.auth_context())

    handlers = {method.path.rsplit("/", 1)[1]: _handler(near, method, admit) for method in contract.methods}
    return grpc.method_handlers_generic_handler(contract.full_name, handlers)


def _headers(context: grpc.aio.ServicerContext[Any, Any]) -> dict[str, str]:
    return {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}


def _handler(near: Near, method: Method, admit: Admit) -> grpc.RpcMethodHandler[Any, Any]:
    call = getattr(near, method.name)

    async def handle(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        left = context.time_remaining()
        try:
            admit(context)
            with tracing.following(_headers(context)):
                if left is None:
                    return await call(request)
                with deadline.limit(left):
                    return await call(request)
        except errors.RefdeskError as error:
            status = rpc_status.to_status(to_status(error))
            await context.abort(status.code, status.details, status.trailing_metadata)

    return grpc.unary_unary_rpc_method_handler(
        handle, request_deserializer=method.request.FromString, response_serializer=method.response.SerializeToString
    )
