"""What an operator may set of an OpenSearch cluster; knows nothing of who keeps what there."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class OpenSearchSettings(BaseModel):
    """How to use an OpenSearch cluster; nothing of it matters where the URL names another engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: str = Field("", description="User name for OpenSearch; empty: none is sent.")
    password_file: str = Field(
        "", description="File with that user's password; read again when it changes, so that a password can be rotated."
    )
    ca_file: str = Field(
        "",
        description="File with the CA certificates that OpenSearch's must be signed by, in PEM; empty: the system's own.",
    )
    index_prefix: str = Field(
        "refdesk",
        pattern=r"^[a-z0-9][a-z0-9-]{0,62}$",
        description="First part of the names of indices; desks that share a cluster need one each.",
    )
    shard_count: int = Field(1, ge=1, le=256, description="Shards of an index, when it is made.")
    replica_count: int | None = Field(
        None,
        ge=0,
        le=16,
        description="Copies of each shard besides the first, when an index is made; unset: one where there are two nodes.",
    )
    request_timeout_seconds: float = Field(20.0, gt=0, le=300, description="Most time of one request.")
    retry_seconds: float = Field(
        8.0,
        ge=0,
        le=300,
        description="How long a write that OpenSearch had no room for (429, 503) is tried again; a read, for a tenth of it.",
    )
    bulk_bytes: int = Field(
        4_194_304,
        ge=65_536,
        le=67_108_864,
        description="Size of one request that writes; a larger document goes alone.",
    )
