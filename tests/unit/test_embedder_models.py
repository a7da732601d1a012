"""Model folders: what is found, and what a wrong one is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from models import CANARIES, build_tiny_model, tiny_table, tiny_tokenizer, tiny_vector
from refdesk.embedder import canary
from refdesk.embedder.models import find_model, find_models, read_folder
from refdesk.embedder.places import is_built, models_folder
from refdesk.embedder.registry import DEFAULT_MODEL, ENTRIES, fingerprint
from refdesk.embedder.runtime import load_model
from refdesk.embedder.settings import EmbedderSettings
from refdesk.errors import InvalidArgument, NotFound

LOCKS = Path(__file__).resolve().parents[2] / "deploy" / "models"


@pytest.mark.parametrize("model_id", list(ENTRIES))
def test_every_registered_model_is_pinned_by_hash_in_a_lock_file_without_an_index(model_id: str) -> None:
    source = ENTRIES[model_id].source
    assert source is not None
    lines = (LOCKS / f"{model_id}.lock").read_text().splitlines()
    pinned = [line for line in lines if not line.startswith(("#", " "))]
    assert pinned == [f"{source.package}=={source.version} \\"]
    assert any(line.strip().startswith("--hash=sha256:") for line in lines)
    assert not any("index" in line or "http" in line for line in lines)


def test_a_registered_model_that_is_not_built_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"python -m refdesk\.embedder\.build --model all-MiniLM-L6-v2 --into"):
        find_model(EmbedderSettings(models=str(tmp_path)))


def test_a_model_of_another_recipe_counts_as_not_built(tmp_path: Path) -> None:
    entry = ENTRIES[DEFAULT_MODEL]
    folder = build_tiny_model(tmp_path / entry.model_id)
    assert not is_built(entry, tmp_path)
    described = json.loads((folder / "refdesk.json").read_text())
    (folder / "refdesk.json").write_text(json.dumps(described | {"build": fingerprint(entry)}))
    assert is_built(entry, tmp_path)
    (folder / "canary.json").unlink()
    assert not is_built(entry, tmp_path)


def test_models_are_kept_in_the_users_cache_unless_a_folder_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere/cache")
    assert models_folder("") == Path("/somewhere/cache/refdesk/models")
    assert models_folder("/models") == Path("/models")


def test_a_name_that_is_neither_a_model_nor_a_folder_lists_the_models() -> None:
    with pytest.raises(
        InvalidArgument, match=r'model "minilm" is neither all-MiniLM-L6-v2 nor multilingual-e5-small nor'
    ):
        find_model(EmbedderSettings(model="minilm"))


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_names_it(tmp_path: Path, missing: str) -> None:
    folder = build_tiny_model(tmp_path / "tiny")
    (folder / missing).unlink()
    with pytest.raises(InvalidArgument, match=f"has no {missing}"):
        read_folder(folder)


def load_with_canaries(folder: Path) -> None:
    load_model(read_folder(folder))
    canary.read_canaries(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "refdesk.json", "canary.json"])
def test_a_damaged_file_is_named_in_one_line(tmp_path: Path, name: str) -> None:
    folder = build_tiny_model(tmp_path / "tiny")
    (folder / name).write_bytes(b"{ not what it should be")
    with pytest.raises(InvalidArgument, match=name) as error:
        load_with_canaries(folder)
    assert "\n" not in error.value.message


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ('{"dimensions": 64}', "dimensions"),
        ('{"floor": {"cosin": 0.5}}', "floor.cosin"),
        ('{"floor": {"cosine": 2}}', "floor.cosine"),
        ('{"languages": ["English"]}', "languages"),
        ('{"model_id": "../up"}', "model_id"),
    ],
)
def test_a_wrong_key_or_value_in_refdesk_json_is_named(tmp_path: Path, content: str, named: str) -> None:
    folder = build_tiny_model(tmp_path / "tiny")
    (folder / "refdesk.json").write_text(content)
    with pytest.raises(InvalidArgument, match=named):
        read_folder(folder)


def test_a_graph_of_token_vectors_with_mask_and_types_is_pooled(tmp_path: Path) -> None:
    folder = build_tiny_model(tmp_path / "tiny")
    tokenizer = tiny_tokenizer()
    table = tiny_table(tokenizer.get_vocab_size(), 64)
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in names]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", 64])
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([node], "exported", inputs, [output], [numpy_helper.from_array(table, "table")])
    opsets = [helper.make_opsetid("", 17)]
    (folder / "model.onnx").write_bytes(
        helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    )
    model = load_model(read_folder(folder))
    vector = model.embed(model.encode("", "restart the server").ids)
    np.testing.assert_allclose(vector, tiny_vector(tokenizer, table, "restart the server"), atol=1e-5)


def test_a_wrong_dimension_says_both_numbers(tmp_path: Path) -> None:
    folder = build_tiny_model(tmp_path / "tiny", dimension=32)
    described = json.loads((folder / "refdesk.json").read_text())
    (folder / "refdesk.json").write_text(json.dumps(described | {"dimension": 384}))
    with pytest.raises(InvalidArgument, match=r"said to be 384, model\.onnx gives 32"):
        load_model(read_folder(folder))


def test_without_refdesk_json_the_folders_name_and_the_models_own_dimension_count(tmp_path: Path) -> None:
    folder = build_tiny_model(tmp_path / "our-encoder", dimension=32)
    (folder / "refdesk.json").unlink()
    model = load_model(read_folder(folder))
    assert (model.entry.model_id, model.entry.dimension, model.entry.languages) == ("our-encoder", 32, ())


def test_two_hosted_models_of_one_name_are_refused(tmp_path: Path) -> None:
    one, other = build_tiny_model(tmp_path / "one"), build_tiny_model(tmp_path / "other")
    with pytest.raises(InvalidArgument, match="two hosted models are called tiny"):
        find_models(EmbedderSettings(model=str(one), also_host=(str(other),)))


def test_a_vector_is_what_the_hand_calculation_gives(tmp_path: Path) -> None:
    model = load_model(read_folder(build_tiny_model(tmp_path / "tiny", passage_prefix="passage: ")))
    tokenizer = tiny_tokenizer()
    expected = tiny_vector(tokenizer, tiny_table(tokenizer.get_vocab_size(), 64), "passage: restart the server")
    vector = model.embed(model.encode("passage: ", "restart the server").ids)
    np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_token_counts_leave_out_special_tokens_and_prefix(tmp_path: Path) -> None:
    folder = build_tiny_model(tmp_path / "tiny", query_prefix="query: ", passage_prefix="passage: ", window_tokens=64)
    model = load_model(read_folder(folder))
    # query -> que ry; passage -> pas sag e; ":" is one; restart -> res tar t
    assert model.count("restart") == 3
    assert model.encode("query: ", "restart").token_count == 3
    assert model.encode("passage: ", "restart").token_count == 3
    assert model.window_tokens == 64 - 2 - 4


def test_canaries_pass_on_the_model_they_were_made_with_and_fail_on_another(tmp_path: Path) -> None:
    folder = build_tiny_model(tmp_path / "tiny")
    model, canaries = load_model(read_folder(folder)), canary.read_canaries(folder)
    assert len(canaries) == len(CANARIES)
    assert canary.find_fault(model, canaries) == ""
    swapped = [
        replace(one, vector=other.vector) for one, other in zip(canaries, canaries[1:] + canaries[:1], strict=True)
    ]
    assert "wrong vectors on this machine" in canary.find_fault(model, swapped)
