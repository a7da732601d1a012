"""A parser's child that does what a document says: stall, die, or answer."""

from __future__ import annotations

import os
import threading
from typing import Any

from refdesk.children import serve


def parse(tasks: list[Any]) -> list[tuple[bytes]]:
    for content, *_ in tasks:
        if content == b"stall":
            threading.Event().wait()
        if content == b"die":
            os._exit(3)
    return [(content,) for content, *_ in tasks]


def expand(content: bytes) -> bytes:
    parse([(content,)])
    return content


if __name__ == "__main__":
    serve({"parse": parse, "expand": expand, "ping": lambda: None})
