"""Shows on stderr how far a desk's index is, until it is complete, and says when something waits for a person."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.ingest.v1 import ingest_pb2
from refdesk.app import App
from refdesk.desk import Desk

REFRESH_SECONDS = 0.5
LINE_SECONDS = 3.0
"""Without a terminal a line is printed only this often."""


@dataclass(frozen=True)
class Counts:
    """How far one project's index is."""

    listed: int
    documents: int
    chunks: int
    embedded: int
    embeddable: int
    settled: bool

    @property
    def complete(self) -> bool:
        """Words and vectors of everything known are there."""
        return self.settled and self.embedded >= self.embeddable

    def line(self) -> str:
        """One line for people."""
        known = self.documents if self.settled else max(self.listed, self.documents)
        words = f"words: {self.documents:,} of {known:,} documents, {self.chunks:,} chunks"
        return f"{words} | vectors: {self.embedded:,} of {self.embeddable:,} documents"


class Progress:
    """What a person sees of a running desk."""

    def __init__(self, app: App, desk: Desk) -> None:
        self._app = app
        self._desk = desk
        self._terminal = sys.stderr.isatty()
        self._messages: set[str] = set()

    def say(self, text: str) -> None:
        """Prints a line to stderr."""
        sys.stderr.write(("\r\x1b[K" if self._terminal else "") + text + "\n")
        sys.stderr.flush()

    def greet(self) -> None:
        """Says where the desk is and how an agent is connected to it."""
        for line in greeting(self._desk):
            self.say(line)

    async def follow(self) -> None:
        """Shows progress for as long as the desk runs."""
        shown_at, last, told = 0.0, "", ""
        while True:
            try:
                counts = await self._counts()
            except errors.RefdeskError as error:
                self._once(f"waiting: {error.message}")
                await asyncio.sleep(REFRESH_SECONDS)
                continue
            line = counts.line()
            if counts.complete and line != told:
                told = line
                self.say(f"complete: {line}; following changes, ctrl-C stops")
                if counts.documents > counts.embeddable:
                    self._once(
                        "documents without vectors are found by words: the model does not speak their language, or they hold no text"
                    )
                if not counts.listed:
                    self._once(self._nothing_yet())
            elif (
                not counts.complete and line != last and (self._terminal or time.monotonic() - shown_at >= LINE_SECONDS)
            ):
                self._show(line)
                shown_at = time.monotonic()
            last = line
            await asyncio.sleep(REFRESH_SECONDS)

    def _show(self, line: str) -> None:
        if self._terminal:
            sys.stderr.write("\r\x1b[K" + line)
            sys.stderr.flush()
        else:
            self.say(line)

    def _once(self, message: str) -> None:
        if message not in self._messages:
            self._messages.add(message)
            self.say(message)

    def _nothing_yet(self) -> str:
        """What to do where there is no document."""
        kinds = {source.kind for project in self._app.settings.projects.values() for source in project.sources}
        if "folder" in kinds:
            return "no documents match in the folder: put Markdown files (*.md, *.mdx) into it, it is followed"
        return f"nothing was pushed yet: source systems send it to {self._desk.url}/api/projects/{{project}}/events"

    async def _counts(self) -> Counts:
        docstore, ingest = self._app.services["docstore"], self._app.services["ingest"]
        listed = documents = chunks = embedded = embeddable = 0
        settled = True
        for slug in self._app.settings.projects:
            status = await ingest.get_status(ingest_pb2.GetStatusRequest(project=slug))
            project = (await docstore.get_project(docstore_pb2.GetProjectRequest(project=slug))).project
            stats = await docstore.get_stats(
                docstore_pb2.GetStatsRequest(project=slug, generation=project.live_generation)
            )
            for source in status.sources:
                listed += source.listed_count
                if source.message:
                    self._once(f"{source.name}: {source.message}")
            documents += stats.document_count
            chunks += stats.chunk_count
            embedded += stats.embedded_count
            embeddable += stats.embeddable_count
            settled = settled and status.words_current
            await self._tell_reports(slug)
        return Counts(listed, documents, chunks, embedded, embeddable, settled)

    async def _tell_reports(self, slug: str) -> None:
        request = docstore_pb2.ListReportsRequest(project=slug, limit=20)
        answer = await self._app.services["docstore"].list_reports(request)
        for report in answer.reports:
            self._once(
                f"not indexed: {report.path}: {report.reason}"
                if report.kind != 3
                else f"{report.path}: {report.reason}"
            )
        if answer.report_count > len(answer.reports):
            self._once("more documents are not indexed: `make status` counts them")


def greeting(desk: Desk) -> list[str]:
    """What is printed when a desk answers."""
    return [
        "",
        f"refdesk answers at {desk.url}/mcp",
        f"  Claude Code:  claude mcp add --transport http refdesk {desk.url}/mcp",
        '  ask it:       make ask Q="how do I …"',
        f"  index:        {desk.data}",
        "",
    ]
