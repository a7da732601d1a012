"""Runs work in a process of its own that ends with this one; knows nothing of what the work is (the other side: child.py)."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import itertools
import os
import pickle
import sys
from collections.abc import Sequence
from typing import Any

from refdesk import errors
from refdesk.child import ERRORS, GREETING, LENGTH, MEMORY_VARIABLE, PARENT_VARIABLE, frame, serve

__all__ = ["Child", "serve"]

START_TIMEOUT_SECONDS = 60.0
"""How long a child may import and open before it greets."""
CLOSE_TIMEOUT_SECONDS = 10.0
"""How long a child may end its work after its input was closed; it is killed then."""
FRAME_LIMIT_BYTES = 256 * 1024 * 1024
ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "131072", "MALLOC_MMAP_THRESHOLD_": "131072"}
"""glibc's: a child works in bursts and gives back what it does not need between them. The keyword writer keeps 45 MB so, 103 without."""


class _Call:
    """One call that was sent and not answered yet."""

    def __init__(self, name: str, timeout_seconds: float) -> None:
        self.name = name
        self.timeout_seconds = timeout_seconds
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def fail(self, error: errors.RefdeskError) -> None:
        """Ends the call with `error`; a caller that has gone away does not mind."""
        if self.answer.done():
            return
        self.answer.set_exception(error)
        self.answer.exception()  # whoever awaits still gets it; nobody is warned where nobody awaits


class _Run:
    """One life of a child process: its pipes, the calls under way, and the clock on the first of them."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._name = name
        self.process = process
        self._input = process.stdin
        self._output = process.stdout
        self._unsent: list[bytes] = []
        self._calls: collections.OrderedDict[int, _Call] = collections.OrderedDict()
        self._clock: asyncio.TimerHandle | None = None
        self.ended = False
        self.greeted = self._expect(GREETING, _Call("start", START_TIMEOUT_SECONDS))
        self._reading = asyncio.create_task(self._read(), name=f"child {name}")

    def send(self, number: int, method: str, arguments: tuple[Any, ...], timeout_seconds: float) -> asyncio.Future[Any]:
        """Sends a call; the future holds its answer.

        What is sent in one turn of the event loop is written at once, at its end: a write wakes the child, which may take the very core
        that this process would have gone on with.
        """
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._write)
        self._unsent.append(frame((number, method, arguments)))
        return self._expect(number, _Call(method, timeout_seconds))

    def _write(self) -> None:
        unsent, self._unsent = self._unsent, []
        if not self._input.is_closing():
            self._input.writelines(unsent)

    async def drain(self) -> None:
        """Waits until the child has taken most of what was sent."""
        with contextlib.suppress(ConnectionError):  # the reading side notices a dead child and says so
            await self._input.drain()

    async def end(self) -> None:
        """Closes the child's input, waits for it to end, and kills it when it does not."""
        self._write()
        self._input.close()
        try:
            await asyncio.wait_for(self.gone(), CLOSE_TIMEOUT_SECONDS)
        except TimeoutError:
            self.kill()
            await self.gone()

    async def gone(self) -> None:
        """Returns when nothing is left of the process: what it had locked is free."""
        await asyncio.shield(self._reading)

    def kill(self) -> None:
        """Ends the child at once; it takes no further call."""
        self.ended = True
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    def _expect(self, number: int, call: _Call) -> asyncio.Future[Any]:
        self._calls[number] = call
        if len(self._calls) == 1:
            self._start_clock()
        return call.answer

    def _start_clock(self) -> None:
        """The clock runs for the call that the child is at: no call dies for those before it."""
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
        first = next(iter(self._calls.values()), None)
        if first is not None:
            self._clock = asyncio.get_running_loop().call_later(first.timeout_seconds, self._overrun, first)

    def _overrun(self, call: _Call) -> None:
        seconds = call.timeout_seconds
        call.fail(errors.DeadlineExceeded(f"{self._name} took longer than {seconds:g} s for {call.name}"))
        self.kill()

    async def _read(self) -> None:
        try:
            while True:
                self._settle(await self._read_frame())
        except (asyncio.IncompleteReadError, ConnectionError, EOFError, pickle.UnpicklingError):
            pass  # the child has ended, or speaks nonsense and has to
        finally:
            self.kill()
            self._close_calls()
            self._input.close()
            await self.process.wait()

    async def _read_frame(self) -> Any:
        (size_bytes,) = LENGTH.unpack(await self._output.readexactly(LENGTH.size))
        if size_bytes > FRAME_LIMIT_BYTES:
            raise EOFError
        return pickle.loads(await self._output.readexactly(size_bytes))

    def _settle(self, received: tuple[int, str, Any]) -> None:
        number, outcome, value = received
        call = self._calls.pop(number, None)
        self._start_clock()
        if call is None or call.answer.done():
            return
        if outcome == "answer":
            call.answer.set_result(value)
            return
        class_name, message, retry_after_seconds = value
        call.fail(ERRORS[class_name](message, retry_after_seconds=retry_after_seconds))

    def _close_calls(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        for call in self._calls.values():
            call.fail(errors.Unavailable(f"{self._name} ended while it was at work; try again"))
        self._calls.clear()


class Child:
    """A module that runs `serve` in a process of its own; started by the first call, and anew when it has died.

    Calls are pipelined and answered in order. A caller that is cancelled goes away alone: the child finishes the call and nobody reads
    the answer.
    """

    def __init__(
        self, module: str, arguments: Sequence[str] = (), *, name: str, memory_limit_bytes: int | None = None
    ) -> None:
        self._command = (sys.executable, "-P", "-m", module, *arguments)
        self._name = name
        self._memory_limit_bytes = memory_limit_bytes
        self._run: _Run | None = None
        self._numbers = itertools.count(GREETING + 1)
        self._starting = asyncio.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Process id of the living child; None where there is none."""
        return None if self._run is None or self._run.ended else self._run.process.pid

    async def start(self) -> None:
        """Starts the child unless it lives, and returns when it can be called. Raises: Unavailable, DeadlineExceeded."""
        await self._living()

    async def call(self, method: str, *args: Any, timeout_seconds: float) -> Any:
        """What the child's handler of that name answers; `timeout_seconds` bounds the handler's own work.

        Raises: what the handler raises, of the nine classes; DeadlineExceeded when its time is over, and the child is killed for it;
        Unavailable when the child is dead or dies at work: the next call starts another.
        """
        run = await self._living()
        answer = run.send(next(self._numbers), method, args, timeout_seconds)
        await run.drain()
        return await answer

    async def close(self) -> None:
        """Ends the child when its calls under way are done, and for good."""
        self._closed = True
        async with self._starting:
            if self._run is not None:
                await self._run.end()

    async def _living(self) -> _Run:
        run = self._run
        if run is not None and not run.ended and run.greeted.done():
            return run
        async with self._starting:
            if self._closed:
                raise errors.Unavailable(f"{self._name} is closed")
            if self._run is not None and self._run.ended:
                await self._run.gone()
            if self._run is None or self._run.ended:
                self._run = _Run(self._name, await self._spawn())
            run = self._run
            await asyncio.shield(run.greeted)
            return run

    async def _spawn(self) -> asyncio.subprocess.Process:
        environment = ALLOCATOR | os.environ
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))  # it imports what this process imports
        environment[PARENT_VARIABLE] = str(os.getpid())
        environment[MEMORY_VARIABLE] = str(self._memory_limit_bytes or "")
        return await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,  # ctrl-C is the parent's to hear: it closes its children in order
        )
