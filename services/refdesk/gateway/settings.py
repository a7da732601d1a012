"""What an operator may set of the gateway; the defaults run a laptop."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from refdesk.engines.nats.settings import NatsSettings

LOOPBACK_HOSTS = ("127.0.0.1", "::1", "localhost")


class GatewaySettings(BaseModel):
    """How the gateway listens, what it bounds, and how its tools answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(
        "127.0.0.1", description="Address that HTTP listens on; on any but loopback every caller needs a key."
    )
    port: int = Field(8080, ge=0, le=65535, description="Port that HTTP listens on; 0: any free one.")
    operator_listen: str = Field(
        "127.0.0.1:8081",
        description="Address of the operator API where the gateway runs by itself; on any but loopback its callers need an admin's key; "
        "port 0: any free one. `refdesk up` serves it on the port of HTTP.",
    )
    admin_key_files: tuple[str, ...] = Field(
        (),
        description="Files that each hold a secret of 32 characters or more that opens the operator API, besides keys of scope admin; "
        "two at a time while one is replaced.",
    )
    session_key_file: str = Field(
        "",
        description="File with a secret of 32 characters or more that seals session ids, the same for every gateway; empty: one that is "
        "made in the data folder, and a session is known to the gateways of that folder.",
    )
    sessions_url: str = Field(
        "",
        description="Where gateways keep what was given in a session: nats://HOST:PORT,HOST:PORT, or tls://; empty: each for itself.",
    )
    nats: NatsSettings = Field(default_factory=NatsSettings)
    calls_per_minute: int = Field(
        600, ge=0, description="Calls that a key may make a minute, where it says nothing of its own; 0: any number."
    )
    public_url: str = Field(
        "",
        description="Where the gateway is reached from outside, e.g. https://desk.example.com: addresses of its pages begin with it; "
        "empty: the address that a caller used.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        (),
        description="Names in a Host header that are answered besides loopback's, e.g. docs.example.com; where keys are needed and none "
        "is named, any.",
    )
    allowed_origins: tuple[str, ...] = Field(
        (), description="Origins of web pages that may call besides loopback's, e.g. https://docs.example.com."
    )
    max_body_bytes: int = Field(4 * 1024 * 1024, ge=1024, description="A larger request is refused.")
    body_seconds: float = Field(
        10.0,
        gt=0,
        le=600,
        description="Longest time that the body of a call may take to come; a later one is answered with 408.",
    )
    deadline_seconds: float = Field(5.0, gt=0, le=60, description="Longest time that one call may take.")
    count_seconds: float = Field(1.0, gt=0, le=10, description="Longest time that counting tokens may take.")
    concurrent_calls: int = Field(16, ge=1, description="Calls that run at once.")
    queued_calls: int = Field(32, ge=0, description="Calls that wait for their turn; more are refused at once.")
    queued_seconds: float = Field(
        0.5,
        gt=0,
        le=60,
        description="Longest time that a call waits for its turn; one that would wait longer is refused at once.",
    )
    event_max_bytes: int = Field(
        1024 * 1024, ge=1, description="Most bytes of the data of one change event that a source system sends."
    )
    events_per_batch: int = Field(256, ge=1, le=1024, description="Most change events of one batch.")
    concurrent_pushes: int = Field(
        8,
        ge=1,
        description="Requests with change events that are taken in at once; twice as many wait, more are refused.",
    )
    catalog_seconds: float = Field(1.0, ge=0, description="How old the catalog and the counts may be in an answer.")
    search_max_result_chars: int = Field(
        12_000, ge=1_000, le=20_000, description="Most characters of a search answer; alias SEARCH_MAX_RESULT_CHARS."
    )
    structured_output: bool = Field(
        False, description="Tools publish output schemas and structured content; alias MCP_STRUCTURED_OUTPUT."
    )
    serve_metrics: bool = Field(True, description="Serves /metrics on the port of HTTP too.")

    @property
    def requires_keys(self) -> bool:
        """Whether who brings no key is refused: on every address but loopback."""
        return self.host not in LOOPBACK_HOSTS

    @property
    def answers_any_host(self) -> bool:
        """Whether a Host header may name anything: none is declared, and keys are asked for."""
        return self.requires_keys and not self.allowed_hosts

    @property
    def operator_requires_keys(self) -> bool:
        """The same of the operator API's own address."""
        return self.operator_listen.rpartition(":")[0].strip("[]") not in LOOPBACK_HOSTS
