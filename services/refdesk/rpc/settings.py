"""Where services listen and where they find each other."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class RpcSettings(BaseModel):
    """Addresses of gRPC; a service that runs in this process is called directly, whatever stands here."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    listen: str = Field("127.0.0.1:9090", description="Address that `refdesk run` serves gRPC on.")
    health_listen: str = Field(
        "",
        description="Address of gRPC's health service by itself, without TLS, from the first moment on: it is asked for `live`, `started` "
        "and, with no name, ready; empty: rpc.listen alone.",
    )
    embedder: str = Field("127.0.0.1:9091", description="gRPC target of the embedder, host:port or dns:///name:port.")
    search: str = Field("127.0.0.1:9092", description="gRPC target of search.")
    docstore: str = Field("127.0.0.1:9093", description="gRPC target of docstore.")
    ingest: str = Field("127.0.0.1:9094", description="gRPC target of ingest.")
