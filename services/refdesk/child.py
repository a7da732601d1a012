"""The inside of a child process: takes calls from its parent and answers them; imports little, for many children cost much."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from refdesk import errors

LENGTH = struct.Struct(">Q")
GREETING = 0
"""Number of the frame that a child sends when it can be called."""
PARENT_VARIABLE = "REFDESK_CHILD_PARENT"
MEMORY_VARIABLE = "REFDESK_CHILD_MEMORY_BYTES"
ERRORS = {cls.__name__: cls for cls in errors.CLASSES}


def serve(handlers: Mapping[str, Callable[..., Any]]) -> None:
    """In the child: answers calls from standard input until it ends. What handlers print goes to standard error."""
    calls, answers = _take_pipes()
    _end_with_parent()
    _limit_memory()
    _send(answers, (GREETING, "answer", None))
    while (received := _receive(calls)) is not None:
        number, method, arguments = received
        try:
            outcome = _run_handler(handlers, method, arguments)
        except Spent as spent:
            _send(answers, (number, "error", _name(spent.error)))
            os._exit(1)
        _send(answers, (number, *outcome))


class Spent(Exception):
    """A handler's way to answer with an error and to end the process: what it holds is in no state to go on with."""

    def __init__(self, error: errors.RefdeskError) -> None:
        super().__init__(error.message)
        self.error = error


def _name(error: errors.RefdeskError) -> tuple[str, str, float | None]:
    """An error as it goes through the pipe."""
    name = next(cls.__name__ for cls in type(error).__mro__ if cls.__name__ in ERRORS)
    return name, error.message, error.retry_after_seconds


def _run_handler(
    handlers: Mapping[str, Callable[..., Any]], method: str, arguments: tuple[Any, ...]
) -> tuple[str, Any]:
    """Outcome and value; the boundary beyond which every error is one of the nine."""
    try:
        return "answer", handlers[method](*arguments)
    except errors.RefdeskError as error:
        return "error", _name(error)
    except Spent:
        raise
    except MemoryError:
        return "error", (errors.ResourceExhausted.__name__, f"{method} needs more memory than it is given", None)
    except Exception as error:
        # The places, not the message: a message may hold a document's text.
        sys.stderr.write("".join(traceback.format_tb(error.__traceback__)) + f"{method}: {type(error).__name__}\n")
        sys.stderr.flush()
        return "error", (errors.Internal.__name__, f"{method} failed in its child process; the log has the place", None)


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes, out of reach of everything that reads standard input or prints."""
    calls = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return calls, answers


def _end_with_parent() -> None:
    """Has the kernel kill this process when its parent ends in whatever way; elsewhere the end of the input has to do."""
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)
    if str(os.getppid()) != os.environ.get(PARENT_VARIABLE):
        os._exit(1)  # the parent ended before the kernel was asked


def _limit_memory() -> None:
    limit = os.environ.get(MEMORY_VARIABLE, "")
    if not limit:
        return
    import resource

    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        resource.setrlimit(kind, (int(limit), int(limit)))


def frame(value: Any) -> bytes:
    """A value as it goes through the pipes: eight bytes of length, then a pickle."""
    body = pickle.dumps(value, protocol=5)
    return LENGTH.pack(len(body)) + body


def _send(answers: BinaryIO, value: tuple[int, str, Any]) -> None:
    try:
        answers.write(frame(value))
        answers.flush()
    except BrokenPipeError:
        os._exit(1)  # nobody is there to answer


def _receive(calls: BinaryIO) -> Any:
    """The next frame; None at the end of the input."""
    head = calls.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size_bytes,) = LENGTH.unpack(head)
    body = calls.read(size_bytes)
    return pickle.loads(body) if len(body) == size_bytes else None
