from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IdKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ID_KIND_UNSPECIFIED: _ClassVar[IdKind]
    ID_KIND_DOCUMENT: _ClassVar[IdKind]
    ID_KIND_SECTION: _ClassVar[IdKind]
    ID_KIND_CONTENT: _ClassVar[IdKind]

class ReportKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPORT_KIND_UNSPECIFIED: _ClassVar[ReportKind]
    REPORT_KIND_SKIPPED: _ClassVar[ReportKind]
    REPORT_KIND_PARKED: _ClassVar[ReportKind]
    REPORT_KIND_REMARK: _ClassVar[ReportKind]

class SourceStanding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_STANDING_UNSPECIFIED: _ClassVar[SourceStanding]
    SOURCE_STANDING_WITHDRAWN: _ClassVar[SourceStanding]
    SOURCE_STANDING_LET_GO: _ClassVar[SourceStanding]

class RawStanding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RAW_STANDING_UNSPECIFIED: _ClassVar[RawStanding]
    RAW_STANDING_UNKNOWN: _ClassVar[RawStanding]
    RAW_STANDING_LIVE: _ClassVar[RawStanding]
    RAW_STANDING_DELETED: _ClassVar[RawStanding]
    RAW_STANDING_UNLISTED: _ClassVar[RawStanding]

class RawOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RAW_OUTCOME_UNSPECIFIED: _ClassVar[RawOutcome]
    RAW_OUTCOME_STORED: _ClassVar[RawOutcome]
    RAW_OUTCOME_UNCHANGED: _ClassVar[RawOutcome]
    RAW_OUTCOME_OLDER: _ClassVar[RawOutcome]
    RAW_OUTCOME_CONFLICT: _ClassVar[RawOutcome]
    RAW_OUTCOME_UNKNOWN_SOURCE: _ClassVar[RawOutcome]
    RAW_OUTCOME_INVALID: _ClassVar[RawOutcome]

class KeyScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KEY_SCOPE_UNSPECIFIED: _ClassVar[KeyScope]
    KEY_SCOPE_READ: _ClassVar[KeyScope]
    KEY_SCOPE_PUBLISH: _ClassVar[KeyScope]
    KEY_SCOPE_ADMIN: _ClassVar[KeyScope]

class CallSelection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALL_SELECTION_UNSPECIFIED: _ClassVar[CallSelection]
    CALL_SELECTION_FOUND_NOTHING: _ClassVar[CallSelection]
    CALL_SELECTION_DENIED: _ClassVar[CallSelection]
ID_KIND_UNSPECIFIED: IdKind
ID_KIND_DOCUMENT: IdKind
ID_KIND_SECTION: IdKind
ID_KIND_CONTENT: IdKind
REPORT_KIND_UNSPECIFIED: ReportKind
REPORT_KIND_SKIPPED: ReportKind
REPORT_KIND_PARKED: ReportKind
REPORT_KIND_REMARK: ReportKind
SOURCE_STANDING_UNSPECIFIED: SourceStanding
SOURCE_STANDING_WITHDRAWN: SourceStanding
SOURCE_STANDING_LET_GO: SourceStanding
RAW_STANDING_UNSPECIFIED: RawStanding
RAW_STANDING_UNKNOWN: RawStanding
RAW_STANDING_LIVE: RawStanding
RAW_STANDING_DELETED: RawStanding
RAW_STANDING_UNLISTED: RawStanding
RAW_OUTCOME_UNSPECIFIED: RawOutcome
RAW_OUTCOME_STORED: RawOutcome
RAW_OUTCOME_UNCHANGED: RawOutcome
RAW_OUTCOME_OLDER: RawOutcome
RAW_OUTCOME_CONFLICT: RawOutcome
RAW_OUTCOME_UNKNOWN_SOURCE: RawOutcome
RAW_OUTCOME_INVALID: RawOutcome
KEY_SCOPE_UNSPECIFIED: KeyScope
KEY_SCOPE_READ: KeyScope
KEY_SCOPE_PUBLISH: KeyScope
KEY_SCOPE_ADMIN: KeyScope
CALL_SELECTION_UNSPECIFIED: CallSelection
CALL_SELECTION_FOUND_NOTHING: CallSelection
CALL_SELECTION_DENIED: CallSelection

class Document(_message.Message):
    __slots__ = ("document_id", "project", "source", "path", "revision", "source_revision", "content_hash", "title", "summary", "url", "version", "kind", "language", "text", "sections", "heads", "deleted", "put_at_milliseconds", "previous_paths", "bulk", "token_scale", "previous_content_hashes")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_REVISION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    HEADS_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    PUT_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_PATHS_FIELD_NUMBER: _ClassVar[int]
    BULK_FIELD_NUMBER: _ClassVar[int]
    TOKEN_SCALE_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_CONTENT_HASHES_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    project: str
    source: str
    path: str
    revision: int
    source_revision: str
    content_hash: str
    title: str
    summary: str
    url: str
    version: str
    kind: str
    language: str
    text: str
    sections: _containers.RepeatedCompositeFieldContainer[Section]
    heads: _containers.RepeatedCompositeFieldContainer[Head]
    deleted: bool
    put_at_milliseconds: int
    previous_paths: _containers.RepeatedScalarFieldContainer[str]
    bulk: bool
    token_scale: float
    previous_content_hashes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, document_id: _Optional[str] = ..., project: _Optional[str] = ..., source: _Optional[str] = ..., path: _Optional[str] = ..., revision: _Optional[int] = ..., source_revision: _Optional[str] = ..., content_hash: _Optional[str] = ..., title: _Optional[str] = ..., summary: _Optional[str] = ..., url: _Optional[str] = ..., version: _Optional[str] = ..., kind: _Optional[str] = ..., language: _Optional[str] = ..., text: _Optional[str] = ..., sections: _Optional[_Iterable[_Union[Section, _Mapping]]] = ..., heads: _Optional[_Iterable[_Union[Head, _Mapping]]] = ..., deleted: _Optional[bool] = ..., put_at_milliseconds: _Optional[int] = ..., previous_paths: _Optional[_Iterable[str]] = ..., bulk: _Optional[bool] = ..., token_scale: _Optional[float] = ..., previous_content_hashes: _Optional[_Iterable[str]] = ...) -> None: ...

