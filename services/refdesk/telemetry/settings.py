"""What is logged, and where metrics and health are served."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TelemetrySettings(BaseModel):
    """Logs go to stderr; metrics and health have a port that no ingress reaches."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")
    otlp_endpoint: str = Field(
        "",
        pattern=r"^(https?://[^/\s]+)?$",
        description="Collector that traces are sent to by OTLP over gRPC, http://HOST:4317, or https:// with TLS; empty: none are made.",
    )
    trace_share: float = Field(
        1.0,
        ge=0,
        le=1,
        description="Share of the traces begun here that are sent; a caller's own trace says itself whether it is.",
    )
    listen: str = Field("127.0.0.1:9102", description="Address of /metrics, /livez and /readyz of `refdesk run`.")
