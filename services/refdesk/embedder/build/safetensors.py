"""Reads a safetensors file of a BERT checkpoint; knows nothing of ONNX."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdesk.embedder.build.graph import EncoderShape, Weights

_TYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}


def read_weights(path: Path) -> Weights:
    """Every tensor of the file as float32, mapped, not read; old BERT names are renamed."""
    content = np.memmap(path, mode="r")
    (header_bytes,) = struct.unpack("<Q", content[:8].tobytes())
    header = json.loads(content[8 : 8 + header_bytes].tobytes())
    header.pop("__metadata__", None)
    body = content[8 + header_bytes :]
    return {_current_name(name): _read_tensor(body, description) for name, description in header.items()}


def read_shape(path: Path) -> EncoderShape:
    """The encoder's shape from the checkpoint's config.json."""
    config = json.loads(path.read_text(encoding="utf-8"))
    return EncoderShape(
        width=config["hidden_size"],
        heads=config["num_attention_heads"],
        layers=config["num_hidden_layers"],
        epsilon=config["layer_norm_eps"],
    )


def _read_tensor(body: NDArray[np.uint8], description: dict[str, Any]) -> NDArray[np.float32]:
    begin, end = description["data_offsets"]
    values = body[begin:end].view(_TYPES[description["dtype"]]).reshape(description["shape"])
    return np.asarray(values, np.float32)


def _current_name(name: str) -> str:
    for old, new in _OLD_NAMES.items():
        name = name.replace(old, new)
    return name
