"""Parses in child processes with bounds of memory and time, so that a document can hurt nobody but itself; knows nothing of formats."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from refdesk.children import Child
from refdesk.errors import DeadlineExceeded, InvalidArgument, RefdeskError, Unavailable
from refdesk.ingest import metrics
from refdesk.ingest.parsing import Parsed, ParseTask
from refdesk.openapi.pages import SpecPages

CHILD_MODULE = "refdesk.ingest.parse_child"
DIED = "parsing ended its process (too much memory, or a crash)"
SHARE_BYTES = 512 * 1024
"""What one call to a child holds of a batch, about: enough to make a call cheap, and little to do again when one of them kills it."""


class ChildParsers:
    """Shares a batch out among child processes; a document that kills or stalls its child fails alone."""

    def __init__(self, *, children: int, memory_bytes: int, document_seconds: float) -> None:
        self._children = [
            Child(CHILD_MODULE, name=f"parser {number}", memory_limit_bytes=memory_bytes) for number in range(children)
        ]
        self._free: asyncio.Queue[Child] = asyncio.Queue()
        for child in self._children:
            self._free.put_nowait(child)
        self._document_seconds = document_seconds

    async def start(self) -> None:
        """Starts the children, so that the first document does not wait for them. Raises: Unavailable."""
        await asyncio.gather(*(child.start() for child in self._children))

    async def close(self) -> None:
        """Ends the children."""
        await asyncio.gather(*(child.close() for child in self._children))

    async def parse(self, tasks: Sequence[ParseTask]) -> list[Parsed]:
        """Raises: Unavailable when the children cannot work at all."""
        shares = share_out(tasks)
        answers = await asyncio.gather(*(self._parse_share(share) for share in shares))
        return [parsed for answer in answers for parsed in answer]

    async def expand(self, content: bytes) -> SpecPages:
        """The pages of an API's spec.

        Raises: InvalidArgument that says what is wrong with it, also where it takes too long or kills its child; Unavailable.
        """
        child = await self._free.get()
        try:
            return await self._expand_with(child, content)
        finally:
            self._free.put_nowait(child)

    async def _expand_with(self, child: Child, content: bytes, *, again: bool = False) -> SpecPages:
        try:
            found: SpecPages = await child.call("expand", content, timeout_seconds=self._document_seconds)
            return found
        except DeadlineExceeded:
            metrics.PARSE_FAILURES.labels("time").inc()
            raise InvalidArgument(f"reading it took longer than {self._document_seconds:g} s") from None
        except Unavailable:
            if again:
                metrics.PARSE_FAILURES.labels("death").inc()
                raise InvalidArgument(DIED) from None
        await self._expect_life(child)
        return await self._expand_with(child, content, again=True)

    async def _parse_share(self, tasks: Sequence[ParseTask]) -> list[Parsed]:
        child = await self._free.get()
        try:
            return await self._parse_with(child, tasks)
        finally:
            self._free.put_nowait(child)

    async def _parse_with(self, child: Child, tasks: Sequence[ParseTask]) -> list[Parsed]:
        try:
            return await self._call(child, tasks)
        except RefdeskError as error:
            if len(tasks) > 1:
                return [parsed for task in tasks for parsed in await self._parse_with(child, [task])]
            return [await self._parse_alone(child, tasks[0], error)]

    async def _parse_alone(self, child: Child, task: ParseTask, error: RefdeskError) -> Parsed:
        """Says why one document fails by itself; a child's first death may have been somebody else's doing, so it is tried once more."""
        if isinstance(error, Unavailable):
            await self._expect_life(child)
            try:
                return (await self._call(child, [task]))[0]
            except RefdeskError as again:
                error = again
        if isinstance(error, DeadlineExceeded):
            reason, why = f"parsing took longer than {self._document_seconds:g} s", "time"
        elif isinstance(error, Unavailable):
            reason, why = DIED, "death"
        else:
            reason, why = error.message, "error"
        metrics.PARSE_FAILURES.labels(why).inc()
        return Parsed(failure=reason)

    async def _call(self, child: Child, tasks: Sequence[ParseTask]) -> list[Parsed]:
        seconds = self._document_seconds * (1 + (len(tasks) - 1) / 8)
        return [Parsed(*answer) for answer in await child.call("parse", list(tasks), timeout_seconds=seconds)]

    async def _expect_life(self, child: Child) -> None:
        """Tells a document that kills from children that cannot live. Raises: Unavailable."""
        try:
            await child.call("ping", timeout_seconds=self._document_seconds)
        except RefdeskError:
            raise Unavailable("documents cannot be parsed: the parser's process does not start; see the log") from None


def share_out(tasks: Sequence[ParseTask]) -> list[list[ParseTask]]:
    """The tasks in order, cut into shares of about SHARE_BYTES."""
    shares: list[list[ParseTask]] = []
    size_bytes = SHARE_BYTES
    for task in tasks:
        if size_bytes >= SHARE_BYTES:
            shares.append([])
            size_bytes = 0
        shares[-1].append(task)
        size_bytes += len(task.content)
    return shares
