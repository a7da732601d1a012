"""Generated from protos/; never edited."""

from typing import Protocol

from refdesk.api.embedder.v1 import embedder_pb2 as pb


class Embedder(Protocol):
    """What a caller of EmbedderService holds: the service itself in the same process, else a client of it."""

    async def list_models(self, request: pb.ListModelsRequest) -> pb.ListModelsResponse: ...

    async def embed_texts(self, request: pb.EmbedTextsRequest) -> pb.EmbedTextsResponse: ...

    async def count_tokens(self, request: pb.CountTokensRequest) -> pb.CountTokensResponse: ...
