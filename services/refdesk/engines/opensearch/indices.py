"""Makes an index once, behind an alias, and refuses one that is not as this release needs it; knows nothing of documents.

An index is reached by its alias only, and writes require one: so OpenSearch never makes an index of its own accord for a write
that came after somebody had deleted ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.faults import IndexMissing, Refused
from refdesk.errors import InvalidArgument, Unavailable

MARK = "refdesk"
"""Key of the mapping's `_meta` under which an index says what wrote it."""
_EXISTS = "resource_already_exists_exception"
_WAIT = "10s"
_VERSION = re.compile(r"-v\d+$")


@dataclass(frozen=True)
class Index:
    """What an index holds and how; `properties` and `settings` as OpenSearch takes them."""

    what: str
    """Names it, such as records: a-z, 0-9 and . _ - ."""
    properties: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    """Counts the changes to `properties`."""
    min_reader: int = 1
    """The oldest version whose release can read what this one writes; the index has another name for each."""
    keeps_source: bool = True
    """False: documents cannot be read back, only what their fields are indexed by."""

    def alias(self, client: OpenSearchClient) -> str:
        """By which it is read and written."""
        return f"{client.settings.index_prefix}-{self.what}"

    def name(self, client: OpenSearchClient) -> str:
        """Its own name, for operators."""
        return f"{self.alias(client)}-v{self.min_reader}"


async def ensure_index(client: OpenSearchClient, index: Index) -> None:
    """Makes it where it is not there; adds what a newer version of `properties` has. Nothing in an index that is refused is changed.

    Raises: InvalidArgument for one that is not ours, made only in part, or written for another release; Unavailable.
    """
    found = await _find(client, index)
    if found is None and not await _make(client, index):
        found = await _find(client, index)  # another process made it meanwhile
        if found is None:
            raise _unfinished(client, index, index.name(client))
    if found is not None:
        await _check(client, index, found)


async def find_index(client: OpenSearchClient, index: Index) -> bool:
    """Whether it is there, also where it is closed. Raises: as `ensure_index`."""
    found = await _find(client, index)
    if found is None:
        return False
    await _check(client, index, found)
    return True


async def check_indices(client: OpenSearchClient, index: Index) -> None:
    """Checks all that there are whose `what` begins with this one's and a dot. Raises: as `ensure_index`, of the first that is refused."""
    first = f"{index.alias(client)}."
    found: Mapping[str, Any] = await client.read("GET", f"/{first}*", params={"expand_wildcards": "all"}, starting=True)
    for name, description in sorted(found.items()):
        one = replace(index, what=_VERSION.sub("", name).removeprefix(f"{client.settings.index_prefix}-"))
        if one.alias(client) not in description.get("aliases", {}):
            raise _unfinished(client, one, name)
        await _check(client, one, {name: description})


async def drop_index(client: OpenSearchClient, index: Index) -> bool:
    """Deletes it with all that it holds; False where it was not there. Raises: Unavailable."""
    try:
        await client.write("DELETE", f"/{index.name(client)}")
    except IndexMissing:
        return False
    return True


async def _find(client: OpenSearchClient, index: Index) -> Mapping[str, Any] | None:
    try:
        found: Mapping[str, Any] = await client.read("GET", f"/{index.alias(client)}", starting=True)
    except IndexMissing:
        return None
    return found


async def _make(client: OpenSearchClient, index: Index) -> bool:
    """Whether it was made here: index, alias and mapping in one step, whole or not at all."""
    replica_count = client.settings.replica_count
    replicas = {"auto_expand_replicas": "0-1"} if replica_count is None else {"number_of_replicas": replica_count}
    body = {
        "aliases": {index.alias(client): {}},
        "mappings": _mapping(index),
        "settings": {
            "number_of_shards": client.settings.shard_count,
            **replicas,
            "refresh_interval": "1s",  # set, or an index that was idle would make its next search wait
            "translog.durability": "request",  # on the disk before it is acknowledged
            "replication.type": "DOCUMENT",  # a refresh reaches the copies too
            **index.settings,
        },
    }
    try:
        answer = await client.write("PUT", f"/{index.name(client)}", body, {"timeout": _WAIT}, starting=True)
    except Refused as error:
        if error.kind == _EXISTS:
            return False
        raise
    if not (answer.get("acknowledged") and answer.get("shards_acknowledged")):
        raise Unavailable(f"index {index.name(client)} is being made; it is not ready yet")
    return True


def _mapping(index: Index) -> dict[str, Any]:
    written = {"version": index.version, "min_reader": index.min_reader}
    source = {} if index.keeps_source else {"_source": {"enabled": False}}
    return {"dynamic": "strict", "_meta": {MARK: written}, **source, "properties": index.properties}


async def _check(client: OpenSearchClient, index: Index, found: Mapping[str, Any]) -> None:
    [(name, description), *others] = found.items()
    if others:
        raise InvalidArgument(
            f"alias {index.alias(client)} names {len(found)} indices; leave {index.name(client)} alone in it, or set "
            f"{client.names.group}.index_prefix to another one"
        )
    mapping = description.get("mappings", {})
    written = mapping.get("_meta", {}).get(MARK)
    if not isinstance(written, Mapping) or name == index.alias(client):
        raise _unfinished(client, index, name)
    version, min_reader = int(written.get("version", 0)), int(written.get("min_reader", 0))
    if min_reader > index.version or min_reader < index.min_reader:
        age = "a newer" if min_reader > index.version else "an older"
        raise InvalidArgument(
            f"index {name} was written by {age} release (schema {version}, readable from schema {min_reader}, this release has "
            f"{index.version}); start that release, or set {client.names.group}.index_prefix to another one"
        )
    if version < index.version:
        await client.write("PUT", f"/{name}/_mapping", _mapping(index), {"timeout": _WAIT}, starting=True)
    elif not _holds(mapping.get("properties", {}), index.properties):
        raise _unfinished(client, index, name)


def _holds(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether every field of ours is there with its type; later releases may have added others."""
    return all(
        name in found
        and found[name].get("type", "object") == field.get("type", "object")
        and _holds(found[name].get("properties", {}), field.get("properties", {}))
        for name, field in wanted.items()
    )


def _unfinished(client: OpenSearchClient, index: Index, name: str) -> InvalidArgument:
    return InvalidArgument(
        f"index {name} was not made by refdesk, or only in part, and is left as it is; set {client.names.group}.index_prefix to "
        f"another one than {client.settings.index_prefix!r}, or delete that index and start again"
    )
