"""The operator API's routes for access keys; a key's secret is answered once, when it is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.gateway.bodies import json_response, read_body
from refdesk.gateway.callers import SCOPES
from refdesk.keys import Key, make_key, rotate, secret_of
from refdesk.projects import SURFACES

DAY_SECONDS = 86_400
ATTEMPTS = 5
Change = Callable[[pb.AccessKey], pb.AccessKey]


class NewKey(BaseModel):
    """What a key shall be."""

    model_config = ConfigDict(extra="forbid")

    scope: Literal["read", "publish", "admin"] = "read"
    project: str = ""
    name: Annotated[str, Field(max_length=100)] = ""
    surfaces: tuple[str, ...] = ()
    calls_per_minute: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    expires_days: Annotated[int, Field(ge=0, le=36_500)] = 0


class Overlap(BaseModel):
    """How long the old secret of a rotated key still opens it."""

    model_config = ConfigDict(extra="forbid")

    overlap_seconds: Annotated[int, Field(ge=0, le=90 * DAY_SECONDS)] = DAY_SECONDS


def key_routes(docstore: Docstore, prefix: str) -> list[Route]:
    """create, list, rotate, revoke."""

    async def list_keys(_: Request) -> Response:
        found = await docstore.list_keys(pb.ListKeysRequest())
        return json_response({"keys": [describe(key) for key in found.keys]})

    async def create_key(request: Request) -> Response:
        wanted = read_body(NewKey, await request.body() or b"{}")
        await _check(docstore, wanted)
        key = make_key()
        known = await docstore.put_key(pb.PutKeyRequest(key=_record(wanted, key)))
        return json_response({**describe(known.key), "key": str(key)}, 201)

    async def rotate_key(request: Request) -> Response:
        overlap = read_body(Overlap, await request.body() or b"{}").overlap_seconds
        key = make_key(request.path_params["key_id"])
        known = await _change(docstore, key.key_id, lambda was: rotate(was, key, _now(), overlap * 1000))
        return json_response({**describe(known), "key": str(key)})

    async def revoke_key(request: Request) -> Response:
        return json_response(describe(await _change(docstore, request.path_params["key_id"], _revoked)))

    return [
        Route(f"{prefix}/keys", list_keys),
        Route(f"{prefix}/keys", create_key, methods=["POST"]),
        Route(f"{prefix}/keys/{{key_id}}/rotate", rotate_key, methods=["POST"]),
        Route(f"{prefix}/keys/{{key_id}}/revoke", revoke_key, methods=["POST"]),
    ]


def describe(key: pb.AccessKey) -> dict[str, Any]:
    """A key for people, without anything of its secrets."""
    return {
        "key_id": key.key_id,
        "scope": SCOPES[key.scope],
        "project": key.project,
        "name": key.name,
        "surfaces": list(key.surfaces),
        "calls_per_minute": key.calls_per_minute,
        "secrets": len(key.secrets),
        "created_at_milliseconds": key.created_at_milliseconds,
        "expires_at_milliseconds": key.expires_at_milliseconds,
        "revoked_at_milliseconds": key.revoked_at_milliseconds,
    }


def _record(wanted: NewKey, key: Key) -> pb.AccessKey:
    now = _now()
    return pb.AccessKey(
        key_id=key.key_id,
        project=wanted.project,
        name=wanted.name,
        scope=next(scope for scope, name in SCOPES.items() if name == wanted.scope),
        surfaces=wanted.surfaces,
        secrets=[secret_of(key)],
        calls_per_minute=wanted.calls_per_minute,
        created_at_milliseconds=now,
        expires_at_milliseconds=now + wanted.expires_days * DAY_SECONDS * 1000 if wanted.expires_days else 0,
    )


async def _check(docstore: Docstore, wanted: NewKey) -> None:
    """Raises: InvalidArgument for what would be a key to nothing, or to more than was meant."""
    if wanted.scope == "admin":
        if wanted.project or wanted.surfaces:
            raise errors.InvalidArgument("a key of scope admin is for every project: leave project and surfaces out")
        return
    projects = [project.slug for project in (await docstore.list_projects(pb.ListProjectsRequest())).projects]
    if wanted.project not in projects:
        named = f"project {wanted.project[:63]} does not exist" if wanted.project else "a key needs a project"
        raise errors.InvalidArgument(f"{named}; there are: {', '.join(projects) or 'none yet'}")
    for surface in wanted.surfaces:
        if surface not in SURFACES:
            raise errors.InvalidArgument(f"there is no surface {surface[:63]}; valid: {', '.join(SURFACES)}")
    if wanted.surfaces and wanted.scope != "read":
        raise errors.InvalidArgument("surfaces are for keys of scope read")


async def _change(docstore: Docstore, key_id: str, change: Change) -> pb.AccessKey:
    """Puts a key as it shall be, again where somebody else changed it meanwhile. Raises: NotFound; Unavailable."""
    for _ in range(ATTEMPTS):
        [item] = (await docstore.get_keys(pb.GetKeysRequest(key_ids=[key_id]))).items
        if not item.HasField("key"):
            raise errors.NotFound(f"there is no key {key_id[:40]}; refdesk key list names those that there are")
        try:
            put = pb.PutKeyRequest(key=change(item.key), expected_revision=item.key.revision)
            return (await docstore.put_key(put)).key
        except errors.AlreadyExists:
            continue
    raise errors.Unavailable("somebody else changes this key all the time; try again")


def _revoked(key: pb.AccessKey) -> pb.AccessKey:
    revoked = pb.AccessKey()
    revoked.CopyFrom(key)
    revoked.revoked_at_milliseconds = key.revoked_at_milliseconds or _now()
    return revoked


def _now() -> int:
    return time.time_ns() // 1_000_000
