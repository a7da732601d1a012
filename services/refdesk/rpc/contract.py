"""The four contracts between services as data: names, methods and message classes, read off the generated descriptors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import ServiceDescriptor

from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.embedder.v1 import embedder_pb2
from refdesk.api.ingest.v1 import ingest_pb2
from refdesk.api.search.v1 import search_pb2


@dataclass(frozen=True)
class Method:
    """One RPC: its Python name, its path on the wire, and its two message classes."""

    name: str
    path: str
    request: type[Any]
    response: type[Any]


@dataclass(frozen=True)
class Contract:
    """One service's contract."""

    component: str
    full_name: str
    methods: tuple[Method, ...]


def read_contract(component: str, service: ServiceDescriptor) -> Contract:
    """Reads a contract off a generated service descriptor."""
    methods = tuple(
        Method(
            name=re.sub(r"(?<!^)(?=[A-Z])", "_", method.name).lower(),
            path=f"/{service.full_name}/{method.name}",
            request=message_factory.GetMessageClass(method.input_type),
            response=message_factory.GetMessageClass(method.output_type),
        )
        for method in service.methods
    )
    return Contract(component, service.full_name, methods)


CONTRACTS: Mapping[str, Contract] = {
    component: read_contract(component, module.DESCRIPTOR.services_by_name[name])
    for component, module, name in (
        ("embedder", embedder_pb2, "EmbedderService"),
        ("search", search_pb2, "SearchService"),
        ("docstore", docstore_pb2, "DocstoreService"),
        ("ingest", ingest_pb2, "IngestService"),
    )
}
