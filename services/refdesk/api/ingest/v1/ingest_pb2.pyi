from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GenerationRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GENERATION_ROLE_UNSPECIFIED: _ClassVar[GenerationRole]
    GENERATION_ROLE_LIVE: _ClassVar[GenerationRole]
    GENERATION_ROLE_BUILDING: _ClassVar[GenerationRole]
    GENERATION_ROLE_ROLLBACK: _ClassVar[GenerationRole]
    GENERATION_ROLE_DROPPED: _ClassVar[GenerationRole]

class SourceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_STATE_UNSPECIFIED: _ClassVar[SourceState]
    SOURCE_STATE_WAITING: _ClassVar[SourceState]
    SOURCE_STATE_SCANNING: _ClassVar[SourceState]
    SOURCE_STATE_FOLLOWED: _ClassVar[SourceState]
    SOURCE_STATE_HELD: _ClassVar[SourceState]
    SOURCE_STATE_FAILED: _ClassVar[SourceState]
GENERATION_ROLE_UNSPECIFIED: GenerationRole
GENERATION_ROLE_LIVE: GenerationRole
GENERATION_ROLE_BUILDING: GenerationRole
GENERATION_ROLE_ROLLBACK: GenerationRole
GENERATION_ROLE_DROPPED: GenerationRole
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
    __slots__ = ("sources", "pending_events", "words_current", "published_count", "reconciling", "mended_count")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    PENDING_EVENTS_FIELD_NUMBER: _ClassVar[int]
    WORDS_CURRENT_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_COUNT_FIELD_NUMBER: _ClassVar[int]
    RECONCILING_FIELD_NUMBER: _ClassVar[int]
    MENDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedCompositeFieldContainer[SourceStatus]
    pending_events: int
    words_current: bool
    published_count: int
    reconciling: bool
    mended_count: int
    def __init__(self, sources: _Optional[_Iterable[_Union[SourceStatus, _Mapping]]] = ..., pending_events: _Optional[int] = ..., words_current: _Optional[bool] = ..., published_count: _Optional[int] = ..., reconciling: _Optional[bool] = ..., mended_count: _Optional[int] = ...) -> None: ...

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

class GenerationStatus(_message.Message):
    __slots__ = ("generation", "role", "model_id", "chunker_version", "until_milliseconds", "document_count", "behind_count", "chunk_count", "embeddable_count", "embedded_count", "hold_switch", "message")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNKER_VERSION_FIELD_NUMBER: _ClassVar[int]
    UNTIL_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    BEHIND_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDABLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    HOLD_SWITCH_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    generation: str
    role: GenerationRole
    model_id: str
    chunker_version: int
    until_milliseconds: int
    document_count: int
    behind_count: int
    chunk_count: int
    embeddable_count: int
    embedded_count: int
    hold_switch: bool
    message: str
    def __init__(self, generation: _Optional[str] = ..., role: _Optional[_Union[GenerationRole, str]] = ..., model_id: _Optional[str] = ..., chunker_version: _Optional[int] = ..., until_milliseconds: _Optional[int] = ..., document_count: _Optional[int] = ..., behind_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., embeddable_count: _Optional[int] = ..., embedded_count: _Optional[int] = ..., hold_switch: _Optional[bool] = ..., message: _Optional[str] = ...) -> None: ...

class ListGenerationsRequest(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: str
    def __init__(self, project: _Optional[str] = ...) -> None: ...

class ListGenerationsResponse(_message.Message):
    __slots__ = ("generations",)
    GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    generations: _containers.RepeatedCompositeFieldContainer[GenerationStatus]
    def __init__(self, generations: _Optional[_Iterable[_Union[GenerationStatus, _Mapping]]] = ...) -> None: ...

class BuildGenerationRequest(_message.Message):
    __slots__ = ("project", "model_id", "chunker_version", "hold_switch")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNKER_VERSION_FIELD_NUMBER: _ClassVar[int]
    HOLD_SWITCH_FIELD_NUMBER: _ClassVar[int]
    project: str
    model_id: str
    chunker_version: int
    hold_switch: bool
    def __init__(self, project: _Optional[str] = ..., model_id: _Optional[str] = ..., chunker_version: _Optional[int] = ..., hold_switch: _Optional[bool] = ...) -> None: ...

class BuildGenerationResponse(_message.Message):
    __slots__ = ("generation",)
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    generation: str
    def __init__(self, generation: _Optional[str] = ...) -> None: ...

class SwitchGenerationRequest(_message.Message):
    __slots__ = ("project", "generation")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ...) -> None: ...

class SwitchGenerationResponse(_message.Message):
    __slots__ = ("generation", "previous_generation", "until_milliseconds")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_GENERATION_FIELD_NUMBER: _ClassVar[int]
    UNTIL_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    generation: str
    previous_generation: str
    until_milliseconds: int
    def __init__(self, generation: _Optional[str] = ..., previous_generation: _Optional[str] = ..., until_milliseconds: _Optional[int] = ...) -> None: ...

class RollBackGenerationRequest(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: str
    def __init__(self, project: _Optional[str] = ...) -> None: ...

class RollBackGenerationResponse(_message.Message):
    __slots__ = ("generation", "previous_generation", "until_milliseconds")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_GENERATION_FIELD_NUMBER: _ClassVar[int]
    UNTIL_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    generation: str
    previous_generation: str
    until_milliseconds: int
    def __init__(self, generation: _Optional[str] = ..., previous_generation: _Optional[str] = ..., until_milliseconds: _Optional[int] = ...) -> None: ...

class DropGenerationRequest(_message.Message):
    __slots__ = ("project", "generation")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ...) -> None: ...

class DropGenerationResponse(_message.Message):
    __slots__ = ("generation",)
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    generation: str
    def __init__(self, generation: _Optional[str] = ...) -> None: ...
