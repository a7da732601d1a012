"""A gRPC server that answers Qdrant's calls as it is told and remembers each: what is sent is looked at, nothing is searched or kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import grpc
from google.protobuf.message import Message
from qdrant_client import grpc as wire

LOOPBACK = "127.0.0.1"
DIMENSION = 3
DONE = wire.PointsOperationResponse(result=wire.UpdateResult(operation_id=1, status=wire.UpdateStatus.Completed))
REQUESTS: dict[str, type[Message]] = {
    "HealthCheck": wire.HealthCheckRequest,
    "List": wire.ListCollectionsRequest,
    "Get": wire.GetCollectionInfoRequest,
    "CollectionExists": wire.CollectionExistsRequest,
    "Create": wire.CreateCollection,
    "CreateFieldIndex": wire.CreateFieldIndexCollection,
    "Upsert": wire.UpsertPoints,
    "Delete": wire.DeletePoints,
    "Scroll": wire.ScrollPoints,
    "QueryBatch": wire.QueryBatchPoints,
    "Points.Get": wire.GetPoints,
}
"""By method; both Get, of collections and of points, are called so."""


class Call(NamedTuple):
    """One call as it came."""

    method: str
    request: Any
    metadata: dict[str, str]


class QdrantFake(grpc.GenericRpcHandler):
    """Answers a finished, empty collection of `model` unless told otherwise; what is queued for a method comes first, once each."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.answers: dict[str, Message] = {
            "HealthCheck": wire.HealthCheckReply(title="qdrant", version="1.18.3"),
            "List": wire.ListCollectionsResponse(),
            "Get": info(),
            "CollectionExists": exists(True),
            "Create": wire.CollectionOperationResponse(result=True),
            "CreateFieldIndex": DONE,
            "Upsert": DONE,
            "Delete": DONE,
            "Scroll": wire.ScrollResponse(),
            "QueryBatch": wire.QueryBatchResponse(result=[wire.BatchResult(), wire.BatchResult()]),
            "Points.Get": wire.GetResponse(result=[label()]),
        }
        self.queued: defaultdict[str, list[Message | grpc.StatusCode]] = defaultdict(list)
        self.key = ""

    def of(self, *methods: str) -> list[Any]:
        """Requests of these methods, in order."""
        return [call.request for call in self.calls if call.method in methods]

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
        """The handler of a call."""
        _, service, name = handler_call_details.method.split("/")
        method = f"Points.{name}" if service == "qdrant.Points" and name == "Get" else name

        async def answer(request: Message, context: grpc.aio.ServicerContext[Any, Any]) -> Message:
            metadata = {key: str(value) for key, value in context.invocation_metadata() or ()}
            self.calls.append(Call(method, request, metadata))
            if self.key and metadata.get("api-key") != self.key:
                await context.abort(
                    grpc.StatusCode.UNAUTHENTICATED, "Must provide an API key or an Authorization token"
                )
            planned = self.queued[method].pop(0) if self.queued[method] else self.answers[method]
            if isinstance(planned, grpc.StatusCode):
                await context.abort(planned, "words of the engine")
            assert isinstance(planned, Message)
            return planned

        return grpc.unary_unary_rpc_method_handler(
            answer,
            request_deserializer=REQUESTS[method].FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )


def exists(answer: bool) -> wire.CollectionExistsResponse:
    """Whether a collection is there."""
    return wire.CollectionExistsResponse(result=wire.CollectionExists(exists=answer))


def info(
    dimension: int = DIMENSION,
    distance: wire.Distance = wire.Distance.Cosine,
    points_count: int = 1,
    without: Iterable[str] = (),
    **odd: wire.PayloadSchemaType,
) -> wire.GetCollectionInfoResponse:
    """A collection with the payload indexes of this release, some left out and some of an odd type."""
    keywords = ("project", "document", "grain", "source", "folders", "version", "kind", "text_hash")
    types = dict.fromkeys(keywords, wire.PayloadSchemaType.Keyword)
    types |= dict.fromkeys(("stamp", "document_order"), wire.PayloadSchemaType.Integer)
    schema = {
        field: wire.PayloadSchemaInfo(data_type=kind)
        for field, kind in (types | odd).items()
        if field not in set(without)
    }
    vectors = wire.VectorsConfig(params=wire.VectorParams(size=dimension, distance=distance))
    config = wire.CollectionConfig(
        params=wire.CollectionParams(vectors_config=vectors, shard_number=1),
        hnsw_config=wire.HnswConfigDiff(m=0, payload_m=16, ef_construct=100, full_scan_threshold=10_000),
        optimizer_config=wire.OptimizersConfigDiff(
            deleted_threshold=0.2, vacuum_min_vector_number=1000, default_segment_number=0, flush_interval_sec=5
        ),
        wal_config=wire.WalConfigDiff(wal_capacity_mb=32, wal_segments_ahead=0),
    )
    return wire.GetCollectionInfoResponse(
        result=wire.CollectionInfo(
            status=wire.CollectionStatus.Green,
            optimizer_status=wire.OptimizerStatus(ok=True),
            config=config,
            payload_schema=schema,
            points_count=points_count,
        )
    )


def label(model_id: str = "model", min_reader: int = 1) -> wire.RetrievedPoint:
    """The label of a finished collection."""
    payload = {
        "project": wire.Value(string_value="@label"),
        "schema": wire.Value(integer_value=min_reader),
        "min_reader": wire.Value(integer_value=min_reader),
        "model_id": wire.Value(string_value=model_id),
    }
    return wire.RetrievedPoint(id=wire.PointId(uuid="00000000-0000-5000-8000-000000000000"), payload=payload)


def record(id: str, **payload: str | int) -> wire.RetrievedPoint:
    """A point that a scroll finds."""
    values = {
        key: wire.Value(integer_value=value) if isinstance(value, int) else wire.Value(string_value=value)
        for key, value in payload.items()
    }
    return wire.RetrievedPoint(id=wire.PointId(uuid=id), payload=values)
