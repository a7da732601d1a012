"""One loaded model: its tokenizer and its onnxruntime session; knows nothing of queues and requests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from refdesk.embedder.models import ModelFolder
from refdesk.embedder.places import GRAPH, TOKENIZER
from refdesk.embedder.registry import ModelEntry
from refdesk.errors import Internal, InvalidArgument

Vector = NDArray[np.float32]

ERRORS_ONLY = 3


@dataclass(frozen=True)
class Encoded:
    """A text as the model takes it."""

    ids: list[int]
    token_count: int
    """Without special tokens and prefix."""


class LoadedModel:
    """Safe to use from every thread; both the tokenizer and the session let other threads run meanwhile."""

    def __init__(self, entry: ModelEntry, tokenizer: Tokenizer, session: onnxruntime.InferenceSession) -> None:
        self.entry = entry
        self._tokenizer = tokenizer
        self._session = session
        self._inputs = tuple(node.name for node in session.get_inputs())
        self._output = session.get_outputs()[0].name
        self._specials: int = tokenizer.num_special_tokens_to_add(False)
        self._prefix_tokens = {prefix: self.count(prefix) for prefix in ("", entry.query_prefix, entry.passage_prefix)}

    @property
    def window_tokens(self) -> int:
        """Most tokens of a text, special tokens and the longest prefix taken off."""
        return self.entry.window_tokens - self._specials - max(self._prefix_tokens.values())

    def count(self, text: str) -> int:
        """Tokens of `text`, without special tokens."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def encode(self, prefix: str, text: str) -> Encoded:
        """Tokens of `text` behind `prefix`, which is one of the entry's or empty."""
        ids = self._tokenizer.encode(prefix + text).ids
        return Encoded(ids, max(0, len(ids) - self._specials - self._prefix_tokens[prefix]))

    def embed(self, ids: list[int]) -> Vector:
        """The vector of one text, (dimension,), of length 1.

        Raises: Internal when the model fails on it.
        """
        row = np.array([ids], np.int64)
        feeds = {name: row if name == "input_ids" else _beside(name, row) for name in self._inputs}
        try:
            (output,) = self._session.run([self._output], feeds)
        except Exception as failure:  # onnxruntime's classes share no parent of their own
            raise Internal(f"model {self.entry.model_id} failed on a text of {len(ids)} tokens") from failure
        return _unit(output[0].mean(axis=0) if output.ndim == 3 else output[0])


def load_model(folder: ModelFolder) -> LoadedModel:
    """Loads a model folder, and runs one text as long as its window, which also settles how much memory it takes.

    Raises: InvalidArgument naming the file that is wrong.
    """
    model = LoadedModel(folder.entry, _load_tokenizer(folder), _load_session(folder))
    if model.window_tokens < 1:
        raise InvalidArgument(
            f"model folder {folder}: window_tokens {folder.entry.window_tokens} leaves no room for a text"
        )
    padding = model.encode("", "a").ids
    try:
        vector = model.embed((padding * folder.entry.window_tokens)[: folder.entry.window_tokens])
    except Internal:
        raise InvalidArgument(
            f"model folder {folder}: {GRAPH} cannot take a text of window_tokens {folder.entry.window_tokens}"
        ) from None
    declared = folder.entry.dimension
    if declared not in (0, vector.size):
        raise InvalidArgument(
            f"model folder {folder}: its dimension is said to be {declared}, {GRAPH} gives {vector.size}"
        )
    model.entry = replace(folder.entry, dimension=vector.size)
    return model


def session_options() -> onnxruntime.SessionOptions:
    """One thread a run, which never spins: work runs side by side by the text, not within one."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    options.log_severity_level = ERRORS_ONLY
    # the arena stays on: without it a desk took 25 MB more and ran 5% slower; texts differ in length, so a
    # plan of one run's memory does not fit the next
    options.enable_mem_pattern = False
    return options


def _load_session(folder: ModelFolder) -> onnxruntime.InferenceSession:
    try:
        session = onnxruntime.InferenceSession(
            str(folder.path / GRAPH), session_options(), providers=["CPUExecutionProvider"]
        )
    except Exception:  # onnxruntime's classes share no parent of their own
        raise InvalidArgument(
            f"model folder {folder}: {GRAPH} is not an ONNX model that this onnxruntime can load"
        ) from None
    names = {node.name for node in session.get_inputs()}
    if "input_ids" not in names or names - {"input_ids", "attention_mask", "token_type_ids"}:
        raise InvalidArgument(
            f"model folder {folder}: {GRAPH} takes {', '.join(sorted(names))}, not input_ids as an encoder does"
        )
    return session


def _load_tokenizer(folder: ModelFolder) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(folder.path / TOKENIZER))
    except Exception:  # the library raises bare Exception
        raise InvalidArgument(f"model folder {folder}: {TOKENIZER} is not a tokenizer that can be loaded") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _beside(name: str, row: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.ones_like(row) if name == "attention_mask" else np.zeros_like(row)


def _unit(vector: NDArray[Any]) -> Vector:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length > 0 else vector, np.float32)
