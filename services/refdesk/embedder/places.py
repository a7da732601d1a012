"""Where built models are kept and what makes one complete; light to import, as every `make up` asks it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from refdesk.embedder.registry import ModelEntry, fingerprint

GRAPH, TOKENIZER, DESCRIPTION, CANARY = "model.onnx", "tokenizer.json", "refdesk.json", "canary.json"


def models_folder(configured: str) -> Path:
    """The folder of built models: `configured`, or refdesk/models in the user's cache folder where that is empty."""
    if configured:
        return Path(configured).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "refdesk" / "models"


def is_built(entry: ModelEntry, models: Path) -> bool:
    """Whether `models` holds this model as this release builds it."""
    path = models / entry.model_id
    if not all((path / name).is_file() for name in (GRAPH, TOKENIZER, DESCRIPTION, CANARY)):
        return False
    try:
        return bool(json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))["build"] == fingerprint(entry))
    except (ValueError, KeyError, TypeError):
        return False
