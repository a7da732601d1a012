"""Checks at start that a model gives the vectors that it gave, unquantized, when it was built; knows nothing of how it runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from refdesk.embedder.places import CANARY
from refdesk.embedder.runtime import LoadedModel, Vector
from refdesk.errors import InvalidArgument

LOWEST_COSINE = 0.99
"""Mean over the canaries. Healthy int8 reaches .993 and more; a wrong kernel or a damaged file falls far below."""

TEXTS = (
    "How do I roll a release back to an earlier revision?",
    "Set the retention time of the database with a flag when the server starts, for example thirty days.",
    "The chart's values file overrides the defaults; pass it with the option that names a file.",
    "Error: connection refused while the client was waiting for the leader to answer.",
    "An alert fires when the expression holds for longer than the given duration.",
    "Create an index with two shards and one replica, then send documents to it in bulk.",
    "Upgrading from version 2 to version 3 removes the component that ran inside the cluster.",
    "kubectl get pods --namespace monitoring lists what runs there.",
)


@dataclass(frozen=True)
class Canary:
    """A text, embedded as a passage, and its right vector."""

    text: str
    vector: Vector


def write_canaries(path: Path, canaries: Sequence[Canary]) -> None:
    """Writes a folder's canary.json."""
    rows = [
        {"text": canary.text, "vector": [round(float(number), 7) for number in canary.vector]} for canary in canaries
    ]
    path.write_text(json.dumps({"canaries": rows}), encoding="utf-8")


def read_canaries(folder: Path) -> list[Canary]:
    """The canaries of a model folder; none where it has no file of them.

    Raises: InvalidArgument for a file that is damaged.
    """
    try:
        rows = json.loads((folder / CANARY).read_text(encoding="utf-8"))["canaries"]
        return [Canary(row["text"], np.array(row["vector"], np.float32)) for row in rows]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidArgument(f"model folder {folder}: {CANARY} is damaged; build the model again") from None


def measure(model: LoadedModel, canaries: Sequence[Canary]) -> float:
    """Mean cosine between what the model gives now and the right vectors; 1 where there is nothing to compare."""
    prefix = model.entry.passage_prefix
    cosines = [_cosine(model.embed(model.encode(prefix, canary.text).ids), canary.vector) for canary in canaries]
    return sum(cosines) / len(cosines) if cosines else 1.0


def find_fault(model: LoadedModel, canaries: Sequence[Canary]) -> str:
    """Why this model must not serve on this machine; empty when it may."""
    cosine = measure(model, canaries)
    if cosine >= LOWEST_COSINE:
        return ""
    return (
        f"model {model.entry.model_id} gives wrong vectors on this machine: its canary texts reach cosine {cosine:.3f}"
        f" and must reach {LOWEST_COSINE}; build it again on this kind of CPU"
    )


def _cosine(one: Vector, other: Vector) -> float:
    if one.shape != other.shape:
        return 0.0
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
