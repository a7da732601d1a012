"""Names generations: a generation is a model and a chunker; knows nothing of what either does."""

from __future__ import annotations


def generation_name(model_id: str, chunker_version: int) -> str:
    """The name under which entries of this model and chunker are kept, e.g. `all-MiniLM-L6-v2.c1`."""
    return f"{model_id}.c{chunker_version}"
