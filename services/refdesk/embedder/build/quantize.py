"""Makes an encoder's matrices int8, as far as this machine's kernels compute it rightly; knows nothing of models."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

MULTIPLIED = ["MatMul", "Attention"]


def quantize(graph: onnx.ModelProto, path: Path, measure: Callable[[Path], float], lowest: float) -> float:
    """Writes the int8 graph to `path` and answers what `measure` says of it: mean cosine to the unquantized one.

    Processors with AVX2 but no VNNI saturate 8-bit sums, so where 8-bit weights fall below `lowest`, 7 bits are tried.
    Raises: ValueError when neither reaches it.
    """
    for seven_bits in (False, True):
        _quantize_once(graph, path, seven_bits)
        cosine = measure(path)
        if cosine >= lowest:
            return cosine
    raise ValueError(f"int8 reaches cosine {cosine:.4f} on this machine and must reach {lowest}")


def _quantize_once(graph: onnx.ModelProto, path: Path, seven_bits: bool) -> None:
    # the library advises a preparation of convolutional networks, which changes nothing here
    logging.getLogger().setLevel(logging.ERROR)
    quantize_dynamic(
        graph,
        path,
        weight_type=QuantType.QInt8,
        per_channel=True,
        reduce_range=seven_bits,
        op_types_to_quantize=MULTIPLIED,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
