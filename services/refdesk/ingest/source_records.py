"""What a source's follower asks of the records; knows nothing of sources or of events."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.ingest.scan import Known
from refdesk.ingest.sources.interface import Skipped
from refdesk.ingest.stores import Stores
from refdesk.ingest.work import relative_path

REPORTS = 10_000
"""Most reports that are looked at; the contract lists no more."""


class SourceRecords:
    """The records and reports of one source; paths are relative to it. Every method raises what docstore raises."""

    def __init__(self, stores: Stores, source: str) -> None:
        self._stores = stores
        self._source = source

    async def known(self, paths: Collection[str] | None) -> Mapping[str, Known]:
        """The records of these paths, or (None) all; deleted ones too."""
        if paths is None:
            listing = self._stores.list_records(source=self._source, without_heads=True)
            return {relative_path(record): known_of(record) async for record in listing}
        document_ids = [ids.document_id(self._stores.project, self._source, path) for path in paths]
        found = await self._stores.read(document_ids)
        return {relative_path(record): known_of(record) for record in found.values()}

    async def reported(self) -> Collection[str]:
        """The paths that are reported as not indexed, for whatever reason; what is reported of the source itself is no path."""
        reports = await self._stores.list_reports(self._source, REPORTS)
        return {self._relative(report.path) for report in reports if report.path != self._source}

    async def report(self, skipped: Sequence[Skipped], cleared: Sequence[str]) -> None:
        """Notes why documents are not taken, and clears paths of which that is no longer so."""
        reports = [
            pb.Report(path=f"{self._source}/{one.path}", kind=pb.REPORT_KIND_SKIPPED, reason=one.reason)
            for one in skipped
        ]
        await self._stores.report(self._source, reports, [f"{self._source}/{path}" for path in cleared])

    def _relative(self, path: str) -> str:
        return path.removeprefix(f"{self._source}/")


def known_of(record: pb.Document) -> Known:
    """A record as a scan compares it.

    What was set aside although it is there bears its source's revision, also where nothing of it is indexed: it is not gone, and not
    announced anew until it changes.
    """
    gone = record.deleted and not record.source_revision
    return Known(record.source_revision, record.content_hash, gone, record.revision)
