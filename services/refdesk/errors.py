"""The nine error classes that every service speaks; knows nothing of gRPC, HTTP or MCP, which map them."""

from __future__ import annotations

from typing import ClassVar


class RefdeskError(Exception):
    """What failed and what to try, in one line for people; `reason` is UPPER_SNAKE for programs.

    Messages are lowercase, name the thing, end without a full stop and never repeat an engine's own words.
    """

    reason: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_seconds = retry_after_seconds


class InvalidArgument(RefdeskError):
    """The request itself is wrong: repeating it cannot help."""

    reason = "INVALID_ARGUMENT"


class NotFound(RefdeskError):
    """The named thing does not exist, or the caller may not know that it does."""

    reason = "NOT_FOUND"


class AlreadyExists(RefdeskError):
    """The thing exists already, or has another revision than the caller expected."""

    reason = "ALREADY_EXISTS"


class Unauthenticated(RefdeskError):
    """Nobody knows who is calling."""

    reason = "UNAUTHENTICATED"


class PermissionDenied(RefdeskError):
    """The caller is known and may not do this."""

    reason = "PERMISSION_DENIED"


class ResourceExhausted(RefdeskError):
    """A limit is reached: the same request may pass later."""

    reason = "RESOURCE_EXHAUSTED"


class DeadlineExceeded(RefdeskError):
    """Time ran out before there was an answer."""

    reason = "DEADLINE_EXCEEDED"


class Unavailable(RefdeskError):
    """Something that is needed cannot be reached now: the same request may pass later."""

    reason = "UNAVAILABLE"


class Internal(RefdeskError):
    """A defect of ours; details stand in the log."""

    reason = "INTERNAL"


CLASSES: tuple[type[RefdeskError], ...] = (
    InvalidArgument,
    NotFound,
    AlreadyExists,
    Unauthenticated,
    PermissionDenied,
    ResourceExhausted,
    DeadlineExceeded,
    Unavailable,
    Internal,
)
