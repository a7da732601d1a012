"""An embedder without a model: a text's vector is made from its hash, its tokens are its words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from fakes.weather import Weather
from refdesk.api.embedder.v1 import embedder_pb2 as pb
from refdesk.errors import InvalidArgument, NotFound

DIMENSION = 4


def made_vector(text: str) -> bytes:
    """Length 1, little-endian float32, the same for the same text."""
    raw = np.frombuffer(hashlib.sha256(text.encode()).digest()[: 4 * DIMENSION], "<i4").astype(np.float64)
    return (raw / np.linalg.norm(raw)).astype("<f4").tobytes()


class FakeEmbedder:
    """Hosts one model, and `also`; `tokens_a_word` makes estimates wrong."""

    def __init__(
        self,
        weather: Weather | None = None,
        *,
        model: pb.Model | None = None,
        also: Sequence[pb.Model] = (),
        tokens_a_word: float = 1.0,
    ) -> None:
        self.weather = weather or Weather()
        self.model = model or pb.Model(model_id="made", dimension=DIMENSION, window_tokens=250, languages=["en"])
        self.also = list(also)
        self.tokens_a_word = tokens_a_word
        self.embedded: list[str] = []
        self.in_flight = 0
        self.most_in_flight = 0

    async def list_models(self, request: pb.ListModelsRequest) -> pb.ListModelsResponse:
        await self.weather.before("embedder")
        return pb.ListModelsResponse(models=self.models.values())

    @property
    def models(self) -> dict[str, pb.Model]:
        """What is hosted, the default first."""
        return {one.model_id: one for one in (self.model, *self.also)}

    async def embed_texts(self, request: pb.EmbedTextsRequest) -> pb.EmbedTextsResponse:
        if request.model_id not in self.models:
            raise NotFound(f"model {request.model_id} is not hosted")
        if not 1 <= len(request.texts) <= 256 or request.purpose != pb.PURPOSE_PASSAGE:
            raise InvalidArgument("1 to 256 passages")
        self.in_flight += len(request.texts)
        self.most_in_flight = max(self.in_flight, self.most_in_flight)
        try:
            await self.weather.before("embedder")
        finally:
            self.in_flight -= len(request.texts)
        response = pb.EmbedTextsResponse(model_id=request.model_id)
        for text in request.texts:
            count, window_tokens = self.count(text), self.models[request.model_id].window_tokens
            if count > window_tokens:
                over = pb.OverWindow(window_tokens=window_tokens)
                response.items.add(over_window=over, token_count=count)
            else:
                self.embedded.append(text)
                prefix = "" if request.model_id == "made" else f"{request.model_id} "
                response.items.add(vector=made_vector(prefix + text), token_count=count)
        return response

    async def count_tokens(self, request: pb.CountTokensRequest) -> pb.CountTokensResponse:
        await self.weather.before("embedder")
        return pb.CountTokensResponse(token_counts=[self.count(text) for text in request.texts])

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return int(len(text.split()) * self.tokens_a_word)
