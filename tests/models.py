"""Builds a small real ONNX model folder for tests, so that they load a model by the embedder's own code; knows nothing of the embedder."""

from __future__ import annotations

import itertools
import json
import string
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
CANARIES = ("how do I install it", "the release notes of this version", "a setting that names a folder")


def build_tiny_model(
    folder: Path,
    *,
    model_id: str = "tiny",
    dimension: int = 64,
    window_tokens: int = 256,
    floor_cosine: float = 0.1,
    languages: tuple[str, ...] = ("en",),
    query_prefix: str = "",
    passage_prefix: str = "",
) -> Path:
    """Writes model.onnx, tokenizer.json, refdesk.json and canary.json into `folder` and returns it.

    A vector is the normalised mean of fixed random vectors of three-letter pieces, so texts that share words are near each other.
    `window_tokens` counts the two special tokens, as refdesk.json does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tiny_tokenizer()
    table = tiny_table(tokenizer.get_vocab_size(), dimension)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(tiny_graph(table).SerializeToString())
    description = {
        "model_id": model_id,
        "dimension": dimension,
        "window_tokens": window_tokens,
        "query_prefix": query_prefix,
        "passage_prefix": passage_prefix,
        "floor": {"cosine": floor_cosine, "coverage": 0.35},
        "languages": list(languages),
    }
    (folder / "refdesk.json").write_text(json.dumps(description, indent=2))
    canaries = [{"text": text, "vector": tiny_vector(tokenizer, table, passage_prefix + text)} for text in CANARIES]
    (folder / "canary.json").write_text(json.dumps({"canaries": canaries}))
    return folder


def tiny_tokenizer() -> Tokenizer:
    """A WordPiece tokenizer whose pieces are all strings of one to three letters, and digits and punctuation one by one."""
    letters = string.ascii_lowercase
    pieces = ["".join(run) for length in (1, 2, 3) for run in itertools.product(letters, repeat=length)]
    pieces += [*string.digits, *string.punctuation]
    vocabulary = {token: index for index, token in enumerate((*SPECIALS, *pieces, *(f"##{piece}" for piece in pieces)))}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    return tokenizer


def tiny_table(rows: int, dimension: int) -> NDArray[np.float32]:
    """One fixed random vector a token; special tokens add nothing."""
    table = np.random.default_rng(7).standard_normal((rows, dimension)).astype(np.float32)
    table[: len(SPECIALS)] = 0.001
    return table


def tiny_vector(tokenizer: Tokenizer, table: NDArray[np.float32], text: str) -> list[float]:
    """The vector of `text` by hand, without the graph: float64 mean, normalised."""
    mean = table[tokenizer.encode(text).ids].astype(np.float64).mean(axis=0)
    return [round(float(number), 7) for number in mean / np.linalg.norm(mean)]


def tiny_graph(table: NDArray[np.float32]) -> onnx.ModelProto:
    """A graph of (input_ids, attention_mask) to `embedding`: look up, masked mean, normalise."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("Cast", ["attention_mask"], ["mask_row"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask_row", "last_axis"], ["mask"]),
        helper.make_node("Mul", ["tokens", "mask"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "token_axis"], ["total"], keepdims=0),
        helper.make_node("ReduceSum", ["mask", "token_axis"], ["count"], keepdims=0),
        helper.make_node("Div", ["total", "count"], ["mean"]),
        helper.make_node("LpNormalization", ["mean"], ["embedding"], axis=-1, p=2),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", table.shape[1]])]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2], np.int64), "last_axis"),
        numpy_helper.from_array(np.array([1], np.int64), "token_axis"),
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
