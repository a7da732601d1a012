"""Generated from protos/; never edited."""

from typing import Protocol

from refdesk.api.search.v1 import search_pb2 as pb


class Search(Protocol):
    """What a caller of SearchService holds: the service itself in the same process, else a client of it."""

    async def write_words(self, request: pb.WriteWordsRequest) -> pb.WriteWordsResponse: ...

    async def write_vectors(self, request: pb.WriteVectorsRequest) -> pb.WriteVectorsResponse: ...

    async def get_vectors(self, request: pb.GetVectorsRequest) -> pb.GetVectorsResponse: ...

    async def sweep_documents(self, request: pb.SweepDocumentsRequest) -> pb.SweepDocumentsResponse: ...

    async def list_entries(self, request: pb.ListEntriesRequest) -> pb.ListEntriesResponse: ...

    async def retrieve(self, request: pb.RetrieveRequest) -> pb.RetrieveResponse: ...
