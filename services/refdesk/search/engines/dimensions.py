"""Refuses vectors that cannot be of an index's model; pure, knows no engine."""

from __future__ import annotations

from collections.abc import Sequence

from refdesk.errors import InvalidArgument


def check_dimension(vectors: Sequence[bytes], dimension: int, place: str, model_id: str) -> None:
    """Each must have `dimension` numbers of four bytes. Raises: InvalidArgument with what to do: no vector can be made to fit."""
    for vector in vectors:
        if len(vector) != 4 * dimension:
            raise InvalidArgument(
                f"a vector has {len(vector) / 4:g} numbers, {place} of {model_id} holds {dimension}: embedder.model is another "
                f"model under the same name; name the former one there, or give the new one a model_id of its own and build "
                f"a generation with it"
            )
