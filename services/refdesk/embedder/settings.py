"""What an operator may set of the embedder; knows nothing of how a model runs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from refdesk.embedder.registry import DEFAULT_MODEL


class EmbedderSettings(BaseModel):
    """Defaults run a laptop."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(
        DEFAULT_MODEL, description="Default model: an id of the registry, or a folder with an ONNX model."
    )
    also_host: tuple[str, ...] = Field((), description="Further models that are hosted, ids or folders.")
    models: str = Field("", description="Folder of built models; empty: refdesk/models in the user's cache folder.")
    workers: int = Field(
        0, ge=0, le=256, description="Texts that run side by side; 0: as many as the CPU quota has cores."
    )
    kept_seconds: float = Field(
        1.0,
        ge=0,
        le=60,
        description="After a query one worker takes no passages for this long, where there are two or more.",
    )
    max_waiting_queries: int = Field(64, ge=1, description="Queries that may wait; more are refused.")
    max_waiting_passages: int = Field(1024, ge=256, description="Passages that may wait; more are refused.")
    query_timeout_seconds: float = Field(
        5.0, gt=0, description="Most time for queries, where the caller set no deadline."
    )
    passage_timeout_seconds: float = Field(
        120.0, gt=0, description="Most time for passages, where the caller set no deadline."
    )
    kept_query_vectors: int = Field(256, ge=0, description="Latest queries whose vectors are kept; 0 keeps none.")
