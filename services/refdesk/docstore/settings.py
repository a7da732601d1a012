"""What an operator may set of docstore; knows nothing of how any engine keeps its records."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from refdesk.engines.opensearch.settings import OpenSearchSettings


class DocstoreSettings(BaseModel):
    """Defaults run a laptop."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(
        "file:",
        description="Engine that keeps the records: file: for one SQLite file in the data folder, file:PATH for another one, "
        "opensearch://HOST:PORT (several as HOST:PORT,HOST:PORT) for an OpenSearch cluster, opensearch+tls:// with TLS.",
    )
    opensearch: OpenSearchSettings = Field(default_factory=OpenSearchSettings)
    reader_threads: int = Field(2, ge=1, le=32, description="Reads that run side by side (file: only).")
    busy_timeout_seconds: float = Field(
        5.0, ge=0, le=60, description="How long a call waits for another process that holds the file (file: only)."
    )
    text_cache_bytes: int = Field(
        33_554_432, ge=0, description="Memory for texts that were hydrated lately, bytes; 0 keeps none."
    )
    start_check_max_bytes: int = Field(
        268_435_456,
        ge=0,
        description="A file up to this size is checked for damage at every start, bytes (file: only).",
    )
    max_text_characters: int = Field(16_000_000, ge=1, description="A longer document is refused, characters.")
