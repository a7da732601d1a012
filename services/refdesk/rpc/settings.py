"""Where services listen and where they find each other."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class TlsSettings(BaseModel):
    """TLS between services, both ways: each proves who it is. All three files, or none; they are looked at anew as they change."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    certificate_file: str = Field(
        "", description="File with the certificate of this process, as server and as client, in PEM; empty: no TLS."
    )
    key_file: str = Field("", description="File with the key of that certificate, in PEM.")
    ca_file: str = Field("", description="File with the CA certificates that the others' must be signed by, in PEM.")
    callers: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="By component, the names that its callers' certificates may have (DNS names, URIs, or the common name); a component "
        "that is not listed lets in everybody whose certificate the CA has signed.",
    )

    @property
    def is_on(self) -> bool:
        """Whether services speak TLS."""
        return bool(self.certificate_file)

    @model_validator(mode="after")
    def refuse_a_part(self) -> Self:
        """A part of it would be TLS that proves nothing."""
        files = (self.certificate_file, self.key_file, self.ca_file)
        if any(files) and not all(files):
            raise ValueError("set certificate_file, key_file and ca_file, or none of them")
        if self.callers and not all(files):
            raise ValueError("callers are told apart by their certificates: set certificate_file, key_file and ca_file")
        return self


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
    tls: TlsSettings = Field(default_factory=TlsSettings)