class Section(_message.Message):
    __slots__ = ("level", "breadcrumb", "ordinal", "start", "end")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    BREADCRUMB_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    level: int
    breadcrumb: _containers.RepeatedScalarFieldContainer[str]
    ordinal: int
    start: int
    end: int
    def __init__(self, level: _Optional[int] = ..., breadcrumb: _Optional[_Iterable[str]] = ..., ordinal: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Head(_message.Message):
    __slots__ = ("generation", "fingerprint", "chunks", "missing_vectors", "swept", "embeddable")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    MISSING_VECTORS_FIELD_NUMBER: _ClassVar[int]
    SWEPT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDABLE_FIELD_NUMBER: _ClassVar[int]
    generation: str
    fingerprint: str
    chunks: _containers.RepeatedCompositeFieldContainer[ChunkSpan]
    missing_vectors: _containers.RepeatedScalarFieldContainer[str]
    swept: bool
    embeddable: bool
    def __init__(self, generation: _Optional[str] = ..., fingerprint: _Optional[str] = ..., chunks: _Optional[_Iterable[_Union[ChunkSpan, _Mapping]]] = ..., missing_vectors: _Optional[_Iterable[str]] = ..., swept: _Optional[bool] = ..., embeddable: _Optional[bool] = ...) -> None: ...

class ChunkSpan(_message.Message):
    __slots__ = ("chunk_id", "breadcrumb", "start", "end", "lead", "tail", "token_count", "first_line", "last_line")
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    BREADCRUMB_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    TAIL_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_LINE_FIELD_NUMBER: _ClassVar[int]
    LAST_LINE_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    breadcrumb: _containers.RepeatedScalarFieldContainer[str]
    start: int
    end: int
    lead: str
    tail: str
    token_count: int
    first_line: int
    last_line: int
    def __init__(self, chunk_id: _Optional[str] = ..., breadcrumb: _Optional[_Iterable[str]] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., lead: _Optional[str] = ..., tail: _Optional[str] = ..., token_count: _Optional[int] = ..., first_line: _Optional[int] = ..., last_line: _Optional[int] = ...) -> None: ...

class GetDocumentsRequest(_message.Message):
    __slots__ = ("project", "document_ids", "paths", "include_text", "generations")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_TEXT_FIELD_NUMBER: _ClassVar[int]
    GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    project: str
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    paths: _containers.RepeatedScalarFieldContainer[str]
    include_text: bool
    generations: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, project: _Optional[str] = ..., document_ids: _Optional[_Iterable[str]] = ..., paths: _Optional[_Iterable[str]] = ..., include_text: _Optional[bool] = ..., generations: _Optional[_Iterable[str]] = ...) -> None: ...

class GetDocumentsResponse(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[GetDocumentsItem]
    def __init__(self, items: _Optional[_Iterable[_Union[GetDocumentsItem, _Mapping]]] = ...) -> None: ...

class GetDocumentsItem(_message.Message):
    __slots__ = ("document", "unknown", "moved_to")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    MOVED_TO_FIELD_NUMBER: _ClassVar[int]
    document: Document
    unknown: Unknown
    moved_to: str
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., unknown: _Optional[_Union[Unknown, _Mapping]] = ..., moved_to: _Optional[str] = ...) -> None: ...

class Unknown(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PutDocumentsRequest(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[PutDocumentsItem]
    def __init__(self, items: _Optional[_Iterable[_Union[PutDocumentsItem, _Mapping]]] = ...) -> None: ...

class PutDocumentsItem(_message.Message):
    __slots__ = ("document", "expected_revision")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    document: Document
    expected_revision: int
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class PutDocumentsResponse(_message.Message):
    __slots__ = ("outcomes",)
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[PutDocumentsOutcome]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[PutDocumentsOutcome, _Mapping]]] = ...) -> None: ...

class PutDocumentsOutcome(_message.Message):
    __slots__ = ("committed", "revision")
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    committed: bool
    revision: int
    def __init__(self, committed: _Optional[bool] = ..., revision: _Optional[int] = ...) -> None: ...

