"""What an operator may set of search; knows nothing of how any engine finds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from refdesk.engines.opensearch.settings import OpenSearchSettings


class SearchSettings(BaseModel):
    """Defaults run a laptop."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keyword_url: str = Field(
        "file:",
        description="Engine of the keyword index: file: for tantivy in the data folder, file:PATH for another folder, "
        "opensearch://HOST:PORT (several as HOST:PORT,HOST:PORT) for an OpenSearch cluster, opensearch+tls:// with TLS.",
    )
    opensearch: OpenSearchSettings = Field(default_factory=OpenSearchSettings)
    vector_url: str = Field(
        "file:",
        description="Engine of the vector index: file: for Qdrant Edge in the data folder, file:PATH for another folder, "
        "qdrant://HOST:PORT for a Qdrant server (its port for gRPC, 6334), qdrant+tls://HOST:PORT with TLS.",
    )
    vector_api_key_file: str = Field(
        "", description="File with the API key of Qdrant, which must allow to write; read again when a key is refused."
    )
    vector_ca_file: str = Field(
        "", description="File with the CA certificates that Qdrant's must be signed by, in PEM; empty: gRPC's own."
    )
    vector_collection_prefix: str = Field(
        "refdesk",
        pattern=r"^[a-z0-9][a-z0-9-]{0,62}$",
        description="First part of collections' names on Qdrant; desks that share a Qdrant need one each.",
    )
    vector_shard_count: int = Field(1, ge=1, le=256, description="Shards of a collection that is made on Qdrant.")
    vector_replication_factor: int = Field(
        1, ge=1, le=16, description="Replicas of a shard of a collection that is made on Qdrant; 2 in a cluster."
    )
    vector_write_consistency: int = Field(
        1, ge=1, le=16, description="Replicas that must have a write before it counts, on Qdrant; 2 in a cluster."
    )
    legs: tuple[Literal["lexical", "semantic"], ...] = Field(
        ("lexical", "semantic"), min_length=1, description="Ways to look that are on; answers say what is switched off."
    )
    lexical_timeout_seconds: float = Field(1.5, gt=0, le=60, description="Most time of a search by words.")
    vector_timeout_seconds: float = Field(
        1.5, gt=0, le=60, description="Most time of a search by meaning, its embedding left out."
    )
    embed_timeout_seconds: float = Field(1.0, gt=0, le=60, description="Most time to embed a query.")
    timeouts_until_skipped: int = Field(
        5, ge=1, description="Timeouts in a row after which a leg is skipped until a probe succeeds."
    )
    probe_seconds: float = Field(
        1.0, gt=0, le=60, description="While a leg is skipped, one search in this time tries it."
    )
    max_running: int = Field(16, ge=1, description="Searches that run at once.")
    max_waiting: int = Field(64, ge=0, description="Searches that may wait; more are refused.")
    reader_threads: int = Field(2, ge=1, le=64, description="Threads that read the keyword index (file: only).")
    scanned_points: int = Field(
        50_000,
        ge=1_000,
        description="Up to so many vectors are scanned; above, a graph is built at start (file: only).",
    )
