"""The embedder near and far: one body of tests over both."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from models import build_tiny_model, tiny_table, tiny_tokenizer, tiny_vector
from refdesk.api.embedder.v1 import embedder_pb2 as pb
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.embedder.places import is_built, models_folder
from refdesk.embedder.queue import Job
from refdesk.embedder.registry import DEFAULT_MODEL, ENTRIES, fingerprint
from refdesk.embedder.service import EmbedderService
from refdesk.embedder.settings import EmbedderSettings
from refdesk.errors import DeadlineExceeded, InvalidArgument, NotFound, ResourceExhausted, Unavailable
from refdesk.rpc import deadline
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server

pytestmark = pytest.mark.anyio
CONTRACT = CONTRACTS["embedder"]
PATIENCE_SECONDS = 10
QUERY, PASSAGE = pb.PURPOSE_QUERY, pb.PURPOSE_PASSAGE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(
        tmp_path_factory.mktemp("models") / "tiny", window_tokens=40, query_prefix="query: ", passage_prefix="passage: "
    )


@pytest.fixture
async def service(folder: Path) -> AsyncIterator[EmbedderService]:
    service = EmbedderService(EmbedderSettings(model=str(folder), workers=2))
    await service.start()
    yield service
    await service.close()


@pytest.fixture(params=["near", "far"])
async def embedder(request: pytest.FixtureRequest, service: EmbedderService) -> AsyncIterator[Embedder]:
    if request.param == "near":
        yield Near(service, CONTRACT)  # type: ignore[misc]
        return
    server = Server({"embedder": service}, "127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        yield Far(channel, CONTRACT)  # type: ignore[misc]
    await server.close()


async def embed(embedder: Embedder, purpose: pb.Purpose, *texts: str) -> list[pb.EmbedTextsItem]:
    response = await embedder.embed_texts(pb.EmbedTextsRequest(model_id="tiny", purpose=purpose, texts=texts))
    return list(response.items)


def expected(text: str) -> NDArray[np.float32]:
    tokenizer = tiny_tokenizer()
    return np.array(tiny_vector(tokenizer, tiny_table(tokenizer.get_vocab_size(), 64), text), np.float32)


def numbers(item: pb.EmbedTextsItem) -> NDArray[np.float32]:
    return np.frombuffer(item.vector, "<f4")


async def occupy_worker(service: EmbedderService) -> threading.Event:
    """Keeps the only worker busy until the answer is set, and comes back once it is."""
    taken, gate = threading.Event(), threading.Event()

    def work() -> None:
        taken.set()
        gate.wait(PATIENCE_SECONDS)

    service._queue.put([Job("query", work, time.monotonic() + PATIENCE_SECONDS)])
    assert await asyncio.to_thread(taken.wait, PATIENCE_SECONDS)
    return gate


async def test_models_are_listed_with_the_window_that_is_left_for_a_text(embedder: Embedder) -> None:
    (model,) = (await embedder.list_models(pb.ListModelsRequest())).models
    # 40 less two special tokens less pas sag e :
    assert (model.model_id, model.dimension, model.window_tokens) == ("tiny", 64, 34)
    assert (model.floor_cosine, model.floor_coverage, list(model.languages)) == (0.1, 0.35, ["en"])


async def test_vectors_are_right_for_each_purpose_and_in_order(embedder: Embedder) -> None:
    texts = ["restart the server", "delete an index", "a"]
    for purpose, prefix in ((QUERY, "query: "), (PASSAGE, "passage: ")):
        items = await embed(embedder, purpose, *texts)
        for text, item in zip(texts, items, strict=True):
            np.testing.assert_allclose(numbers(item), expected(prefix + text), atol=1e-5)


async def test_the_same_text_gives_the_same_bits_alone_and_among_others(embedder: Embedder) -> None:
    (alone,) = await embed(embedder, PASSAGE, "restart the server")
    among = await embed(embedder, PASSAGE, *(f"text {number}" for number in range(20)), "restart the server")
    assert among[-1].vector == alone.vector


async def test_a_text_over_the_window_fails_alone(embedder: Embedder) -> None:
    fitting, over, after = await embed(embedder, PASSAGE, "a " * 34, "a " * 35, "b")
    assert (fitting.WhichOneof("outcome"), fitting.token_count) == ("vector", 34)
    assert (over.WhichOneof("outcome"), over.over_window.window_tokens, over.token_count) == ("over_window", 34, 35)
    assert after.WhichOneof("outcome") == "vector"


async def test_repeated_and_equal_queries_are_all_answered(embedder: Embedder) -> None:
    first = await embed(embedder, QUERY, "one", "two", "one")
    again = await embed(embedder, QUERY, "two", "three", "one")
    assert first[0] == first[2] == again[2]
    assert first[1] == again[0]
    np.testing.assert_allclose(numbers(again[1]), expected("query: three"), atol=1e-5)


async def test_counts_agree_with_embedding_and_leave_out_special_tokens(embedder: Embedder) -> None:
    texts = ["", "restart", "a b c", "x" * 9]
    counted = await embedder.count_tokens(pb.CountTokensRequest(model_id="tiny", texts=texts))
    assert list(counted.token_counts) == [0, 3, 3, 3]
    assert [item.token_count for item in await embed(embedder, PASSAGE, *texts)] == [0, 3, 3, 3]


async def test_much_text_is_counted_rightly_off_the_loop(embedder: Embedder) -> None:
    request = pb.CountTokensRequest(model_id="tiny", texts=["abc " * 10_000, "abc"])
    assert list((await embedder.count_tokens(request)).token_counts) == [10_000, 1]


async def test_wrong_requests_say_what_is_wrong(embedder: Embedder) -> None:
    with pytest.raises(NotFound, match='"other" is not hosted here; hosted: tiny'):
        await embedder.count_tokens(pb.CountTokensRequest(model_id="other"))
    with pytest.raises(InvalidArgument, match="purpose is not set"):
        await embed(embedder, pb.PURPOSE_UNSPECIFIED, "a")
    with pytest.raises(InvalidArgument, match="0 texts to embed"):
        await embed(embedder, QUERY)
    with pytest.raises(InvalidArgument, match="257 texts to embed"):
        await embed(embedder, PASSAGE, *["a"] * 257)
    with pytest.raises(InvalidArgument, match="4097 texts to count"):
        await embedder.count_tokens(pb.CountTokensRequest(model_id="tiny", texts=["a"] * 4097))


@pytest.fixture
def spare(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of built models with one of the registry that no setting names."""
    entry = replace(ENTRIES[DEFAULT_MODEL], model_id="spare", dimension=0, languages=(), window_tokens=50)
    monkeypatch.setitem(ENTRIES, "spare", entry)
    build_tiny_model(folder.parent / "spare", model_id="spare")
    described = folder.parent / "spare" / "refdesk.json"
    described.write_text(json.dumps(json.loads(described.read_text()) | {"build": fingerprint(entry)}))
    return folder.parent


