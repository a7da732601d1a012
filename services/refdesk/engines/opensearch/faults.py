"""Words what OpenSearch or the way to it did wrong as our errors; knows nothing of what was asked."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
import structlog
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import ConnectionTimeout, OpenSearchException, TransportError

from refdesk.engines.opensearch.address import Address, Names
from refdesk.errors import InvalidArgument, RefdeskError, Unavailable

_log = structlog.get_logger()

BLOCKED = "cluster_block_exception"
MISSING = "index_not_found_exception"
NO_ROOM = frozenset({429, 503})
"""Not done, for want of room or of a shard: the same may be done in a moment."""
_CLOSED = "index_closed_exception"
TOO_LARGE = "too_large"
"""Kind of what is refused with 413, which has no name of its own."""


class WriteBlocked(Unavailable):
    """OpenSearch takes no writes, as a rule because a disk is full: nobody's document is at fault, and trying again at once is no use."""


class Busy(Unavailable):
    """OpenSearch refused for want of room or of a shard; nothing was done."""


class IndexMissing(Unavailable):
    """An index is not there or closed, and so nobody knows what stood in it: that is not the same as empty."""


class Refused(InvalidArgument):
    """OpenSearch understood and cannot take it: a defect of the one document, or of ours."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind
        """As OpenSearch calls it, such as mapper_parsing_exception; or TOO_LARGE."""


class Faults:
    """Translates for one cluster, in the words of whose settings name it."""

    def __init__(self, address: Address, names: Names, user: str) -> None:
        self._address = address
        self._names = names
        self._user = user

    def translate(self, error: OpenSearchException, *, starting: bool) -> RefdeskError:
        """What to raise for a request that failed; `starting`: what only an operator can mend is InvalidArgument."""
        lasting = InvalidArgument if starting else Unavailable
        if isinstance(error, ConnectionTimeout):
            return Unavailable(f"OpenSearch at {self._address} did not answer in time")
        if isinstance(error, NoConnection):
            return self._translate_connection(error.info, lasting)
        if not isinstance(error, TransportError):
            return self.no_opensearch(200, starting=starting)
        status = error.status_code if isinstance(error.status_code, int) else 0
        return self.translate_status(status, _cause(error.info), lasting)

    def translate_status(
        self, status: int, cause: Mapping[str, Any], lasting: type[RefdeskError] = Unavailable
    ) -> RefdeskError:
        """What to raise for an answer with a status of 400 or more, to a request or to one item of a bulk request."""
        kind = str(cause.get("type", ""))
        if kind == BLOCKED:
            return self._translate_block(status)
        if kind in (MISSING, _CLOSED):
            index = cause.get("index", "of ours")
            return IndexMissing(
                f"index {index} at {self._address} is missing or closed: restore or open it, or start again to make it anew"
            )
        if status in (401, 403):
            who = f"user {self._user!r}" if self._user else "a caller without a name"
            return lasting(
                f"OpenSearch at {self._address} refuses {who}; check {self._names.group}.user and "
                f"{self._names.group}.password_file, and what that user may do"
            )
        if status == 503 and not kind:  # a proxy's, which may have passed the request on before
            return Unavailable(f"OpenSearch at {self._address} is not there for its proxy")
        if status in NO_ROOM:
            return Busy(f"OpenSearch at {self._address} has no room for more at the moment", retry_after_seconds=1)
        # A reason may repeat a document's text, so the log has the kind alone.
        _log.warning("opensearch_refused", status=status, kind=kind)
        if not kind and status != 413:
            return self.no_opensearch(status, starting=lasting is InvalidArgument)
        if status == 413:
            return Refused(f"OpenSearch at {self._address} takes no request of this size", TOO_LARGE)
        if 400 <= status < 500:
            return Refused(f"OpenSearch at {self._address} cannot take this ({kind})", kind)
        return Unavailable(f"OpenSearch at {self._address} failed ({kind}); its log says why")

    def no_opensearch(self, status: int, *, starting: bool) -> RefdeskError:
        """What to raise for an answer that OpenSearch never gives: a proxy's own, or another service's."""
        kind = InvalidArgument if starting else Unavailable
        return kind(f"what answers at {self._address} with {status} is no OpenSearch; check {self._names.url}")

    def _translate_block(self, status: int) -> RefdeskError:
        if status == 503:  # no manager elected, or its state not read yet
            return Busy(f"OpenSearch at {self._address} is still starting", retry_after_seconds=1)
        return WriteBlocked(
            f"OpenSearch at {self._address} blocks writes: its disk is full, or somebody set a block; free some disk, or lift "
            "the block",
            retry_after_seconds=5,
        )

    def _translate_connection(self, cause: object, lasting: type[RefdeskError]) -> RefdeskError:
        if isinstance(cause, aiohttp.ClientSSLError | ssl.SSLError):
            return lasting(
                f"TLS with OpenSearch at {self._address} failed; check {self._names.url} and {self._names.group}.ca_file"
            )
        if isinstance(cause, aiohttp.ServerDisconnectedError | aiohttp.ClientResponseError):
            return Unavailable(
                f"OpenSearch at {self._address} hung up; where it wants TLS, write opensearch+tls:// in {self._names.url}"
            )
        return Unavailable(f"OpenSearch at {self._address} cannot be reached")


def never_sent(error: OpenSearchException) -> bool:
    """Whether the request that failed certainly did nothing: no connection was made."""
    return isinstance(error, NoConnection) and isinstance(error.info, aiohttp.ClientConnectorError)


def _cause(info: object) -> Mapping[str, Any]:
    found = info.get("error") if isinstance(info, Mapping) else None
    return found if isinstance(found, Mapping) else {}
