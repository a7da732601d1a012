"""Writes a BERT encoder as an ONNX graph of fused operators; knows nothing of where the weights come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Weights = Mapping[str, NDArray[np.float32]]
"""Tensors by the names of BERT's checkpoints, `embeddings.…` and `encoder.layer.N.…`; matrices are (out, in)."""

FUSED = "com.microsoft"
_SMALLEST = 128 * np.finfo(np.float32).tiny
STANDARD_OPSET, FUSED_OPSET, IR_VERSION = 17, 1, 9


@dataclass(frozen=True)
class EncoderShape:
    """What the weights alone do not say."""

    width: int
    heads: int
    layers: int
    epsilon: float


@dataclass
class GraphDraft:
    """Nodes and constants under construction; every method answers the name of what it added."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Adds a node with one output."""
        output = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], domain=domain, **attributes))
        return output

    def keep(self, name: str, values: NDArray[np.generic]) -> str:
        """Adds a constant."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name


def build_encoder(weights: Weights, shape: EncoderShape) -> onnx.ModelProto:
    """A graph of `input_ids` (batch, tokens) int64 to `embedding` (batch, width) float32, mean-pooled and of length 1.

    There is no mask: one run takes one text, or texts of equal length. The word table is int8 with one scale a row, a quarter of the
    size at a cosine of .9999 to float32; all else stays float32, for quantize.py.
    """
    draft = GraphDraft()
    state = _add_embeddings(draft, weights, shape)
    for layer in range(shape.layers):
        state = _add_layer(draft, weights, shape, layer, state)
    mean = draft.add("ReduceMean", state, axes=[1], keepdims=0)
    draft.nodes.append(helper.make_node("LpNormalization", [mean], ["embedding"], axis=-1, p=2))
    return _finish(draft, shape)


def quantize_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The table as int8 and the scale of each row, (rows, 1): `table` is about their product."""
    largest = np.abs(table).max(axis=1, keepdims=True)
    # a row of subnormal numbers is nought: its scale would be nought too
    scales = np.where(largest > _SMALLEST, largest / 127, 1).astype(np.float32)
    return np.rint(table / scales).astype(np.int8), scales


def _add_embeddings(draft: GraphDraft, weights: Weights, shape: EncoderShape) -> str:
    words = _add_words(draft, weights["embeddings.word_embeddings.weight"])
    # every text is of token type 0, so its vector is a part of each position's
    position_values = (
        weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    )
    positions = draft.keep("positions", position_values)
    length = draft.add("Shape", "input_ids", start=1, end=2)
    first = draft.keep("first", np.array([0], np.int64))
    own_positions = draft.add("Slice", positions, first, length)
    gain = draft.keep("embedding_gain", weights["embeddings.LayerNorm.weight"])
    bias = draft.keep("embedding_bias", weights["embeddings.LayerNorm.bias"])
    total = draft.add("Add", words, own_positions)
    return draft.add("LayerNormalization", total, gain, bias, axis=-1, epsilon=shape.epsilon)


def _add_words(draft: GraphDraft, table: NDArray[np.float32]) -> str:
    numbers, scales = quantize_rows(table)
    rows = draft.add("Cast", draft.add("Gather", draft.keep("words", numbers), "input_ids"), to=TensorProto.FLOAT)
    return draft.add("Mul", rows, draft.add("Gather", draft.keep("word_scales", scales), "input_ids"))


def _add_layer(draft: GraphDraft, weights: Weights, shape: EncoderShape, layer: int, state: str) -> str:
    prefix = f"encoder.layer.{layer}."

    def constant(name: str, *, turned: bool = False) -> str:
        values = weights[prefix + name]
        return draft.keep(prefix + name, values.T if turned else values)

    def add_residual(part: str, projected: str, residual: str) -> str:
        norm = (constant(f"{part}.LayerNorm.weight"), constant(f"{part}.LayerNorm.bias"))
        inputs = (projected, residual, *norm, constant(f"{part}.dense.bias"))
        return draft.add("SkipLayerNormalization", *inputs, domain=FUSED, epsilon=shape.epsilon)

    attended = _add_attention(draft, weights, shape, prefix, state)
    projected = draft.add("MatMul", attended, constant("attention.output.dense.weight", turned=True))
    state = add_residual("attention.output", projected, state)
    widened = draft.add("MatMul", state, constant("intermediate.dense.weight", turned=True))
    active = draft.add("BiasGelu", widened, constant("intermediate.dense.bias"), domain=FUSED)
    narrowed = draft.add("MatMul", active, constant("output.dense.weight", turned=True))
    return add_residual("output", narrowed, state)


def _add_attention(draft: GraphDraft, weights: Weights, shape: EncoderShape, prefix: str, state: str) -> str:
    parts = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
    matrix = draft.keep(
        f"{prefix}attention.weight", np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
    )
    bias = draft.keep(f"{prefix}attention.bias", np.concatenate([weights[f"{part}.bias"] for part in parts]))
    return draft.add("Attention", state, matrix, bias, domain=FUSED, num_heads=shape.heads)


def _finish(draft: GraphDraft, shape: EncoderShape) -> onnx.ModelProto:
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])
    embedding = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", shape.width])
    graph = helper.make_graph(draft.nodes, "encoder", [ids], [embedding], draft.constants)
    opsets = [helper.make_opsetid("", STANDARD_OPSET), helper.make_opsetid(FUSED, FUSED_OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