class NoteDocumentsRequest(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[NoteDocumentsItem]
    def __init__(self, items: _Optional[_Iterable[_Union[NoteDocumentsItem, _Mapping]]] = ...) -> None: ...

class NoteDocumentsItem(_message.Message):
    __slots__ = ("document_id", "project", "generation", "revision", "embedded_chunk_ids", "token_counts", "swept")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_CHUNK_IDS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNTS_FIELD_NUMBER: _ClassVar[int]
    SWEPT_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    project: str
    generation: str
    revision: int
    embedded_chunk_ids: _containers.RepeatedScalarFieldContainer[str]
    token_counts: _containers.RepeatedScalarFieldContainer[int]
    swept: bool
    def __init__(self, document_id: _Optional[str] = ..., project: _Optional[str] = ..., generation: _Optional[str] = ..., revision: _Optional[int] = ..., embedded_chunk_ids: _Optional[_Iterable[str]] = ..., token_counts: _Optional[_Iterable[int]] = ..., swept: _Optional[bool] = ...) -> None: ...

class NoteDocumentsResponse(_message.Message):
    __slots__ = ("outcomes",)
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[NoteDocumentsOutcome]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[NoteDocumentsOutcome, _Mapping]]] = ...) -> None: ...

class NoteDocumentsOutcome(_message.Message):
    __slots__ = ("noted",)
    NOTED_FIELD_NUMBER: _ClassVar[int]
    noted: bool
    def __init__(self, noted: _Optional[bool] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("project", "generation", "source", "page_token", "page_size")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    source: str
    page_token: str
    page_size: int
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., source: _Optional[str] = ..., page_token: _Optional[str] = ..., page_size: _Optional[int] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[DocumentSummary]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[DocumentSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DocumentSummary(_message.Message):
    __slots__ = ("document_id", "source", "path", "title", "chunk_count", "text_length")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    TEXT_LENGTH_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    source: str
    path: str
    title: str
    chunk_count: int
    text_length: int
    def __init__(self, document_id: _Optional[str] = ..., source: _Optional[str] = ..., path: _Optional[str] = ..., title: _Optional[str] = ..., chunk_count: _Optional[int] = ..., text_length: _Optional[int] = ...) -> None: ...

class ListRecordsRequest(_message.Message):
    __slots__ = ("project", "source", "page_token", "page_size", "without_heads")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_HEADS_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    page_token: str
    page_size: int
    without_heads: bool
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., page_token: _Optional[str] = ..., page_size: _Optional[int] = ..., without_heads: _Optional[bool] = ...) -> None: ...

class ListRecordsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListUnfinishedRequest(_message.Message):
    __slots__ = ("project", "generation", "page_token", "page_size")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    page_token: str
    page_size: int
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., page_token: _Optional[str] = ..., page_size: _Optional[int] = ...) -> None: ...

class ListUnfinishedResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[UnfinishedDocument]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[UnfinishedDocument, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UnfinishedDocument(_message.Message):
    __slots__ = ("document_id", "revision", "missing_count", "swept", "bulk")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    MISSING_COUNT_FIELD_NUMBER: _ClassVar[int]
    SWEPT_FIELD_NUMBER: _ClassVar[int]
    BULK_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    revision: int
    missing_count: int
    swept: bool
    bulk: bool
    def __init__(self, document_id: _Optional[str] = ..., revision: _Optional[int] = ..., missing_count: _Optional[int] = ..., swept: _Optional[bool] = ..., bulk: _Optional[bool] = ...) -> None: ...

class HydrateChunksRequest(_message.Message):
    __slots__ = ("project", "generation", "chunk_ids", "include_neighbors")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    CHUNK_IDS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_NEIGHBORS_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    chunk_ids: _containers.RepeatedScalarFieldContainer[str]
    include_neighbors: bool
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., chunk_ids: _Optional[_Iterable[str]] = ..., include_neighbors: _Optional[bool] = ...) -> None: ...

class HydrateChunksResponse(_message.Message):
    __slots__ = ("chunks",)
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    chunks: _containers.RepeatedCompositeFieldContainer[HydratedChunk]
    def __init__(self, chunks: _Optional[_Iterable[_Union[HydratedChunk, _Mapping]]] = ...) -> None: ...

class HydratedChunk(_message.Message):
    __slots__ = ("chunk_id", "document_id", "path", "title", "breadcrumb", "ordinal", "chunk_count", "text", "before", "after", "has_vector", "first_line", "last_line", "revision", "source", "version", "url", "kind")
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BREADCRUMB_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    HAS_VECTOR_FIELD_NUMBER: _ClassVar[int]
    FIRST_LINE_FIELD_NUMBER: _ClassVar[int]
    LAST_LINE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    document_id: str
    path: str
    title: str
    breadcrumb: _containers.RepeatedScalarFieldContainer[str]
    ordinal: int
    chunk_count: int
    text: str
    before: str
    after: str
    has_vector: bool
    first_line: int
    last_line: int
    revision: int
    source: str
    version: str
    url: str
    kind: str
    def __init__(self, chunk_id: _Optional[str] = ..., document_id: _Optional[str] = ..., path: _Optional[str] = ..., title: _Optional[str] = ..., breadcrumb: _Optional[_Iterable[str]] = ..., ordinal: _Optional[int] = ..., chunk_count: _Optional[int] = ..., text: _Optional[str] = ..., before: _Optional[str] = ..., after: _Optional[str] = ..., has_vector: _Optional[bool] = ..., first_line: _Optional[int] = ..., last_line: _Optional[int] = ..., revision: _Optional[int] = ..., source: _Optional[str] = ..., version: _Optional[str] = ..., url: _Optional[str] = ..., kind: _Optional[str] = ...) -> None: ...

class SuggestPathsRequest(_message.Message):
    __slots__ = ("project", "path", "limit")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    project: str
    path: str
    limit: int
    def __init__(self, project: _Optional[str] = ..., path: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class SuggestPathsResponse(_message.Message):
    __slots__ = ("paths",)
    PATHS_FIELD_NUMBER: _ClassVar[int]
    paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, paths: _Optional[_Iterable[str]] = ...) -> None: ...

