"""What an operator may set of a NATS cluster; knows nothing of what goes through it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class NatsSettings(BaseModel):
    """How to be let in to somebody else's NATS server, and how safely it keeps things; nothing of it matters with a server of our own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: str = Field("", description="User name; empty: none is sent.")
    password_file: str = Field(
        "", description="File with that user's password; read at every connection, so that a password can be rotated."
    )
    token_file: str = Field("", description="File with a token, in place of user and password.")
    credentials_file: str = Field("", description="File with a user's JWT and seed (.creds), in place of a password.")
    nkey_file: str = Field("", description="File with an NKey seed, in place of a password.")
    ca_file: str = Field(
        "",
        description="File with the CA certificates that the servers' must be signed by, in PEM; empty: the system's.",
    )
    certificate_file: str = Field(
        "", description="File with our own certificate for TLS, in PEM; empty: none is shown."
    )
    key_file: str = Field("", description="File with the key of that certificate, in PEM.")
    replicas: int = Field(1, ge=1, le=5, description="Servers that keep each stream; 3 in a cluster.")
