"""A child for the tests of children.py."""

from __future__ import annotations

import os
import signal
import threading
import time

from refdesk.child import Spent
from refdesk.children import serve
from refdesk.errors import InvalidArgument, NotFound, Unavailable


class _OwnNotFound(NotFound):
    """A service's own subclass: the parent knows its class by the nine."""


def refuse() -> None:
    raise InvalidArgument("no such thing", retry_after_seconds=2.5)


def refuse_in_own_words() -> None:
    raise _OwnNotFound("not here")


def give_up() -> None:
    raise Spent(Unavailable("the disk is full"))


def hang() -> None:
    threading.Event().wait()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def take(size_bytes: int) -> int:
    return len(bytearray(size_bytes))


def work(seconds: float) -> str:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        pass
    return "done"


def break_down(words: str) -> None:
    raise ValueError(words)


def chatter() -> str:
    print("to standard output")
    os.write(1, b"to file descriptor 1\n")
    return "clean"


if __name__ == "__main__":
    serve(
        {
            "echo": lambda *values: values,
            "pid": os.getpid,
            "refuse": refuse,
            "refuse_in_own_words": refuse_in_own_words,
            "give_up": give_up,
            "hang": hang,
            "die": die,
            "take": take,
            "work": work,
            "break_down": break_down,
            "chatter": chatter,
        }
    )
