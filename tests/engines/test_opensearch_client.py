"""What every engine on OpenSearch relies on: refusals that name the setting, retries within a budget, outcomes of each item."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from refdesk.engines.opensearch.address import Names
from refdesk.engines.opensearch.bulk import Action, Ending, write_actions
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.faults import Busy, IndexMissing, WriteBlocked
from refdesk.engines.opensearch.indices import Index, drop_index, ensure_index
from refdesk.engines.opensearch.reading import Hit, get_many, refresh, search_hits
from refdesk.engines.opensearch.settings import OpenSearchSettings
from refdesk.errors import Internal, InvalidArgument, Unavailable
from servers.gate import Gate, bulk_answer, open_gate
from servers.opensearch import OpenSearchServer

pytestmark = pytest.mark.anyio
NAMES = Names("docstore.url", "docstore.opensearch")
FIELDS = {"name": {"type": "keyword"}, "size": {"type": "long"}}


def make_client(address: str, **settings: object) -> OpenSearchClient:
    values = {"index_prefix": f"t{uuid4().hex}", "retry_seconds": 1.0, **settings}
    url = address if "://" in address else f"opensearch://{address}"
    return OpenSearchClient(url, OpenSearchSettings(**values), NAMES)


@pytest.fixture
async def gate(opensearch_server: OpenSearchServer) -> AsyncIterator[Gate]:
    async with open_gate(opensearch_server.address) as opened:
        yield opened


@pytest.fixture
async def client(gate: Gate) -> AsyncIterator[OpenSearchClient]:
    """Behind the gate, with an index of its own."""
    opened = make_client(gate.address)
    await opened.start()
    await ensure_index(opened, Index("things", FIELDS))
    gate.seen.clear()
    yield opened
    gate.answers.clear()
    gate.is_silent = gate.loses_answers = False
    await drop_index(opened, Index("things", FIELDS))
    await opened.close()


def index_thing(client: OpenSearchClient, identifier: str, **body: object) -> Action:
    return Action("index", Index("things", FIELDS).alias(client), identifier, body)


async def read_things(client: OpenSearchClient, *ids: str) -> list[Hit | None]:
    return await get_many(client, Index("things", FIELDS).alias(client), ids)


async def write(client: OpenSearchClient, *actions: Action) -> list[Ending]:
    return await write_actions(client, actions, refresh="false")


# How it starts


async def test_a_cluster_that_cannot_be_reached_is_unavailable_and_one_of_two_nodes_is_enough(gate: Gate) -> None:
    nowhere = make_client("127.0.0.1:1")
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1 cannot be reached"):
        await nowhere.start()
    await nowhere.close()
    half = make_client(f"127.0.0.1:1,{gate.address}")
    await half.start()
    for _ in range(4):  # whichever node is tried first
        assert (await half.read("GET", "/"))["version"]
    await half.close()


async def test_a_wrong_password_stops_the_start_by_the_settings_name_and_a_new_one_in_the_file_is_used(
    gate: Gate, tmp_path: Path
) -> None:
    gate.password, file = "desk:right", tmp_path / "password"
    file.write_text("wrong\n", encoding="utf-8")
    client = make_client(gate.address, user="desk", password_file=str(file))
    with pytest.raises(InvalidArgument) as caught:
        await client.start()
    assert "refuses user 'desk'; check docstore.opensearch.user and docstore.opensearch.password_file" in str(
        caught.value
    )
    assert "wrong" not in str(caught.value)
    file.write_text("right!\n", encoding="utf-8")
    gate.password = "desk:right!"
    await client.start()
    # Later a refusal is an outage: whoever asked is not the one to blame.
    gate.password = "desk:rotated"
    with pytest.raises(Unavailable, match="password_file"):
        await client.read("GET", "/")
    await client.close()


@pytest.mark.parametrize(
    "answer",
    [
        {"version": {"number": "8.1.0"}, "tagline": "x"},
        {"version": {"number": "1.3", "distribution": "opensearch"}},
        {},
    ],
)
async def test_another_product_or_an_old_version_stops_the_start(gate: Gate, answer: object) -> None:
    gate.answers.append((200, answer))
    with pytest.raises(InvalidArgument, match=r"no OpenSearch 2 or newer; check docstore\.url"):
        await make_client(gate.address).start()


async def test_tls_is_checked_with_the_ca_file(opensearch_server: OpenSearchServer, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    async with open_gate(opensearch_server.address, context) as gate:
        trusting = make_client(f"opensearch+tls://{gate.address}", ca_file=str(certificate))
        await trusting.start()
        await trusting.close()
        doubting = make_client(f"opensearch+tls://{gate.address}")
        with pytest.raises(
            InvalidArgument, match=r"TLS .* failed; check docstore\.url and docstore\.opensearch\.ca_file"
        ):
            await doubting.start()
        await doubting.close()
        plain = make_client(gate.address)
        with pytest.raises(Unavailable, match=r"write opensearch\+tls:// in docstore\.url"):
            await plain.start()
        await plain.close()


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Self-signed, for 127.0.0.1."""
    import ipaddress

    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gate")]), datetime.now(UTC)
    built = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now - timedelta(days=1), now + timedelta(days=1)
    )
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = built.add_extension(alternative, critical=False).sign(key, hashes.SHA256())
    (folder / "certificate.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "certificate.pem", folder / "key.pem"


# Indices


async def test_an_index_is_made_once_and_found_again(client: OpenSearchClient) -> None:
    await write(client, index_thing(client, "1", name="kept"))
    await ensure_index(client, Index("things", FIELDS))
    assert [hit and hit.source for hit in await read_things(client, "1")] == [{"name": "kept"}]


async def test_an_index_that_a_newer_release_of_the_same_layout_wrote_is_used(client: OpenSearchClient) -> None:
    await ensure_index(client, Index("things", {**FIELDS, "colour": {"type": "keyword"}}, version=2))
    await write(client, index_thing(client, "1", colour="red"))
    await ensure_index(client, Index("things", FIELDS))
    assert await write(client, index_thing(client, "2", name="x")) == [Ending.DONE]


@pytest.mark.parametrize(
    ("mapping", "why"),
    [
        (
            {"_meta": {"refdesk": {"version": 9, "min_reader": 8}}, "properties": FIELDS},
            "was written by a newer release",
        ),
        ({"properties": FIELDS}, "was not made by refdesk, or only in part"),
        (
            {"_meta": {"refdesk": {"version": 1, "min_reader": 1}}, "properties": {"name": {"type": "keyword"}}},
            "was not made by refdesk, or only in part",
        ),
        (
            {"_meta": {"refdesk": {"version": 1, "min_reader": 1}}, "properties": {**FIELDS, "size": {"type": "text"}}},
            "was not made by refdesk, or only in part",
        ),
    ],
)
async def test_an_index_of_another_release_or_half_made_stops_the_start_and_is_left_as_it_is(
    client: OpenSearchClient, mapping: dict[str, object], why: str
) -> None:
    strange = Index("strange", FIELDS)
    body = {"mappings": mapping, "aliases": {strange.alias(client): {}}}
    await client.write("PUT", f"/{strange.name(client)}", body)
    before = await client.read("GET", f"/{strange.name(client)}")
    with pytest.raises(InvalidArgument, match=why) as caught:
        await ensure_index(client, strange)
    assert strange.name(client) in str(caught.value)
    assert "docstore.opensearch.index_prefix" in str(caught.value)
    assert await client.read("GET", f"/{strange.name(client)}") == before
    await drop_index(client, strange)


async def test_an_index_without_its_alias_or_in_its_aliass_place_stops_the_start(client: OpenSearchClient) -> None:
    strange = Index("strange", FIELDS)
    for name in (strange.name(client), strange.alias(client)):
        await client.write("PUT", f"/{name}")
        with pytest.raises(InvalidArgument, match=f"index {name} was not made by refdesk"):
            await ensure_index(client, strange)
        await client.write("DELETE", f"/{name}")


# Writing


async def test_every_items_outcome_is_told_in_order(client: OpenSearchClient) -> None:
    alias = Index("things", FIELDS).alias(client)
    await write(client, index_thing(client, "there", size=1))
    assert await write(
        client,
        index_thing(client, "new", size=2),
        Action("create", alias, "there", {"size": 3}),
        index_thing(client, "bad", size="no number"),
        Action("update", alias, "none", {"doc": {"size": 1}}),
        Action("delete", alias, "none either"),
        index_thing(client, "last", size=4),
    ) == [Ending.DONE, Ending.CONFLICT, Ending.REFUSED, Ending.MISSING, Ending.MISSING, Ending.DONE]
    assert [hit is not None for hit in await read_things(client, "new", "bad", "last")] == [True, False, True]


async def test_a_write_holds_only_while_the_document_is_as_it_was_read(client: OpenSearchClient) -> None:
    await write(client, index_thing(client, "1", size=1))
    [read] = await read_things(client, "1")
    assert read is not None
    alias = Index("things", FIELDS).alias(client)
    assert await write(client, Action("index", alias, "1", {"size": 2}, read.unchanged)) == [Ending.DONE]
    assert await write(client, Action("index", alias, "1", {"size": 3}, read.unchanged)) == [Ending.CONFLICT]
    assert await write(client, Action("delete", alias, "1", None, read.unchanged)) == [Ending.CONFLICT]


async def test_items_without_room_are_sent_again_and_the_others_are_not(client: OpenSearchClient, gate: Gate) -> None:
    gate.answers += [bulk_answer(201, 429, 503), bulk_answer(201, 429)]
    assert await write(client, *(index_thing(client, name, size=1) for name in "abc")) == [Ending.DONE] * 3
    sent = [[name for name in "abc" if f'"_id":"{name}"' in body] for _, _, body in gate.seen]
    assert sent == [["a", "b", "c"], ["b", "c"], ["c"]]
    assert [hit is not None for hit in await read_things(client, "c")] == [True]


async def test_what_has_no_room_within_the_budget_is_busy(client: OpenSearchClient, gate: Gate) -> None:
    gate.answers += [bulk_answer(429)] * 1000
    with pytest.raises(Busy, match="no room"):
        await write(client, index_thing(client, "a", size=1))
    gate.answers[:] = [(429, {"error": {"type": "circuit_breaking_exception"}, "status": 429})] * 1000
    with pytest.raises(Busy, match="no room"):
        await read_things(client, "a")
    assert gate.answers  # it gave up, and not because the answers had run out


async def test_a_request_without_room_is_sent_again(client: OpenSearchClient, gate: Gate) -> None:
    refusals = [(429, "circuit_breaking_exception"), (503, "cluster_block_exception"), (503, "node_closed_exception")]
    gate.answers += [(status, {"error": {"type": kind}}) for status, kind in refusals]
    assert await write(client, index_thing(client, "a", size=1)) == [Ending.DONE]
    assert len(gate.seen) == 4


async def test_what_a_proxy_may_have_passed_on_is_read_again_but_not_written_again(
    client: OpenSearchClient, gate: Gate
) -> None:
    gate.answers += [(503, "upstream reset")]
    with pytest.raises(Unavailable, match="not there for its proxy"):
        await write(client, index_thing(client, "a", size=1))
    gate.answers += [(503, "upstream reset")]
    assert await read_things(client, "a") == [None]


@pytest.mark.parametrize("block", ["read_only_allow_delete", "write", "read_only"])
async def test_a_write_block_holds_at_once_and_ends_with_the_block(
    client: OpenSearchClient, gate: Gate, block: str
) -> None:
    place = f"/{Index('things', FIELDS).name(client)}/_settings"
    await client.write("PUT", place, {f"index.blocks.{block}": True})  # the first is what a full disk leads to
    gate.seen.clear()
    with pytest.raises(WriteBlocked, match="blocks writes: its disk is full, or somebody set a block"):
        await write(client, index_thing(client, "a", size=1))
    assert len(gate.seen) == 1
    assert await read_things(client, "a") == [None]
    await client.write("PUT", place, {f"index.blocks.{block}": None})
    assert await write(client, index_thing(client, "a", size=1)) == [Ending.DONE]


async def test_a_write_whose_answer_was_lost_is_not_sent_again(client: OpenSearchClient, gate: Gate) -> None:
    gate.loses_answers = True
    with pytest.raises(Unavailable):
        await write(client, index_thing(client, "a", size=1))
    assert len(gate.seen) == 1
    gate.loses_answers = False
    assert [hit is not None for hit in await read_things(client, "a")] == [True]


async def test_large_requests_are_split_and_what_is_too_large_alone_is_refused_alone(gate: Gate) -> None:
    client = make_client(gate.address, bulk_bytes=65_536)
    index = Index("things", FIELDS)
    await client.start()
    await ensure_index(client, index)
    gate.seen.clear()
    texts = ["x" * 20_000] * 5
    names = [{"name": "", "size": len(text)} for text in texts]
    actions = [Action("index", index.alias(client), str(place), body) for place, body in enumerate(names)]
    padded = [Action("index", each.alias, each.id, {"name": "x" * 20_000}) for each in actions]
    assert await write(client, *padded) == [Ending.DONE] * 5
    assert [body.count('"_id"') for _, _, body in gate.seen] == [3, 2]
    # A proxy before the engine may take less than we think.
    gate.answers += [(413, "too large"), (413, "too large"), bulk_answer(201)]
    assert await write(client, *actions[:2]) == [Ending.REFUSED, Ending.DONE]
    await drop_index(client, index)
    await client.close()


# Reading


async def test_nobody_takes_a_missing_index_for_an_empty_one(client: OpenSearchClient) -> None:
    gone = Index("gone", FIELDS).alias(client)
    with pytest.raises(IndexMissing, match=f"index {gone} .* is missing or closed"):
        await get_many(client, gone, ["1"])
    with pytest.raises(IndexMissing):
        await search_hits(client, gone, {})
    with pytest.raises(IndexMissing):
        await write(client, Action("index", gone, "1", {"size": 1}))
    with pytest.raises(IndexMissing):
        await write(client, Action("delete", gone, "1"))
    with pytest.raises(IndexMissing):
        await get_many(client, gone, ["1"])  # and no write has made it


async def test_a_read_by_id_sees_what_no_search_sees_yet(client: OpenSearchClient) -> None:
    alias = Index("things", FIELDS).alias(client)
    await client.write("PUT", f"/{alias}/_settings", {"index.refresh_interval": "-1"})
    await write(client, index_thing(client, "1", name="a", size=1))
    [found] = await get_many(client, alias, ["1"], only=["name"])
    assert found is not None
    assert found.source == {"name": "a"}
    assert await search_hits(client, alias, {}) == []
    await refresh(client, alias)
    [hit] = await search_hits(client, alias, {"_source": ["size"], "seq_no_primary_term": True})
    assert (hit.id, hit.source, hit.unchanged) == ("1", {"size": 1}, found.unchanged)


async def test_an_engine_that_says_nothing_is_unavailable_in_time(client: OpenSearchClient, gate: Gate) -> None:
    hasty = OpenSearchClient(
        f"opensearch://{gate.address}", OpenSearchSettings(request_timeout_seconds=0.2, retry_seconds=0), NAMES
    )
    await hasty.start()
    gate.is_silent = True
    with pytest.raises(Unavailable, match="did not answer in time"):
        await read_things(hasty, "1")
    await hasty.close()


async def test_a_request_that_is_wrong_is_our_defect_and_repeats_no_words_of_the_engine(
    client: OpenSearchClient,
) -> None:
    with pytest.raises(Internal) as caught:
        await search_hits(client, Index("things", FIELDS).alias(client), {"query": {"no_such_query": {}}})
    assert "unknown query" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "body"), [(404, "<html>"), (502, "bad gateway"), (200, "<html>"), (400, {"fault": 1})]
)
async def test_what_something_else_answers_blames_no_document(
    client: OpenSearchClient, gate: Gate, status: int, body: object
) -> None:
    for work in (lambda: write(client, index_thing(client, "1", size=1)), lambda: read_things(client, "1")):
        gate.answers[:] = [(status, body)] * 20
        with pytest.raises(Unavailable, match=r"is no OpenSearch; check docstore\.url"):
            await work()


async def test_a_closed_client_says_so_and_closing_twice_does_no_harm(gate: Gate) -> None:
    client = make_client(gate.address)
    await client.start()
    await client.close()
    await client.close()
    with pytest.raises(Unavailable, match=r"docstore\.url is not open"):
        await client.read("GET", "/")
