"""What goes to a Qdrant server and what becomes of its answers, told by a gRPC server that only listens; no engine has a part in it.

The shapes are those that a Qdrant 1.18.3 took once, written down here by hand; whether another server takes them, only a server can tell.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from qdrant_client import grpc as wire

from engines.entries import EVERYWHERE, HANDBOOK, USUAL, hash_of, id_of, sweep_item, vector_item, vector_of
from fakes.qdrant import LOOPBACK, QdrantFake, exists, info, label, record
from refdesk import errors, failpoints
from refdesk.engines.late import Late
from refdesk.search.engines.interface import Filter, Grain
from refdesk.search.engines.qdrant_index import QdrantIndex
from refdesk.search.engines.table import vector_index
from refdesk.search.settings import SearchSettings

pytestmark = pytest.mark.anyio
NAME = "refdesk__model.c1"
EAST, NORTH = vector_of(1, 0, 0), vector_of(0, 1, 0)


@pytest.fixture
async def server() -> AsyncIterator[tuple[QdrantFake, str]]:
    fake, listening = QdrantFake(), grpc.aio.server()
    listening.add_generic_rpc_handlers((fake,))
    port = listening.add_insecure_port(f"{LOOPBACK}:0")
    await listening.start()
    yield fake, f"qdrant://{LOOPBACK}:{port}"
    await listening.stop(None)


@pytest.fixture
def fake(server: tuple[QdrantFake, str]) -> QdrantFake:
    return server[0]


@pytest.fixture
def settings(server: tuple[QdrantFake, str]) -> SearchSettings:
    return SearchSettings(
        vector_url=server[1], vector_shard_count=3, vector_replication_factor=2, vector_write_consistency=2
    )


@pytest.fixture
async def index(settings: SearchSettings) -> AsyncIterator[QdrantIndex]:
    index = QdrantIndex(settings)
    yield index
    await index.close()


@pytest.fixture
def disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


def flat(conditions: Any) -> list[tuple[str, Any]]:
    """Conditions as (field, what it must be), to be compared with what was written by hand."""
    return [_read(condition) for condition in conditions]


def _read(condition: Any) -> tuple[str, Any]:
    kind = condition.WhichOneof("condition_one_of")
    if kind == "has_id":
        return "id", sorted(point.uuid for point in condition.has_id.has_id)
    if kind == "filter":
        return "all", flat(condition.filter.must)
    field = condition.field
    if field.HasField("range"):
        bounds = {name.name: value for name, value in field.range.ListFields()}
        return field.key, bounds
    which = field.match.WhichOneof("match_value")
    value = getattr(field.match, which)
    return field.key, sorted(value.strings) if which == "keywords" else value


def new_collection(fake: QdrantFake) -> None:
    fake.queued["CollectionExists"] = [exists(False), exists(False)]
    fake.queued["Get"] = [info(points_count=0, without=info().result.payload_schema)]


# --- the collection


async def test_a_collection_is_made_with_the_settings_that_were_tried(fake: QdrantFake, index: QdrantIndex) -> None:
    new_collection(fake)
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    (made,) = fake.of("Create")
    assert made.collection_name == NAME
    assert (made.vectors_config.params.size, made.vectors_config.params.distance) == (3, wire.Distance.Cosine)
    assert (made.hnsw_config.m, made.hnsw_config.payload_m) == (0, 16)
    strict = made.strict_mode_config
    assert {field.name: value for field, value in strict.ListFields()} == {
        "enabled": True,
        "max_query_limit": 1000,
        "unindexed_filtering_retrieve": False,
        "unindexed_filtering_update": False,
    }
    assert (made.shard_number, made.replication_factor, made.write_consistency_factor) == (3, 2, 2)


async def test_every_filtered_field_is_indexed_before_the_label_and_the_first_point(
    fake: QdrantFake, index: QdrantIndex
) -> None:
    new_collection(fake)
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    order = [call.method for call in fake.calls if call.method in ("Create", "CreateFieldIndex", "Upsert")]
    assert order == ["Create", *["CreateFieldIndex"] * 10, "Upsert", "Upsert"]
    made = {request.field_name: request for request in fake.of("CreateFieldIndex")}
    assert all(request.wait for request in made.values())
    assert made["project"].field_index_params.keyword_index_params.is_tenant
    for field in ("document", "grain", "source", "folders", "version", "kind", "text_hash", "project"):
        assert made[field].field_type == wire.FieldType.FieldTypeKeyword
    for field in ("stamp", "document_order"):
        numbers = made[field].field_index_params.integer_index_params
        assert (made[field].field_type, numbers.lookup, numbers.range) == (
            wire.FieldType.FieldTypeInteger,
            False,
            True,
        )


async def test_the_label_is_never_written_over_and_no_project_reaches_it(fake: QdrantFake, index: QdrantIndex) -> None:
    new_collection(fake)
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    written = fake.of("Upsert")[0]
    assert flat(written.update_filter.must) == [("project", "@label"), ("stamp", {"lte": 0.0})]
    assert written.points[0].payload["project"].string_value == "@label"


async def test_a_collection_without_one_payload_index_gets_that_one(fake: QdrantFake, index: QdrantIndex) -> None:
    fake.answers["Get"] = info(without=["kind"])
    assert await index.find_vectors(HANDBOOK, [hash_of("a")]) == {}
    assert [request.field_name for request in fake.of("CreateFieldIndex")] == ["kind"]
    assert fake.of("Create", "Upsert", "Delete") == []


async def test_a_creation_that_was_cut_off_is_finished_by_the_next_write(
    fake: QdrantFake, index: QdrantIndex, disarmed: None
) -> None:
    failpoints.arm("vectors_created=fail")
    new_collection(fake)
    with pytest.raises(errors.Unavailable):
        await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    half_made = info(points_count=0, without=["kind", "stamp"])
    fake.calls.clear()
    fake.queued["Get"] = [half_made]
    fake.queued["Points.Get"] = [wire.GetResponse()]
    assert await index.list_entries(HANDBOOK, ("", ""), 10) == []
    assert fake.of("CreateFieldIndex", "Upsert", "Scroll") == []
    fake.queued["Get"] = [half_made, half_made]
    fake.queued["Points.Get"] = [wire.GetResponse()]
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    assert [request.field_name for request in fake.of("CreateFieldIndex")] == ["kind", "stamp"]
    assert fake.of("Create") == []
    assert len(fake.of("Upsert")) == 2


async def test_another_process_may_make_the_collection_first(fake: QdrantFake, index: QdrantIndex) -> None:
    new_collection(fake)
    fake.queued["Create"] = [grpc.StatusCode.INVALID_ARGUMENT]
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    assert len(fake.of("Upsert")) == 2


REFUSED = {
    "dimension": (info(dimension=4, points_count=0), [], r"made for vectors of 4 numbers, and model makes 3"),
    "distance": (info(distance=wire.Distance.Dot), [label()], r"compared by cosine"),
    "not ours": (info(points_count=7), [], r"holds points that are not refdesk's"),
    "field": (info(kind=wire.PayloadSchemaType.Text), [label()], r"indexes kind as text, not as keyword"),
    "newer": (info(), [label(min_reader=2)], r"newer release, this one reads up to 1"),
}


@pytest.mark.parametrize(("found", "labels", "line"), REFUSED.values(), ids=REFUSED)
async def test_a_collection_that_does_not_fit_is_refused_with_the_setting_and_left_alone(
    fake: QdrantFake, index: QdrantIndex, found: Any, labels: list[Any], line: str
) -> None:
    fake.answers["Get"] = found
    fake.answers["Points.Get"] = wire.GetResponse(result=labels)
    with pytest.raises(errors.InvalidArgument, match=line) as refused:
        await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    assert NAME in refused.value.message
    assert "search.vector_collection_prefix" in refused.value.message
    assert "\n" not in refused.value.message
    assert fake.of("Create", "CreateFieldIndex", "Upsert", "Delete") == []


async def test_the_start_looks_at_every_collection_of_ours_and_at_no_other(
    fake: QdrantFake, index: QdrantIndex
) -> None:
    names = [NAME, "refdesk__old.c1", "refdesk-two__model.c1", "theirs"]
    fake.answers["List"] = wire.ListCollectionsResponse(
        collections=[wire.CollectionDescription(name=name) for name in names]
    )
    await index.start()
    assert [request.collection_name for request in fake.of("Get")] == [NAME, "refdesk__old.c1"]
    fake.answers["Points.Get"] = wire.GetResponse(result=[label(min_reader=9)])
    with pytest.raises(errors.InvalidArgument, match=r"newer release"):
        await index.start()


@pytest.mark.parametrize("version", ["1.15.4", "0.11.0", "unknown"])
async def test_a_server_that_may_not_know_conditional_writes_is_refused(
    fake: QdrantFake, index: QdrantIndex, version: str
) -> None:
    fake.answers["HealthCheck"] = wire.HealthCheckReply(title="qdrant", version=version)
    with pytest.raises(errors.InvalidArgument, match=rf"runs Qdrant {version}; search.vector_url needs 1.18 or newer"):
        await index.start()


# --- writes


async def test_a_write_waits_goes_through_the_leader_and_spares_later_stamps(
    fake: QdrantFake, index: QdrantIndex
) -> None:
    items = [
        vector_item("a1", EAST, stamp=4),
        vector_item("a2", NORTH, stamp=4),
        vector_item("b1", EAST, document="b", stamp=7),
    ]
    stamps = [record(item.id, stamp=item.stamp) for item in items]
    fake.answers["Scroll"] = wire.ScrollResponse(result=stamps)
    assert tuple(await index.write(HANDBOOK, "model", items)) == (3, ())
    (sent,) = fake.of("Upsert")
    assert (sent.wait, sent.ordering.type) == (True, wire.WriteOrderingType.Medium)
    assert [point.id.uuid for point in sent.points] == [item.id for item in items]
    assert flat(sent.update_filter.must) == [("project", "handbook")]
    assert sorted(flat(sent.update_filter.should), key=str) == sorted(
        [
            ("all", [("document", id_of("a")), ("stamp", {"lte": 4.0})]),
            ("all", [("document", id_of("b")), ("stamp", {"lte": 7.0})]),
        ],
        key=str,
    )


async def test_two_stamps_of_one_document_never_share_a_write(fake: QdrantFake, index: QdrantIndex) -> None:
    items = [vector_item("a1", EAST, stamp=2), vector_item("a2", EAST, stamp=5), vector_item("a3", EAST, stamp=2)]
    fake.answers["Scroll"] = wire.ScrollResponse(result=[record(item.id, stamp=item.stamp) for item in items])
    await index.write(HANDBOOK, "model", items)
    sent = [[point.payload["stamp"].integer_value for point in request.points] for request in fake.of("Upsert")]
    assert sorted(sent) == [[2, 2], [5]]


async def test_a_point_that_a_later_stamp_or_a_sweep_has_outrun_is_superseded(
    fake: QdrantFake, index: QdrantIndex
) -> None:
    items = [vector_item(name, EAST, stamp=3) for name in ("mine", "later", "swept")]
    found = [record(items[0].id, stamp=3), record(items[1].id, stamp=8)]
    fake.answers["Scroll"] = wire.ScrollResponse(result=found)
    written = await index.write(HANDBOOK, "model", items)
    assert (written.written_count, sorted(written.superseded_ids)) == (1, sorted([items[1].id, items[2].id]))


async def test_a_write_that_a_reader_does_not_see_is_not_called_written(fake: QdrantFake, index: QdrantIndex) -> None:
    fake.answers["Scroll"] = wire.ScrollResponse(result=[record(id_of("a1"), stamp=2)])
    with pytest.raises(errors.Unavailable, match=r"does not show them"):
        await index.write(HANDBOOK, "model", [vector_item("a1", EAST, stamp=3)])


async def test_a_write_that_was_only_acknowledged_is_tried_again(fake: QdrantFake, index: QdrantIndex) -> None:
    only_taken = wire.UpdateResult(operation_id=1, status=wire.UpdateStatus.Acknowledged)
    fake.queued["Upsert"] = [wire.PointsOperationResponse(result=only_taken)]
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    assert len(fake.of("Upsert")) == 2


async def test_a_sweep_deletes_by_project_document_stamp_and_head(fake: QdrantFake, index: QdrantIndex) -> None:
    old = record(id_of("old"), document=id_of("a"), grain="chunk", stamp=2)
    fake.queued["Scroll"] = [wire.ScrollResponse(result=[old]), wire.ScrollResponse()]
    (outcome,) = await index.sweep(HANDBOOK, [sweep_item("a", 3, "kept")])
    assert tuple(outcome) == (1, False)
    (sent,) = fake.of("Delete")
    assert (sent.wait, sent.ordering.type) == (True, wire.WriteOrderingType.Medium)
    assert flat(sent.points.filter.must) == [
        ("project", "handbook"),
        ("document", id_of("a")),
        ("stamp", {"lte": 3.0}),
        ("grain", "chunk"),
    ]
    assert flat(sent.points.filter.must_not) == [("id", [id_of("kept")])]


async def test_an_entry_that_was_stamped_anew_under_the_sweep_is_not_counted(
    fake: QdrantFake, index: QdrantIndex
) -> None:
    before = record(id_of("old"), document=id_of("a"), grain="chunk", stamp=2)
    after = record(id_of("old"), document=id_of("a"), grain="chunk", stamp=4)
    fake.queued["Scroll"] = [wire.ScrollResponse(result=[before]), wire.ScrollResponse(result=[after])]
    assert [tuple(o) for o in await index.sweep(HANDBOOK, [sweep_item("a", 3)])] == [(0, True)]


async def test_a_drop_deletes_by_project_and_leaves_the_collection(fake: QdrantFake, index: QdrantIndex) -> None:
    assert not await index.drop(HANDBOOK)
    assert fake.of("Delete") == []
    fake.queued["Scroll"] = [wire.ScrollResponse(result=[record(id_of("a1"), stamp=1)])]
    assert await index.drop(HANDBOOK)
    (sent,) = fake.of("Delete")
    assert flat(sent.points.filter.must) == [("project", "handbook")]
    assert list(sent.points.filter.must_not) == []


# --- reads


async def test_both_grains_are_asked_at_once_each_within_the_project_and_the_filter(
    fake: QdrantFake, index: QdrantIndex
) -> None:
    narrowed = Filter(sources=("docs", "blog"), path_prefix="docs/api", versions=("v1",), kinds=("api",))
    await index.search(HANDBOOK, EAST, narrowed, USUAL)
    (sent,) = fake.of("QueryBatch")
    chunk, whole = sent.query_points
    facets = [("source", ["blog", "docs"]), ("folders", "docs/api"), ("version", "v1"), ("kind", "api")]
    assert flat(chunk.filter.must) == [("project", "handbook"), ("grain", "chunk"), *facets]
    assert flat(whole.filter.must) == [("project", "handbook"), ("grain", "document"), *facets]
    assert (chunk.limit, whole.limit) == (200, 50)
    assert list(chunk.with_payload.include.fields) == ["document"]
    assert not chunk.with_vectors.enable


async def test_no_call_on_points_leaves_out_the_project(fake: QdrantFake, index: QdrantIndex) -> None:
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)
    fake.queued["QueryBatch"] = [wire.QueryBatchResponse(result=[wire.BatchResult()])]
    await index.measure(HANDBOOK, EAST, [id_of("a1")])
    await index.find_vectors(HANDBOOK, [hash_of("a1")])
    await index.list_entries(HANDBOOK, ("", ""), 10)
    unlisted = record(id_of("old"), document=id_of("a"), grain="chunk", stamp=1)
    fake.queued["Scroll"] = [wire.ScrollResponse(result=[unlisted])]
    await index.sweep(HANDBOOK, [sweep_item("a", 1)])
    filters = [request.filter for request in fake.of("Scroll")]
    filters += [query.filter for request in fake.of("QueryBatch") for query in request.query_points]
    filters += [request.update_filter for request in fake.of("Upsert")]
    filters += [request.points.filter for request in fake.of("Delete")]
    assert len(filters) >= 8
    assert all(flat(one.must)[0] == ("project", "handbook") for one in filters)
    assert max(request.limit for request in fake.of("Scroll")) <= 1000


async def test_nothing_is_asked_without_a_project(fake: QdrantFake, index: QdrantIndex) -> None:
    nowhere = HANDBOOK._replace(project="")
    with pytest.raises(errors.InvalidArgument, match=r"without a project"):
        await index.search(nowhere, EAST, EVERYWHERE, USUAL)
    with pytest.raises(errors.InvalidArgument, match=r"without a project"):
        await index.write(nowhere, "model", [vector_item("a1", EAST)])
    assert fake.of("QueryBatch", "Scroll", "Upsert") == []


async def test_a_collection_that_was_deleted_under_us_is_empty_and_made_anew(
    fake: QdrantFake, index: QdrantIndex
) -> None:
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    fake.queued["QueryBatch"] = [grpc.StatusCode.NOT_FOUND]
    assert (await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)).chunks == ()
    await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)
    fake.queued["Upsert"] = [grpc.StatusCode.NOT_FOUND]
    new_collection(fake)
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    assert len(fake.of("Create")) == 1


# --- failures


FAILED = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidArgument,
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExists,
    grpc.StatusCode.UNAUTHENTICATED: errors.Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: errors.PermissionDenied,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.ResourceExhausted,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    grpc.StatusCode.UNAVAILABLE: errors.Unavailable,
    grpc.StatusCode.INTERNAL: errors.Unavailable,
    grpc.StatusCode.UNIMPLEMENTED: errors.InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: errors.Internal,
}


@pytest.mark.parametrize(("status", "kind"), FAILED.items(), ids=[status.name for status in FAILED])
async def test_a_status_becomes_one_of_our_classes_in_one_line_without_the_engines_words(
    fake: QdrantFake, index: QdrantIndex, status: grpc.StatusCode, kind: type[errors.RefdeskError]
) -> None:
    fake.queued["QueryBatch"] = [status] * 20
    with pytest.raises(errors.RefdeskError) as raised:
        await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)
    assert type(raised.value) is kind
    assert "words of the engine" not in raised.value.message
    assert "\n" not in raised.value.message
    assert raised.value.message.startswith(f"qdrant://{LOOPBACK}:")


@pytest.mark.parametrize("status", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED])
async def test_a_call_that_may_pass_later_is_tried_again(
    fake: QdrantFake, index: QdrantIndex, status: grpc.StatusCode
) -> None:
    fake.queued["Upsert"] = [status, status]
    await index.write(HANDBOOK, "model", [vector_item("a1", EAST)])
    assert len(fake.of("Upsert")) == 3


async def test_a_search_gives_up_within_its_budget_and_a_defect_at_once(fake: QdrantFake, index: QdrantIndex) -> None:
    fake.queued["QueryBatch"] = [grpc.StatusCode.INVALID_ARGUMENT]
    with pytest.raises(errors.InvalidArgument):
        await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)
    assert len(fake.of("QueryBatch")) == 1
    fake.queued["QueryBatch"] = [grpc.StatusCode.UNAVAILABLE] * 100
    began = time.monotonic()
    with pytest.raises(errors.Unavailable):
        await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)
    assert time.monotonic() - began < 3
    assert 2 <= len(fake.of("QueryBatch")) < 12


async def test_a_server_that_is_not_there_is_named_with_its_setting() -> None:
    index = QdrantIndex(SearchSettings(vector_url=f"qdrant://{LOOPBACK}:1"))
    with pytest.raises(errors.Unavailable, match=r"qdrant://127.0.0.1:1 cannot be reached.*search.vector_url"):
        await index.start()
    await index.close()


# --- keys and TLS


async def test_the_key_is_read_from_its_file_and_again_when_it_is_refused(
    fake: QdrantFake, settings: SearchSettings, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    file.write_text("first\n")
    fake.key = "first"
    index = QdrantIndex(settings.model_copy(update={"vector_api_key_file": str(file)}))
    await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)
    fake.key = "second"
    with pytest.raises(errors.Unauthenticated, match=r"search.vector_api_key_file"):
        await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)
    file.write_text("second\n")
    await asyncio.gather(*(index.search(HANDBOOK, EAST, EVERYWHERE, USUAL) for _ in range(5)))
    await index.close()


async def test_a_wrong_key_stops_the_start_and_names_the_setting(fake: QdrantFake, index: QdrantIndex) -> None:
    fake.key = "secret"
    with pytest.raises(errors.Unauthenticated, match=r"refuses the key; check search.vector_api_key_file"):
        await index.start()


@pytest.mark.parametrize("content", [None, "", "two\nlines"])
async def test_a_key_file_that_holds_no_key_is_named(
    settings: SearchSettings, tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "key").write_text(content)
    index = QdrantIndex(settings.model_copy(update={"vector_api_key_file": str(tmp_path / "key")}))
    with pytest.raises(errors.InvalidArgument, match=r"search.vector_api_key_file .*key"):
        await index.start()
    await index.close()


async def test_tls_is_checked_against_the_given_authority(tmp_path: Path) -> None:
    key, certificate = make_certificate()
    (tmp_path / "ca.pem").write_bytes(certificate)
    fake, listening = QdrantFake(), grpc.aio.server()
    listening.add_generic_rpc_handlers((fake,))
    port = listening.add_secure_port(f"{LOOPBACK}:0", grpc.ssl_server_credentials([(key, certificate)]))
    await listening.start()
    url = f"qdrant+tls://{LOOPBACK}:{port}"
    trusting = QdrantIndex(SearchSettings(vector_url=url, vector_ca_file=str(tmp_path / "ca.pem")))
    await trusting.start()
    await trusting.close()
    doubting = QdrantIndex(SearchSettings(vector_url=url))
    with pytest.raises(errors.Unavailable):
        await doubting.start()
    await doubting.close()
    await listening.stop(None)


def make_certificate() -> tuple[bytes, bytes]:
    """A key and a certificate for the loopback address that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "qdrant")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(LOOPBACK))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return private, certificate.public_bytes(encoding)


