"""What an operator may set of ingest."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from refdesk.engines.nats.settings import NatsSettings


class IngestSettings(BaseModel):
    """How much is done at once, how long, and how often; the defaults run a laptop."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    events: str = Field(
        "file:",
        description="Queue of changes: file: for a nats-server of our own, or nats://host:port (several with commas between), "
        "tls:// where TLS is to be insisted on. Never with a user or a password in it.",
    )
    nats: NatsSettings = Field(default_factory=NatsSettings)
    events_max_bytes: int = Field(536_870_912, ge=1_048_576, description="Most bytes that the queue holds.")
    batch_documents: int = Field(
        384, ge=1, le=1024, description="Most documents that are published in one batch; a large load works up to it."
    )
    parser_children: int = Field(1, ge=1, le=64, description="Processes that parse documents.")
    parser_memory_bytes: int = Field(1_073_741_824, ge=268_435_456, description="Address space of one parser process.")
    parse_seconds: float = Field(20, gt=0, description="Most time that parsing one document may take.")
    call_seconds: float = Field(30, gt=0, description="Deadline of one call to docstore or search.")
    deliveries: int = Field(
        3, ge=1, description="How often a document that fails by itself is tried before it is parked."
    )
    retry_seconds: float = Field(2, gt=0, description="Pause before such a document is tried again; it doubles.")
    outage_seconds: float = Field(5, gt=0, description="Longest pause between tries while something cannot be reached.")
    embed_texts: int = Field(16, ge=1, le=256, description="Texts of one request to the embedder.")
    embed_requests: int = Field(4, ge=1, le=64, description="Requests to the embedder at once.")
    vector_round_chunks: int = Field(256, ge=1, le=4096, description="Chunks that are given vectors in one round.")
    vector_poll_seconds: float = Field(5, gt=0, description="How often pending vectors are looked for without a hint.")
    reconcile_seconds: float = Field(3600, gt=0, description="How often records and engines are compared.")
    purge_days: float = Field(7, ge=0, description="How long the text of a deleted document is kept.")
    rollback_days: float = Field(
        7,
        ge=0,
        description="How long a generation that another one has replaced is followed, so that one can go back to it.",
    )
    generation_grace_seconds: float = Field(
        10,
        ge=0,
        description="How long a generation that is followed no more is left alone before it is dropped: what is under way may name it.",
    )
    delete_share: float = Field(
        0.1, gt=0, le=1, description="Share of a source's documents that may vanish unconfirmed."
    )
    drain_seconds: float = Field(15, gt=0, description="How long a batch under way may take at a stop.")
