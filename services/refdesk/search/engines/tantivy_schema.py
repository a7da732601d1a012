"""How entries of words lie in tantivy: fields, folders, opening; knows nothing of queries or of processes.

Each grain is an index of its own, so that chunks have the word statistics of chunks and documents those of documents. Ids and stamps are
fast fields of numbers: reading a hundred of them takes microseconds, reading stored text takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import tantivy

from refdesk.errors import Unavailable
from refdesk.search.engines.interface import Grain

SCHEMA_VERSIONS = {Grain.CHUNK: 1, Grain.DOCUMENT: 2}
"""In the folder's name: another schema is another index, and is filled by re-indexing, or by reconciling."""
NUMBERS = ("id_high", "id_low", "document_high", "document_low", "stamp")
LABELS = ("id", "document_id", "source", "version", "kind", "language")

_GRAIN_FOLDERS = {Grain.CHUNK: "chunks", Grain.DOCUMENT: "documents"}


def build_schema(grain: Grain) -> tantivy.Schema:
    """The fields of a grain; nothing is stored, docstore has the texts. Where words stand is known of whole documents alone."""
    builder = tantivy.SchemaBuilder()
    for name in NUMBERS:
        builder.add_unsigned_field(name, fast=True)
    for name in (*LABELS, "folders"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("identifiers", tokenizer_name="whitespace", index_option="basic")
    if grain is Grain.DOCUMENT:
        builder.add_text_field("words", tokenizer_name="whitespace", index_option="position")
    return builder.build()


def name_folder(root: Path, project: str, generation: str, grain: Grain) -> Path:
    """Where the index of one grain lies."""
    return root / project / generation / f"{_GRAIN_FOLDERS[grain]}.v{SCHEMA_VERSIONS[grain]}"


def exists(folder: Path) -> bool:
    """Whether an index was created in this folder. Raises: Unavailable where there are parts of one without their list."""
    if folder.is_dir() and tantivy.Index.exists(str(folder)):
        return True
    if any(folder.glob("*.term")):
        raise _damaged(folder)
    return False


def open_index(folder: Path, schema: tantivy.Schema) -> tantivy.Index:
    """Opens what is there, or creates it. Raises: Unavailable when the folder holds something else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tantivy.Index(schema, path=str(folder))
    except (ValueError, OSError) as error:
        raise Unavailable(
            f"the keyword index in {folder} cannot be opened; delete this folder and index again"
        ) from error


def read_numbers(
    searcher: tantivy.Searcher, names: Sequence[str], addresses: list[tantivy.DocAddress]
) -> list[list[int]]:
    """A column of numbers for each name, in the order of the addresses."""
    return [cast(list[int], searcher.fast_field_values(name, addresses)) for name in names]


def _damaged(folder: Path) -> Unavailable:
    return Unavailable(f"the keyword index in {folder} cannot be opened; delete this folder and index again")
