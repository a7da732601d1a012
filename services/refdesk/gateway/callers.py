"""Finds out whose key came with a request and whether it is good for what is asked; knows nothing of MCP or of documents.

What docstore says of a key is believed for a second, so a key that is revoked is refused everywhere within two. A key that cannot be
looked up is not a wrong key: its owner is told to come again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.gateway.catalog import Memory
from refdesk.gateway.metrics import DENIED
from refdesk.gateway.rates import Rates
from refdesk.gateway.settings import GatewaySettings
from refdesk.keys import Key, opens, read_key
from refdesk.rpc import deadline

BELIEVED_SECONDS = 1.0
LOOKED_UP_SECONDS = 2.0
SIDE_BY_SIDE = 8
"""Keys that are looked up at once: whoever sends made-up ones must not keep docstore busy."""
SCOPES = {pb.KEY_SCOPE_READ: "read", pb.KEY_SCOPE_PUBLISH: "publish", pb.KEY_SCOPE_ADMIN: "admin"}
HOW = "send one as the header Authorization: Bearer <key> (an operator makes it: refdesk key create)"


class Callers:
    """Reads Authorization headers. `required` False: who brings no key is let through as nobody."""

    def __init__(
        self,
        docstore: Docstore,
        settings: GatewaySettings,
        *,
        now: Callable[[], float] = time.time,
        rates: Rates | None = None,
        denied: Callable[[str, str, str], None] = lambda reason, project, key_id: None,
    ) -> None:
        self._docstore = docstore
        self._required = settings.requires_keys
        self._now = now
        self._tell = denied
        self._rates = rates or Rates(settings.calls_per_minute)
        self._known: Memory[pb.AccessKey | None] = Memory(BELIEVED_SECONDS)
        self._looking = asyncio.Semaphore(SIDE_BY_SIDE)

    async def identify(self, authorization: str, scope: pb.KeyScope) -> pb.AccessKey | None:
        """What is known of the caller's key; None where no key came and none is needed.

        Raises: Unauthenticated for no key, or one that is not good now; PermissionDenied for one that is good for something else;
        ResourceExhausted when it called too often; Unavailable when it cannot be looked up.
        """
        if not authorization:
            if self._required:
                raise self._denied("missing", None, errors.Unauthenticated(f"a key is needed here: {HOW}"))
            return None
        scheme, _, text = authorization.partition(" ")
        key = read_key(text.strip()) if scheme.lower() == "bearer" else None
        known = await self._look_up(key) if key else None
        if key is None or known is None or not opens(key, known, round(self._now() * 1000)):
            wrong = errors.Unauthenticated(f"this key is not known, or is good no more: {HOW}")
            raise self._denied("unknown", pb.AccessKey(key_id=key.key_id) if key else None, wrong)
        if known.scope != scope:
            wanted, has = SCOPES[scope], SCOPES[known.scope]
            raise self._denied("scope", known, errors.PermissionDenied(f"this key is for {has}; use one for {wanted}"))
        try:
            self._rates.take(known.key_id, known.calls_per_minute)
        except errors.ResourceExhausted as error:
            raise self._denied("rate", known, error) from None
        return known

    async def allow(self, authorization: str, scope: pb.KeyScope, project: str) -> pb.AccessKey | None:
        """As `identify`, for one project. Raises: NotFound besides, in the words for a project that does not exist."""
        known = await self.identify(authorization, scope)
        if known is not None and known.project != project:
            raise self._denied("scope", known, errors.NotFound(f"project {project[:63]} does not exist"))
        return known

    async def _look_up(self, key: Key) -> pb.AccessKey | None:
        async def read() -> pb.AccessKey | None:
            async with self._looking:
                with deadline.limit(LOOKED_UP_SECONDS):
                    answer = await self._docstore.get_keys(pb.GetKeysRequest(key_ids=[key.key_id]))
            return answer.items[0].key if answer.items[0].HasField("key") else None

        try:
            return await self._known.get(key.key_id, read)
        except (errors.Unavailable, errors.DeadlineExceeded, errors.ResourceExhausted):
            raise self._denied("unchecked", None, errors.Unavailable("the key cannot be checked now")) from None

    def _denied(self, reason: str, key: pb.AccessKey | None, error: errors.RefdeskError) -> errors.RefdeskError:
        """Counts and notes it, under the project of the key where the key proved itself."""
        DENIED.labels(reason).inc()
        self._tell(reason, key.project if key else "", key.key_id if key else "")
        return error
