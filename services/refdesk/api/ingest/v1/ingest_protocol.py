"""Generated from protos/; never edited."""

from typing import Protocol

from refdesk.api.ingest.v1 import ingest_pb2 as pb


class Ingest(Protocol):
    """What a caller of IngestService holds: the service itself in the same process, else a client of it."""

    async def get_status(self, request: pb.GetStatusRequest) -> pb.GetStatusResponse: ...

    async def sync_source(self, request: pb.SyncSourceRequest) -> pb.SyncSourceResponse: ...

    async def hint_documents(self, request: pb.HintDocumentsRequest) -> pb.HintDocumentsResponse: ...

    async def reconcile_project(self, request: pb.ReconcileProjectRequest) -> pb.ReconcileProjectResponse: ...