# --- the URL


WRONG = {
    "qdrant://": r"names no server",
    "qdrant://host:6334/path": r"names no server",
    "qdrant://host:high": r"holds no valid address",
    "qdrant://:secret@host:6334": r"search.vector_api_key_file",
    "qdrants://host": r"known: file:, qdrant:, qdrant\+tls:",
}


@pytest.mark.parametrize(("url", "line"), WRONG.items(), ids=WRONG)
def test_a_wrong_url_is_refused_and_never_repeats_a_secret(tmp_path: Path, url: str, line: str) -> None:
    with pytest.raises(errors.InvalidArgument, match=line) as refused:
        vector_index(SearchSettings(vector_url=url), tmp_path)
    assert "secret" not in refused.value.message


def test_an_authority_without_tls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.InvalidArgument, match=r"search.vector_ca_file is set.*qdrant\+tls:"):
        vector_index(SearchSettings(vector_url="qdrant://host", vector_ca_file="ca.pem"), tmp_path)


def test_the_table_opens_qdrant_by_both_schemes(tmp_path: Path) -> None:
    for url in ("qdrant://host", "qdrant+tls://host:7000"):
        opened = vector_index(SearchSettings(vector_url=url), tmp_path)
        assert isinstance(opened, Late)
        assert isinstance(opened.engine, QdrantIndex)


def test_grains_are_written_by_the_names_that_indexes_hold() -> None:
    assert [grain.name.lower() for grain in Grain] == ["chunk", "document"]
