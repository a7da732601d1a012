"""What the sender of change events is told of each, and of a batch as a whole; pure, knows nothing of how events are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.failures import explain, may_pass_later, retry_seconds, status_code

ACCEPTED, DONE, BAD_REQUEST, NOT_FOUND, CONFLICT, TOO_LARGE, UNAVAILABLE = 202, 200, 400, 404, 409, 413, 503
OUTCOMES: Mapping[int, tuple[int, str]] = {
    docstore_api.RAW_OUTCOME_STORED: (ACCEPTED, "stored"),
    docstore_api.RAW_OUTCOME_UNCHANGED: (DONE, "unchanged"),
    docstore_api.RAW_OUTCOME_OLDER: (DONE, "older"),
    docstore_api.RAW_OUTCOME_CONFLICT: (CONFLICT, "refused"),
    docstore_api.RAW_OUTCOME_UNKNOWN_SOURCE: (NOT_FOUND, "refused"),
    docstore_api.RAW_OUTCOME_INVALID: (BAD_REQUEST, "refused"),
}
TITLES: Mapping[int, str] = {
    BAD_REQUEST: "INVALID_ARGUMENT",
    NOT_FOUND: "NOT_FOUND",
    CONFLICT: "ALREADY_EXISTS",
    TOO_LARGE: "TOO_LARGE",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one event. `retry_after_seconds` is 0 where sending it again cannot help."""

    status: int
    outcome: str
    detail: str = ""
    title: str = ""
    retry_after_seconds: int = 0
    missing_paths: tuple[str, ...] = ()
    missing_count: int = 0

    @property
    def is_good(self) -> bool:
        """Whether the sender is done with it."""
        return self.status < BAD_REQUEST

    def as_item(self, event_id: str) -> dict[str, Any]:
        """Its line in the body."""
        item: dict[str, Any] = {"id": event_id, "status": self.status, "outcome": self.outcome}
        if self.detail:
            item["detail"] = self.detail
        if self.missing_count:
            item |= {"missing": list(self.missing_paths), "missing_count": self.missing_count}
        return item


def of_outcome(outcome: docstore_api.PutRawDocumentsOutcome) -> Answer:
    """The answer that docstore's outcome is."""
    status, word = OUTCOMES[outcome.outcome]
    return Answer(
        status,
        word,
        outcome.reason,
        TITLES.get(status, ""),
        missing_paths=tuple(outcome.missing_paths),
        missing_count=outcome.missing_count,
    )


def of_error(error: errors.RefdeskError) -> Answer:
    """The answer where something failed, or the event itself is wrong."""
    again = may_pass_later(error)
    return Answer(
        status_code(error),
        "failed" if again or isinstance(error, errors.Internal) else "refused",
        explain(error),
        error.reason,
        retry_seconds(error) if again else 0,
    )


def too_large(what: str, most_bytes: int, setting: str) -> Answer:
    """The answer to what is larger than it may be."""
    detail = f"{what} is larger than {most_bytes:,} bytes: split it, or raise {setting}"
    return Answer(TOO_LARGE, "refused", detail, TITLES[TOO_LARGE])


def overall(answers: Sequence[Answer]) -> Answer:
    """What the status line of a batch says: good only if all is, else what would have to be done about it.

    A sender that looks at nothing else then never takes a refused event for a kept one: whatever may pass later makes it 503, so that
    all of it is sent again (what is kept by then is answered as unchanged); else the status that the bad ones share, or 400.
    """
    bad = [answer for answer in answers if not answer.is_good]
    if not bad:
        return Answer(DONE, "done")
    waits = [answer.retry_after_seconds for answer in bad if answer.retry_after_seconds]
    if waits:
        return Answer(UNAVAILABLE, "failed", retry_after_seconds=max(waits))
    statuses = {answer.status for answer in bad}
    return Answer(statuses.pop() if len(statuses) == 1 else BAD_REQUEST, "refused")


def batch_body(event_ids: Sequence[str], answers: Sequence[Answer]) -> bytes:
    """The body that answers a batch: a line for each event, in order."""
    items = [answer.as_item(event_id) for event_id, answer in zip(event_ids, answers, strict=True)]
    return (json.dumps({"events": items}) + "\n").encode()


def problem(answer: Answer) -> bytes:
    """One bad answer as problem+json (RFC 9457)."""
    body = {"type": "about:blank", "title": answer.title, "status": answer.status, "detail": answer.detail}
    return json.dumps(body).encode()