async def test_a_built_model_of_the_registry_is_hosted_from_when_it_is_needed(folder: Path, spare: Path) -> None:
    service = EmbedderService(EmbedderSettings(model=str(folder), models=str(spare), workers=1))
    await service.start()

    async def list_hosted(*needed: str) -> list[str]:
        response = await service.list_models(pb.ListModelsRequest(model_ids=needed))
        return [model.model_id for model in response.models]

    assert await list_hosted() == ["tiny"]
    assert await asyncio.gather(list_hosted("spare"), list_hosted("spare", "nobody")) == [["tiny", "spare"]] * 2
    request = pb.EmbedTextsRequest(model_id="spare", purpose=QUERY, texts=["one"])
    np.testing.assert_allclose(numbers((await service.embed_texts(request)).items[0]), expected("one"), atol=1e-5)
    await service.close()


async def test_a_model_that_is_asked_to_embed_before_it_is_loaded_is_unavailable_for_a_moment(
    folder: Path, spare: Path
) -> None:
    service = EmbedderService(EmbedderSettings(model=str(folder), models=str(spare), workers=1))
    await service.start()
    request = pb.CountTokensRequest(model_id="spare", texts=["abc"])
    with pytest.raises(Unavailable, match="model spare is being loaded"):
        await service.count_tokens(request)
    await service.list_models(pb.ListModelsRequest(model_ids=["spare"]))
    assert list((await service.count_tokens(request)).token_counts) == [1]
    await service.close()


async def test_a_needed_model_that_gives_wrong_vectors_or_is_not_built_is_not_hosted_and_says_why(
    folder: Path, spare: Path
) -> None:
    service = EmbedderService(EmbedderSettings(model=str(folder), models=str(spare), workers=1))
    await service.start()
    canaries = spare / "spare" / "canary.json"
    rows = json.loads(canaries.read_text())["canaries"]
    canaries.write_text(json.dumps({"canaries": [row | {"vector": row["vector"][::-1]} for row in rows]}))
    response = await service.list_models(pb.ListModelsRequest(model_ids=["spare", DEFAULT_MODEL]))
    assert [model.model_id for model in response.models] == ["tiny"]
    with pytest.raises(NotFound, match="spare gives wrong vectors on this machine"):
        await service.count_tokens(pb.CountTokensRequest(model_id="spare", texts=["abc"]))
    with pytest.raises(NotFound, match=rf"model {DEFAULT_MODEL} is not built in"):
        await service.count_tokens(pb.CountTokensRequest(model_id=DEFAULT_MODEL, texts=["abc"]))
    assert service.not_ready_reason() == ""
    await service.close()


