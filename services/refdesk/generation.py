"""Names generations: a generation is a model and a chunker; knows nothing of what either does."""

from __future__ import annotations


def generation_name(model_id: str, chunker_version: int) -> str:
    """The name under which entries of this model and chunker are kept, e.g. `all-MiniLM-L6-v2.c1`."""
    return f"{model_id}.c{chunker_version}"


def read_name(generation: str) -> tuple[str, int]:
    """Model and chunker of a generation's name; a name that is none stands for the model, with chunker 0."""
    model_id, dot, number = generation.rpartition(".c")
    return (model_id, int(number)) if dot and number.isdecimal() else (generation, 0)
