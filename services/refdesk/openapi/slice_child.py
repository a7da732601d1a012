"""The child process that cuts slices out of specs, for a spec may be large and a caller's thread has others to serve."""

from __future__ import annotations

import functools

from refdesk.children import serve
from refdesk.openapi.differences import show_difference
from refdesk.openapi.reader import read_spec, version_of
from refdesk.openapi.slices import Slice, slice_operation, slice_schema
from refdesk.openapi.spec import Spec


@functools.lru_cache(maxsize=2)
def read(content: bytes) -> Spec:
    """A spec; the two that were asked for last are remembered. Raises: InvalidArgument."""
    root = read_spec(content)
    return Spec(root, version_of(root))


def operation(content: bytes, name: str) -> Slice:
    """One operation. Raises: InvalidArgument, NotFound."""
    return slice_operation(read(content), name)


def schema(content: bytes, name: str) -> Slice:
    """One schema. Raises: InvalidArgument, NotFound."""
    return slice_schema(read(content), name)


def diff(old: bytes, new: bytes) -> Slice:
    """What differs. Raises: InvalidArgument."""
    return show_difference(read(old), read(new))


if __name__ == "__main__":
    serve({"operation": operation, "schema": schema, "diff": diff})
