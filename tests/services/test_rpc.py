"""The same calls near and far: messages, errors, deadlines, health and reflection over a real gRPC listener."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from refdesk import errors
from refdesk.api.embedder.v1 import embedder_pb2 as pb
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.rpc import deadline
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.health import HealthListener
from refdesk.rpc.server import Server

pytestmark = pytest.mark.anyio
SERVICE = CONTRACTS["embedder"].full_name


class Scripted:
    """An embedder that does what the model id says."""

    def __init__(self) -> None:
        self.reason = ""
        self.cancelled = asyncio.Event()
        self.left_seconds = 0.0

    def not_ready_reason(self) -> str:
        return self.reason

    async def list_models(self, _: pb.ListModelsRequest) -> pb.ListModelsResponse:
        self.left_seconds = deadline.remaining_seconds(99)
        return pb.ListModelsResponse(models=[pb.Model(model_id="m", dimension=3)])

    async def embed_texts(self, request: pb.EmbedTextsRequest) -> pb.EmbedTextsResponse:
        if request.model_id == "defect":
            raise KeyError("an engine's own words")
        if request.model_id == "stall":
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        kind = next(kind for kind in errors.CLASSES if kind.reason == request.model_id)
        raise kind("as asked", retry_after_seconds=1.5 if request.texts else None)

    async def count_tokens(self, request: pb.CountTokensRequest) -> pb.CountTokensResponse:
        return pb.CountTokensResponse(token_counts=[len(text) for text in request.texts])


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()


@pytest.fixture
async def server(scripted: Scripted) -> AsyncIterator[Server]:
    server = Server({"embedder": scripted}, "127.0.0.1:0")
    await server.start()
    yield server
    await server.close()


@pytest.fixture(params=["near", "far"])
async def embedder(request: pytest.FixtureRequest, scripted: Scripted, server: Server) -> AsyncIterator[Embedder]:
    if request.param == "near":
        yield Near(scripted, CONTRACTS["embedder"])  # type: ignore[misc]
        return
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        yield Far(channel, CONTRACTS["embedder"])  # type: ignore[misc]


async def test_answers_are_the_same_near_and_far(embedder: Embedder) -> None:
    counts = await embedder.count_tokens(pb.CountTokensRequest(texts=["a", "été", "漢字"]))
    assert list(counts.token_counts) == [1, 3, 2]


@pytest.mark.parametrize("kind", errors.CLASSES)
async def test_errors_keep_class_message_and_retry_hint(embedder: Embedder, kind: type[errors.RefdeskError]) -> None:
    with pytest.raises(kind) as caught:
        await embedder.embed_texts(pb.EmbedTextsRequest(model_id=kind.reason, texts=["hint"]))
    assert type(caught.value) is kind
    assert (caught.value.message, caught.value.retry_after_seconds) == ("as asked", 1.5)
    with pytest.raises(kind) as caught:
        await embedder.embed_texts(pb.EmbedTextsRequest(model_id=kind.reason))
    assert caught.value.retry_after_seconds is None


async def test_a_defect_is_internal_and_keeps_its_own_words(embedder: Embedder) -> None:
    with pytest.raises(errors.Internal) as caught:
        await embedder.embed_texts(pb.EmbedTextsRequest(model_id="defect"))
    assert "engine" not in caught.value.message


async def test_a_deadline_ends_the_call_and_cancels_the_work(embedder: Embedder, scripted: Scripted) -> None:
    with pytest.raises(errors.DeadlineExceeded), deadline.limit(0.2):
        await embedder.embed_texts(pb.EmbedTextsRequest(model_id="stall"))
    async with asyncio.timeout(5):
        await scripted.cancelled.wait()


async def test_the_deadline_reaches_the_service_and_shrinks(embedder: Embedder, scripted: Scripted) -> None:
    with deadline.limit(3):
        await embedder.list_models(pb.ListModelsRequest())
    assert 0 < scripted.left_seconds <= 3


async def test_nothing_is_asked_when_no_time_is_left(server: Server, scripted: Scripted) -> None:
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        far = Far(channel, CONTRACTS["embedder"])
        with pytest.raises(errors.DeadlineExceeded), deadline.limit(0.0):
            await far.list_models(pb.ListModelsRequest())  # type: ignore[attr-defined]
    assert scripted.left_seconds == 0.0


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with open_channel("127.0.0.1:1") as channel:
        far = Far(channel, CONTRACTS["embedder"])
        with pytest.raises(errors.Unavailable, match="embedder cannot be reached"), deadline.limit(5):
            await far.list_models(pb.ListModelsRequest())  # type: ignore[attr-defined]


async def test_a_taken_address_is_said(server: Server, scripted: Scripted) -> None:
    with pytest.raises(errors.Unavailable, match=r"rpc\.listen"):
        await Server({"embedder": scripted}, f"127.0.0.1:{server.port}").start()


async def test_health_follows_readiness(server: Server, scripted: Scripted) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        health = health_pb2_grpc.HealthStub(channel)
        async with asyncio.timeout(10):
            watch = health.Watch(health_pb2.HealthCheckRequest(service=SERVICE))
            seen = []
            async for update in watch:
                seen.append(update.status)
                if update.status == health_pb2.HealthCheckResponse.SERVING:
                    scripted.reason = "model is loading"
                if update.status == health_pb2.HealthCheckResponse.NOT_SERVING:
                    break
            watch.cancel()
    assert seen[-2:] == [health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING]


async def test_reflection_names_the_service(server: Server) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        async with asyncio.timeout(10):
            answers = [answer async for answer in stub.ServerReflectionInfo(iter([request]))]
    names = [service.name for service in answers[0].list_services_response.service]
    assert SERVICE in names


async def ask_health(port: int, name: str) -> int:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        health = health_pb2_grpc.HealthStub(channel)
        return int((await health.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)).status)


async def test_health_by_itself_tells_alive_from_started_from_ready(scripted: Scripted) -> None:
    serving, not_serving = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
    scripted.reason = "model is loading"
    listener = HealthListener({"embedder": scripted}, "127.0.0.1:0")
    await listener.start()
    try:
        await until(lambda: ask_health(listener.port, ""), not_serving)
        assert [await ask_health(listener.port, name) for name in ("live", "started")] == [serving, not_serving]
        await listener.note_started()
        scripted.reason = ""
        await until(lambda: ask_health(listener.port, ""), serving)
        assert await ask_health(listener.port, "started") == serving
        await listener.drain()
        assert await ask_health(listener.port, "") == not_serving
    finally:
        await listener.close()


async def until(ask: Callable[[], Awaitable[int]], wanted: int) -> None:
    async with asyncio.timeout(10):
        while True:
            try:
                if await ask() == wanted:
                    return
            except grpc.aio.AioRpcError as error:
                assert error.code() is grpc.StatusCode.NOT_FOUND
            await asyncio.sleep(0.05)


async def test_a_taken_address_of_health_is_said(server: Server, scripted: Scripted) -> None:
    with pytest.raises(errors.Unavailable, match=r"rpc\.health_listen"):
        await HealthListener({"embedder": scripted}, f"127.0.0.1:{server.port}").start()