class IdQuery(_message.Message):
    __slots__ = ("kind", "prefix")
    KIND_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    kind: IdKind
    prefix: str
    def __init__(self, kind: _Optional[_Union[IdKind, str]] = ..., prefix: _Optional[str] = ...) -> None: ...

class ResolveIdsRequest(_message.Message):
    __slots__ = ("project", "queries")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    QUERIES_FIELD_NUMBER: _ClassVar[int]
    project: str
    queries: _containers.RepeatedCompositeFieldContainer[IdQuery]
    def __init__(self, project: _Optional[str] = ..., queries: _Optional[_Iterable[_Union[IdQuery, _Mapping]]] = ...) -> None: ...

class ResolveIdsResponse(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[ResolvedId]
    def __init__(self, items: _Optional[_Iterable[_Union[ResolvedId, _Mapping]]] = ...) -> None: ...

class ResolvedId(_message.Message):
    __slots__ = ("candidates",)
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    candidates: _containers.RepeatedCompositeFieldContainer[IdCandidate]
    def __init__(self, candidates: _Optional[_Iterable[_Union[IdCandidate, _Mapping]]] = ...) -> None: ...

class IdCandidate(_message.Message):
    __slots__ = ("document_id", "path", "section_id", "current", "content_hash")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SECTION_ID_FIELD_NUMBER: _ClassVar[int]
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    path: str
    section_id: str
    current: bool
    content_hash: str
    def __init__(self, document_id: _Optional[str] = ..., path: _Optional[str] = ..., section_id: _Optional[str] = ..., current: _Optional[bool] = ..., content_hash: _Optional[str] = ...) -> None: ...

class GetStatsRequest(_message.Message):
    __slots__ = ("project", "generation")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ...) -> None: ...

class GetStatsResponse(_message.Message):
    __slots__ = ("document_count", "chunk_count", "embeddable_count", "embedded_count", "missing_vector_count", "sources", "versions", "languages", "other_generation_count", "other_generations")
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDABLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    MISSING_VECTOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    OTHER_GENERATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    OTHER_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    document_count: int
    chunk_count: int
    embeddable_count: int
    embedded_count: int
    missing_vector_count: int
    sources: _containers.RepeatedCompositeFieldContainer[SourceStats]
    versions: _containers.RepeatedScalarFieldContainer[str]
    languages: _containers.RepeatedScalarFieldContainer[str]
    other_generation_count: int
    other_generations: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, document_count: _Optional[int] = ..., chunk_count: _Optional[int] = ..., embeddable_count: _Optional[int] = ..., embedded_count: _Optional[int] = ..., missing_vector_count: _Optional[int] = ..., sources: _Optional[_Iterable[_Union[SourceStats, _Mapping]]] = ..., versions: _Optional[_Iterable[str]] = ..., languages: _Optional[_Iterable[str]] = ..., other_generation_count: _Optional[int] = ..., other_generations: _Optional[_Iterable[str]] = ...) -> None: ...

class SourceStats(_message.Message):
    __slots__ = ("source", "document_count", "chunk_count")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    source: str
    document_count: int
    chunk_count: int
    def __init__(self, source: _Optional[str] = ..., document_count: _Optional[int] = ..., chunk_count: _Optional[int] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("path", "kind", "reason", "reported_at_milliseconds")
    PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    path: str
    kind: ReportKind
    reason: str
    reported_at_milliseconds: int
    def __init__(self, path: _Optional[str] = ..., kind: _Optional[_Union[ReportKind, str]] = ..., reason: _Optional[str] = ..., reported_at_milliseconds: _Optional[int] = ...) -> None: ...

class ReportDocumentsRequest(_message.Message):
    __slots__ = ("project", "source", "reports", "cleared_paths")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    CLEARED_PATHS_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    reports: _containers.RepeatedCompositeFieldContainer[Report]
    cleared_paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., reports: _Optional[_Iterable[_Union[Report, _Mapping]]] = ..., cleared_paths: _Optional[_Iterable[str]] = ...) -> None: ...

class ReportDocumentsResponse(_message.Message):
    __slots__ = ("report_count",)
    REPORT_COUNT_FIELD_NUMBER: _ClassVar[int]
    report_count: int
    def __init__(self, report_count: _Optional[int] = ...) -> None: ...

class ListReportsRequest(_message.Message):
    __slots__ = ("project", "source", "limit")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    limit: int
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListReportsResponse(_message.Message):
    __slots__ = ("reports", "report_count")
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    REPORT_COUNT_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[Report]
    report_count: int
    def __init__(self, reports: _Optional[_Iterable[_Union[Report, _Mapping]]] = ..., report_count: _Optional[int] = ...) -> None: ...

class PurgeDocumentsRequest(_message.Message):
    __slots__ = ("project", "deleted_before_milliseconds")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DELETED_BEFORE_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    project: str
    deleted_before_milliseconds: int
    def __init__(self, project: _Optional[str] = ..., deleted_before_milliseconds: _Optional[int] = ...) -> None: ...

class PurgeDocumentsResponse(_message.Message):
    __slots__ = ("purged_count",)
    PURGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    purged_count: int
    def __init__(self, purged_count: _Optional[int] = ...) -> None: ...