async def test_no_time_left_is_a_deadline_error(embedder: Embedder) -> None:
    with deadline.limit(0), pytest.raises(DeadlineExceeded):
        await embed(embedder, PASSAGE, "a")


async def test_a_full_queue_refuses_at_once_and_a_cancelled_call_makes_room(folder: Path) -> None:
    service = EmbedderService(EmbedderSettings(model=str(folder), workers=1, max_waiting_queries=3))
    await service.start()
    gate = await occupy_worker(service)
    waiting = asyncio.create_task(embed(service, QUERY, "one", "two"))
    await asyncio.sleep(0)
    with pytest.raises(ResourceExhausted) as refusal:
        await embed(service, QUERY, "three", "four")
    assert refusal.value.retry_after_seconds is not None
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    roomy = asyncio.create_task(embed(service, QUERY, "three", "four", "five"))
    gate.set()
    assert len(await asyncio.wait_for(roomy, PATIENCE_SECONDS)) == 3
    await service.close()


async def test_closing_tells_callers_that_wait(folder: Path) -> None:
    service = EmbedderService(EmbedderSettings(model=str(folder), workers=1))
    await service.start()
    gate = await occupy_worker(service)
    waiting = asyncio.create_task(embed(service, PASSAGE, "one"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(service.close())
    with pytest.raises(Unavailable):
        await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    gate.set()
    await asyncio.wait_for(closing, PATIENCE_SECONDS)


async def test_a_call_ends_when_its_time_does_though_the_worker_is_busy(folder: Path) -> None:
    service = EmbedderService(EmbedderSettings(model=str(folder), workers=1, query_timeout_seconds=0.05))
    await service.start()
    gate = await occupy_worker(service)
    with pytest.raises(DeadlineExceeded, match="2 of 2 texts were not embedded in time"):
        await asyncio.wait_for(embed(service, QUERY, "one", "two"), PATIENCE_SECONDS)
    gate.set()
    await service.close()


async def test_it_is_not_ready_before_start_and_after_close(folder: Path) -> None:
    service = EmbedderService(EmbedderSettings(model=str(folder)))
    assert service.not_ready_reason() != ""
    with pytest.raises(Unavailable):
        await service.list_models(pb.ListModelsRequest())
    await service.start()
    assert service.not_ready_reason() == ""
    await service.close()
    assert service.not_ready_reason() != ""
    with pytest.raises(Unavailable):
        await embed(service, QUERY, "a")


async def test_a_model_with_wrong_vectors_is_up_but_not_ready_and_says_why(tmp_path: Path) -> None:
    folder = build_tiny_model(tmp_path / "tiny")
    rows = json.loads((folder / "canary.json").read_text())["canaries"]
    (folder / "canary.json").write_text(json.dumps({"canaries": [row | {"text": "another text"} for row in rows]}))
    service = EmbedderService(EmbedderSettings(model=str(folder)))
    await service.start()
    assert "wrong vectors on this machine" in service.not_ready_reason()
    with pytest.raises(Unavailable, match="wrong vectors"):
        await embed(service, QUERY, "a")
    await service.close()


async def test_several_models_are_hosted_the_default_first(folder: Path, tmp_path: Path) -> None:
    other = build_tiny_model(tmp_path / "other", model_id="other", dimension=16)
    service = EmbedderService(EmbedderSettings(model=str(folder), also_host=(str(other),)))
    await service.start()
    models = (await service.list_models(pb.ListModelsRequest())).models
    assert [(model.model_id, model.dimension) for model in models] == [("tiny", 64), ("other", 16)]
    await service.close()


@pytest.mark.skipif(
    not is_built(ENTRIES[DEFAULT_MODEL], models_folder("")), reason="the model is not built: make model"
)
async def test_the_default_model_gives_the_similarities_that_its_makers_publish() -> None:
    service = EmbedderService(EmbedderSettings())
    await service.start()
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    request = pb.EmbedTextsRequest(model_id=DEFAULT_MODEL, purpose=PASSAGE, texts=texts)
    vectors = np.array([numbers(item) for item in (await service.embed_texts(request)).items])
    await service.close()
    # the quick start of Sentence Transformers; int8 moves each by up to about .02
    published = np.array([[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]])
    np.testing.assert_allclose(vectors @ vectors.T, published, atol=0.03)
