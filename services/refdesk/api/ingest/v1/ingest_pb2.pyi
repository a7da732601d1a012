from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SourceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_STATE_UNSPECIFIED: _ClassVar[SourceState]
    SOURCE_STATE_WAITING: _ClassVar[SourceState]
    SOURCE_STATE_SCANNING: _ClassVar[SourceState]
    SOURCE_STATE_FOLLOWED: _ClassVar[SourceState]
    SOURCE_STATE_HELD: _ClassVar[SourceState]
    SOURCE_STATE_FAILED: _ClassVar[SourceState]
SOURCE_STATE_UNSPECIFIED: SourceState
SOURCE_STATE_WAITING: SourceState
SOURCE_STATE_SCANNING: SourceState
SOURCE_STATE_FOLLOWED: SourceState
SOURCE_STATE_HELD: SourceState
SOURCE_STATE_FAILED: SourceState

class GetStatusRequest(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: str
    def __init__(self, project: _Optional[str] = ...) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("sources", "pending_events", "words_current", "published_count")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    PENDING_EVENTS_FIELD_NUMBER: _ClassVar[int]
    WORDS_CURRENT_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_COUNT_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedCompositeFieldContainer[SourceStatus]
    pending_events: int
    words_current: bool
    published_count: int
    def __init__(self, sources: _Optional[_Iterable[_Union[SourceStatus, _Mapping]]] = ..., pending_events: _Optional[int] = ..., words_current: _Optional[bool] = ..., published_count: _Optional[int] = ...) -> None: ...

class SourceStatus(_message.Message):
    __slots__ = ("name", "kind", "state", "listed_count", "message", "held_deletes", "scanned_at_milliseconds")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    LISTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HELD_DELETES_FIELD_NUMBER: _ClassVar[int]
    SCANNED_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    state: SourceState
    listed_count: int
    message: str
    held_deletes: int
    scanned_at_milliseconds: int
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., state: _Optional[_Union[SourceState, str]] = ..., listed_count: _Optional[int] = ..., message: _Optional[str] = ..., held_deletes: _Optional[int] = ..., scanned_at_milliseconds: _Optional[int] = ...) -> None: ...

class SyncSourceRequest(_message.Message):
    __slots__ = ("project", "source", "confirm_deletes")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONFIRM_DELETES_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    confirm_deletes: bool
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., confirm_deletes: _Optional[bool] = ...) -> None: ...

class SyncSourceResponse(_message.Message):
    __slots__ = ("changed_count", "deleted_count", "moved_count", "held_deletes")
    CHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    DELETED_COUNT_FIELD_NUMBER: _ClassVar[int]
    MOVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    HELD_DELETES_FIELD_NUMBER: _ClassVar[int]
    changed_count: int
    deleted_count: int
    moved_count: int
    held_deletes: int
    def __init__(self, changed_count: _Optional[int] = ..., deleted_count: _Optional[int] = ..., moved_count: _Optional[int] = ..., held_deletes: _Optional[int] = ...) -> None: ...

class HintDocumentsRequest(_message.Message):
    __slots__ = ("project", "source", "paths")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., paths: _Optional[_Iterable[str]] = ...) -> None: ...

class HintDocumentsResponse(_message.Message):
    __slots__ = ("announced_count",)
    ANNOUNCED_COUNT_FIELD_NUMBER: _ClassVar[int]
    announced_count: int
    def __init__(self, announced_count: _Optional[int] = ...) -> None: ...

class ReconcileProjectRequest(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: str
    def __init__(self, project: _Optional[str] = ...) -> None: ...

class ReconcileProjectResponse(_message.Message):
    __slots__ = ("record_count", "republished_count", "swept_count", "fenced_count")
    RECORD_COUNT_FIELD_NUMBER: _ClassVar[int]
    REPUBLISHED_COUNT_FIELD_NUMBER: _ClassVar[int]
    SWEPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    FENCED_COUNT_FIELD_NUMBER: _ClassVar[int]
    record_count: int
    republished_count: int
    swept_count: int
    fenced_count: int
    def __init__(self, record_count: _Optional[int] = ..., republished_count: _Optional[int] = ..., swept_count: _Optional[int] = ..., fenced_count: _Optional[int] = ...) -> None: ...