class DropHeadsRequest(_message.Message):
    __slots__ = ("project", "generation", "limit")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    limit: int
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class DropHeadsResponse(_message.Message):
    __slots__ = ("dropped_count",)
    DROPPED_COUNT_FIELD_NUMBER: _ClassVar[int]
    dropped_count: int
    def __init__(self, dropped_count: _Optional[int] = ...) -> None: ...

class Project(_message.Message):
    __slots__ = ("slug", "description", "surfaces", "model_id", "live_generation", "followed_generations", "floor_cosine", "floor_coverage", "sources", "structured_output", "revision", "building_generation", "hold_switch", "rollback_generations", "dropped_generations", "title", "public_search", "log_days", "pins", "public_pages")
    SLUG_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    SURFACES_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    LIVE_GENERATION_FIELD_NUMBER: _ClassVar[int]
    FOLLOWED_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    FLOOR_COSINE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    BUILDING_GENERATION_FIELD_NUMBER: _ClassVar[int]
    HOLD_SWITCH_FIELD_NUMBER: _ClassVar[int]
    ROLLBACK_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_SEARCH_FIELD_NUMBER: _ClassVar[int]
    LOG_DAYS_FIELD_NUMBER: _ClassVar[int]
    PINS_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_PAGES_FIELD_NUMBER: _ClassVar[int]
    slug: str
    description: str
    surfaces: _containers.RepeatedScalarFieldContainer[str]
    model_id: str
    live_generation: str
    followed_generations: _containers.RepeatedScalarFieldContainer[str]
    floor_cosine: float
    floor_coverage: float
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    structured_output: bool
    revision: int
    building_generation: str
    hold_switch: bool
    rollback_generations: _containers.RepeatedCompositeFieldContainer[RollbackGeneration]
    dropped_generations: _containers.RepeatedCompositeFieldContainer[DroppedGeneration]
    title: str
    public_search: PublicSearch
    log_days: int
    pins: _containers.RepeatedScalarFieldContainer[str]
    public_pages: bool
    def __init__(self, slug: _Optional[str] = ..., description: _Optional[str] = ..., surfaces: _Optional[_Iterable[str]] = ..., model_id: _Optional[str] = ..., live_generation: _Optional[str] = ..., followed_generations: _Optional[_Iterable[str]] = ..., floor_cosine: _Optional[float] = ..., floor_coverage: _Optional[float] = ..., sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., structured_output: _Optional[bool] = ..., revision: _Optional[int] = ..., building_generation: _Optional[str] = ..., hold_switch: _Optional[bool] = ..., rollback_generations: _Optional[_Iterable[_Union[RollbackGeneration, _Mapping]]] = ..., dropped_generations: _Optional[_Iterable[_Union[DroppedGeneration, _Mapping]]] = ..., title: _Optional[str] = ..., public_search: _Optional[_Union[PublicSearch, _Mapping]] = ..., log_days: _Optional[int] = ..., pins: _Optional[_Iterable[str]] = ..., public_pages: _Optional[bool] = ...) -> None: ...

class PublicSearch(_message.Message):
    __slots__ = ("origins",)
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    origins: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, origins: _Optional[_Iterable[str]] = ...) -> None: ...

class RollbackGeneration(_message.Message):
    __slots__ = ("generation", "until_milliseconds")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    UNTIL_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    generation: str
    until_milliseconds: int
    def __init__(self, generation: _Optional[str] = ..., until_milliseconds: _Optional[int] = ...) -> None: ...

class DroppedGeneration(_message.Message):
    __slots__ = ("generation", "since_milliseconds", "dropped_once")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    SINCE_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_ONCE_FIELD_NUMBER: _ClassVar[int]
    generation: str
    since_milliseconds: int
    dropped_once: bool
    def __init__(self, generation: _Optional[str] = ..., since_milliseconds: _Optional[int] = ..., dropped_once: _Optional[bool] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("name", "kind", "location", "type", "description", "base_url", "title", "contexts", "standing")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CONTEXTS_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    location: str
    type: str
    description: str
    base_url: str
    title: str
    contexts: _containers.RepeatedCompositeFieldContainer[PathContext]
    standing: SourceStanding
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., location: _Optional[str] = ..., type: _Optional[str] = ..., description: _Optional[str] = ..., base_url: _Optional[str] = ..., title: _Optional[str] = ..., contexts: _Optional[_Iterable[_Union[PathContext, _Mapping]]] = ..., standing: _Optional[_Union[SourceStanding, str]] = ...) -> None: ...

class PathContext(_message.Message):
    __slots__ = ("prefix", "text")
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    prefix: str
    text: str
    def __init__(self, prefix: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Menu(_message.Message):
    __slots__ = ("nodes", "content_hash")
    NODES_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[MenuNode]
    content_hash: str
    def __init__(self, nodes: _Optional[_Iterable[_Union[MenuNode, _Mapping]]] = ..., content_hash: _Optional[str] = ...) -> None: ...

class MenuNode(_message.Message):
    __slots__ = ("title", "page", "href", "method", "folder", "children")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    HREF_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    title: str
    page: str
    href: str
    method: str
    folder: str
    children: _containers.RepeatedCompositeFieldContainer[MenuNode]
    def __init__(self, title: _Optional[str] = ..., page: _Optional[str] = ..., href: _Optional[str] = ..., method: _Optional[str] = ..., folder: _Optional[str] = ..., children: _Optional[_Iterable[_Union[MenuNode, _Mapping]]] = ...) -> None: ...

class PutMenuRequest(_message.Message):
    __slots__ = ("project", "source", "menu")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    MENU_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    menu: Menu
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., menu: _Optional[_Union[Menu, _Mapping]] = ...) -> None: ...

class PutMenuResponse(_message.Message):
    __slots__ = ("changed",)
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    changed: bool
    def __init__(self, changed: _Optional[bool] = ...) -> None: ...

class GetMenusRequest(_message.Message):
    __slots__ = ("project", "sources", "without_nodes")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_NODES_FIELD_NUMBER: _ClassVar[int]
    project: str
    sources: _containers.RepeatedScalarFieldContainer[str]
    without_nodes: bool
    def __init__(self, project: _Optional[str] = ..., sources: _Optional[_Iterable[str]] = ..., without_nodes: _Optional[bool] = ...) -> None: ...

class GetMenusResponse(_message.Message):
    __slots__ = ("menus",)
    MENUS_FIELD_NUMBER: _ClassVar[int]
    menus: _containers.RepeatedCompositeFieldContainer[Menu]
    def __init__(self, menus: _Optional[_Iterable[_Union[Menu, _Mapping]]] = ...) -> None: ...

class GetProjectRequest(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: str
    def __init__(self, project: _Optional[str] = ...) -> None: ...

class GetProjectResponse(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: Project
    def __init__(self, project: _Optional[_Union[Project, _Mapping]] = ...) -> None: ...

class ListProjectsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListProjectsResponse(_message.Message):
    __slots__ = ("projects",)
    PROJECTS_FIELD_NUMBER: _ClassVar[int]
    projects: _containers.RepeatedCompositeFieldContainer[Project]
    def __init__(self, projects: _Optional[_Iterable[_Union[Project, _Mapping]]] = ...) -> None: ...

class PutProjectRequest(_message.Message):
    __slots__ = ("project", "expected_revision")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    project: Project
    expected_revision: int
    def __init__(self, project: _Optional[_Union[Project, _Mapping]] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class PutProjectResponse(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: Project
    def __init__(self, project: _Optional[_Union[Project, _Mapping]] = ...) -> None: ...

class RawDocument(_message.Message):
    __slots__ = ("project", "source", "path", "revision", "content_hash", "content", "content_bytes", "facts", "stated_revision", "deleted", "dropped", "events", "change_count", "put_at_milliseconds")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    STATED_REVISION_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    CHANGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PUT_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    path: str
    revision: int
    content_hash: str
    content: bytes
    content_bytes: int
    facts: RawFacts
    stated_revision: int
    deleted: bool
    dropped: bool
    events: _containers.RepeatedCompositeFieldContainer[RawEvent]
    change_count: int
    put_at_milliseconds: int
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., path: _Optional[str] = ..., revision: _Optional[int] = ..., content_hash: _Optional[str] = ..., content: _Optional[bytes] = ..., content_bytes: _Optional[int] = ..., facts: _Optional[_Union[RawFacts, _Mapping]] = ..., stated_revision: _Optional[int] = ..., deleted: _Optional[bool] = ..., dropped: _Optional[bool] = ..., events: _Optional[_Iterable[_Union[RawEvent, _Mapping]]] = ..., change_count: _Optional[int] = ..., put_at_milliseconds: _Optional[int] = ...) -> None: ...

class RawFacts(_message.Message):
    __slots__ = ("title", "url", "version", "kind", "language")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    title: str
    url: str
    version: str
    kind: str
    language: str
    def __init__(self, title: _Optional[str] = ..., url: _Optional[str] = ..., version: _Optional[str] = ..., kind: _Optional[str] = ..., language: _Optional[str] = ...) -> None: ...

class RawEvent(_message.Message):
    __slots__ = ("id", "revision")
    ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    id: str
    revision: int
    def __init__(self, id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class RawItem(_message.Message):
    __slots__ = ("document", "standing", "deferred")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FIELD_NUMBER: _ClassVar[int]
    document: RawDocument
    standing: RawStanding
    deferred: bool
    def __init__(self, document: _Optional[_Union[RawDocument, _Mapping]] = ..., standing: _Optional[_Union[RawStanding, str]] = ..., deferred: _Optional[bool] = ...) -> None: ...

class PutRawDocumentsRequest(_message.Message):
    __slots__ = ("project", "items")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    project: str
    items: _containers.RepeatedCompositeFieldContainer[PutRawDocumentsItem]
    def __init__(self, project: _Optional[str] = ..., items: _Optional[_Iterable[_Union[PutRawDocumentsItem, _Mapping]]] = ...) -> None: ...

class PutRawDocumentsItem(_message.Message):
    __slots__ = ("source", "event_id", "revision", "content", "deletion", "listing")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    DELETION_FIELD_NUMBER: _ClassVar[int]
    LISTING_FIELD_NUMBER: _ClassVar[int]
    source: str
    event_id: str
    revision: int
    content: RawContent
    deletion: RawDeletion
    listing: RawListing
    def __init__(self, source: _Optional[str] = ..., event_id: _Optional[str] = ..., revision: _Optional[int] = ..., content: _Optional[_Union[RawContent, _Mapping]] = ..., deletion: _Optional[_Union[RawDeletion, _Mapping]] = ..., listing: _Optional[_Union[RawListing, _Mapping]] = ...) -> None: ...

class RawContent(_message.Message):
    __slots__ = ("path", "content", "facts")
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    path: str
    content: bytes
    facts: RawFacts
    def __init__(self, path: _Optional[str] = ..., content: _Optional[bytes] = ..., facts: _Optional[_Union[RawFacts, _Mapping]] = ...) -> None: ...

class RawDeletion(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    def __init__(self, path: _Optional[str] = ...) -> None: ...

class RawListing(_message.Message):
    __slots__ = ("documents",)
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[RawListed]
    def __init__(self, documents: _Optional[_Iterable[_Union[RawListed, _Mapping]]] = ...) -> None: ...

class RawListed(_message.Message):
    __slots__ = ("path", "revision")
    PATH_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    path: str
    revision: int
    def __init__(self, path: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class PutRawDocumentsResponse(_message.Message):
    __slots__ = ("outcomes",)
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[PutRawDocumentsOutcome]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[PutRawDocumentsOutcome, _Mapping]]] = ...) -> None: ...

class PutRawDocumentsOutcome(_message.Message):
    __slots__ = ("outcome", "reason", "missing_paths", "missing_count")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MISSING_PATHS_FIELD_NUMBER: _ClassVar[int]
    MISSING_COUNT_FIELD_NUMBER: _ClassVar[int]
    outcome: RawOutcome
    reason: str
    missing_paths: _containers.RepeatedScalarFieldContainer[str]
    missing_count: int
    def __init__(self, outcome: _Optional[_Union[RawOutcome, str]] = ..., reason: _Optional[str] = ..., missing_paths: _Optional[_Iterable[str]] = ..., missing_count: _Optional[int] = ...) -> None: ...

class GetRawDocumentsRequest(_message.Message):
    __slots__ = ("project", "source", "paths", "include_content")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_CONTENT_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    paths: _containers.RepeatedScalarFieldContainer[str]
    include_content: bool
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., paths: _Optional[_Iterable[str]] = ..., include_content: _Optional[bool] = ...) -> None: ...

class GetRawDocumentsResponse(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[RawItem]
    def __init__(self, items: _Optional[_Iterable[_Union[RawItem, _Mapping]]] = ...) -> None: ...

class ListRawDocumentsRequest(_message.Message):
    __slots__ = ("project", "source", "page_token", "page_size", "put_since_milliseconds")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PUT_SINCE_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    page_token: str
    page_size: int
    put_since_milliseconds: int
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., page_token: _Optional[str] = ..., page_size: _Optional[int] = ..., put_since_milliseconds: _Optional[int] = ...) -> None: ...

class ListRawDocumentsResponse(_message.Message):
    __slots__ = ("items", "next_page_token", "listing_change_count", "read_at_milliseconds")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LISTING_CHANGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    READ_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[RawItem]
    next_page_token: str
    listing_change_count: int
    read_at_milliseconds: int
    def __init__(self, items: _Optional[_Iterable[_Union[RawItem, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., listing_change_count: _Optional[int] = ..., read_at_milliseconds: _Optional[int] = ...) -> None: ...

class RestoreDocumentsRequest(_message.Message):
    __slots__ = ("documents", "raw_documents")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    RAW_DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    raw_documents: _containers.RepeatedCompositeFieldContainer[RawDocument]
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., raw_documents: _Optional[_Iterable[_Union[RawDocument, _Mapping]]] = ...) -> None: ...

class RestoreDocumentsResponse(_message.Message):
    __slots__ = ("outcomes", "restored_raw")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    RESTORED_RAW_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[PutDocumentsOutcome]
    restored_raw: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[PutDocumentsOutcome, _Mapping]]] = ..., restored_raw: _Optional[_Iterable[bool]] = ...) -> None: ...

class BackupItem(_message.Message):
    __slots__ = ("head", "project", "document", "raw_document", "end", "menu", "key")
    HEAD_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    RAW_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    MENU_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    head: BackupHead
    project: Project
    document: Document
    raw_document: RawDocument
    end: BackupEnd
    menu: BackupMenu
    key: AccessKey
    def __init__(self, head: _Optional[_Union[BackupHead, _Mapping]] = ..., project: _Optional[_Union[Project, _Mapping]] = ..., document: _Optional[_Union[Document, _Mapping]] = ..., raw_document: _Optional[_Union[RawDocument, _Mapping]] = ..., end: _Optional[_Union[BackupEnd, _Mapping]] = ..., menu: _Optional[_Union[BackupMenu, _Mapping]] = ..., key: _Optional[_Union[AccessKey, _Mapping]] = ...) -> None: ...

class BackupHead(_message.Message):
    __slots__ = ("format", "made_at_milliseconds")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    MADE_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    format: int
    made_at_milliseconds: int
    def __init__(self, format: _Optional[int] = ..., made_at_milliseconds: _Optional[int] = ...) -> None: ...

class BackupMenu(_message.Message):
    __slots__ = ("project", "source", "menu")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    MENU_FIELD_NUMBER: _ClassVar[int]
    project: str
    source: str
    menu: Menu
    def __init__(self, project: _Optional[str] = ..., source: _Optional[str] = ..., menu: _Optional[_Union[Menu, _Mapping]] = ...) -> None: ...

class BackupEnd(_message.Message):
    __slots__ = ("item_count",)
    ITEM_COUNT_FIELD_NUMBER: _ClassVar[int]
    item_count: int
    def __init__(self, item_count: _Optional[int] = ...) -> None: ...

class AccessKey(_message.Message):
    __slots__ = ("key_id", "project", "name", "scope", "surfaces", "secrets", "calls_per_minute", "created_at_milliseconds", "expires_at_milliseconds", "revoked_at_milliseconds", "revision")
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SURFACES_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    CALLS_PER_MINUTE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    key_id: str
    project: str
    name: str
    scope: KeyScope
    surfaces: _containers.RepeatedScalarFieldContainer[str]
    secrets: _containers.RepeatedCompositeFieldContainer[KeySecret]
    calls_per_minute: int
    created_at_milliseconds: int
    expires_at_milliseconds: int
    revoked_at_milliseconds: int
    revision: int
    def __init__(self, key_id: _Optional[str] = ..., project: _Optional[str] = ..., name: _Optional[str] = ..., scope: _Optional[_Union[KeyScope, str]] = ..., surfaces: _Optional[_Iterable[str]] = ..., secrets: _Optional[_Iterable[_Union[KeySecret, _Mapping]]] = ..., calls_per_minute: _Optional[int] = ..., created_at_milliseconds: _Optional[int] = ..., expires_at_milliseconds: _Optional[int] = ..., revoked_at_milliseconds: _Optional[int] = ..., revision: _Optional[int] = ...) -> None: ...

class KeySecret(_message.Message):
    __slots__ = ("sha256", "until_milliseconds")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    UNTIL_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    sha256: bytes
    until_milliseconds: int
    def __init__(self, sha256: _Optional[bytes] = ..., until_milliseconds: _Optional[int] = ...) -> None: ...

class PutKeyRequest(_message.Message):
    __slots__ = ("key", "expected_revision")
    KEY_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    key: AccessKey
    expected_revision: int
    def __init__(self, key: _Optional[_Union[AccessKey, _Mapping]] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class PutKeyResponse(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: AccessKey
    def __init__(self, key: _Optional[_Union[AccessKey, _Mapping]] = ...) -> None: ...

class GetKeysRequest(_message.Message):
    __slots__ = ("key_ids",)
    KEY_IDS_FIELD_NUMBER: _ClassVar[int]
    key_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, key_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetKeysResponse(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[GetKeysItem]
    def __init__(self, items: _Optional[_Iterable[_Union[GetKeysItem, _Mapping]]] = ...) -> None: ...

class GetKeysItem(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: AccessKey
    def __init__(self, key: _Optional[_Union[AccessKey, _Mapping]] = ...) -> None: ...

class ListKeysRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListKeysResponse(_message.Message):
    __slots__ = ("keys",)
    KEYS_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[AccessKey]
    def __init__(self, keys: _Optional[_Iterable[_Union[AccessKey, _Mapping]]] = ...) -> None: ...

class CallRecord(_message.Message):
    __slots__ = ("call_id", "at_milliseconds", "project", "surface", "tool", "inputs", "record_count", "mode", "degraded", "elapsed_milliseconds", "key_id", "client_name", "client_version", "error", "denied", "attempted_email", "attempted_domain", "found_nothing")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    AT_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    RECORD_COUNT_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_NAME_FIELD_NUMBER: _ClassVar[int]
    CLIENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTED_EMAIL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTED_DOMAIN_FIELD_NUMBER: _ClassVar[int]
    FOUND_NOTHING_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    at_milliseconds: int
    project: str
    surface: str
    tool: str
    inputs: str
    record_count: int
    mode: str
    degraded: str
    elapsed_milliseconds: float
    key_id: str
    client_name: str
    client_version: str
    error: str
    denied: str
    attempted_email: str
    attempted_domain: str
    found_nothing: bool
    def __init__(self, call_id: _Optional[str] = ..., at_milliseconds: _Optional[int] = ..., project: _Optional[str] = ..., surface: _Optional[str] = ..., tool: _Optional[str] = ..., inputs: _Optional[str] = ..., record_count: _Optional[int] = ..., mode: _Optional[str] = ..., degraded: _Optional[str] = ..., elapsed_milliseconds: _Optional[float] = ..., key_id: _Optional[str] = ..., client_name: _Optional[str] = ..., client_version: _Optional[str] = ..., error: _Optional[str] = ..., denied: _Optional[str] = ..., attempted_email: _Optional[str] = ..., attempted_domain: _Optional[str] = ..., found_nothing: _Optional[bool] = ...) -> None: ...

class PutCallsRequest(_message.Message):
    __slots__ = ("calls",)
    CALLS_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[CallRecord]
    def __init__(self, calls: _Optional[_Iterable[_Union[CallRecord, _Mapping]]] = ...) -> None: ...

class PutCallsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListCallsRequest(_message.Message):
    __slots__ = ("project", "selection", "since_milliseconds", "limit")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    SINCE_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    project: str
    selection: CallSelection
    since_milliseconds: int
    limit: int
    def __init__(self, project: _Optional[str] = ..., selection: _Optional[_Union[CallSelection, str]] = ..., since_milliseconds: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListCallsResponse(_message.Message):
    __slots__ = ("calls",)
    CALLS_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[CallRecord]
    def __init__(self, calls: _Optional[_Iterable[_Union[CallRecord, _Mapping]]] = ...) -> None: ...

class PurgeCallsRequest(_message.Message):
    __slots__ = ("project", "before_milliseconds")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    project: str
    before_milliseconds: int
    def __init__(self, project: _Optional[str] = ..., before_milliseconds: _Optional[int] = ...) -> None: ...

class PurgeCallsResponse(_message.Message):
    __slots__ = ("purged_count",)
    PURGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    purged_count: int
    def __init__(self, purged_count: _Optional[int] = ...) -> None: ...
