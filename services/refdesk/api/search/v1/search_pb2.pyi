from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Grain(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GRAIN_UNSPECIFIED: _ClassVar[Grain]
    GRAIN_CHUNK: _ClassVar[Grain]
    GRAIN_DOCUMENT: _ClassVar[Grain]

class Engine(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENGINE_UNSPECIFIED: _ClassVar[Engine]
    ENGINE_WORDS: _ClassVar[Engine]
    ENGINE_VECTORS: _ClassVar[Engine]

class LegKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEG_KIND_UNSPECIFIED: _ClassVar[LegKind]
    LEG_KIND_LEXICAL: _ClassVar[LegKind]
    LEG_KIND_SEMANTIC: _ClassVar[LegKind]
    LEG_KIND_HYDE: _ClassVar[LegKind]

class LegStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEG_STATUS_UNSPECIFIED: _ClassVar[LegStatus]
    LEG_STATUS_RAN: _ClassVar[LegStatus]
    LEG_STATUS_FAILED: _ClassVar[LegStatus]
    LEG_STATUS_SKIPPED: _ClassVar[LegStatus]

class LegSyntax(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEG_SYNTAX_UNSPECIFIED: _ClassVar[LegSyntax]
    LEG_SYNTAX_LEX: _ClassVar[LegSyntax]
GRAIN_UNSPECIFIED: Grain
GRAIN_CHUNK: Grain
GRAIN_DOCUMENT: Grain
ENGINE_UNSPECIFIED: Engine
ENGINE_WORDS: Engine
ENGINE_VECTORS: Engine
LEG_KIND_UNSPECIFIED: LegKind
LEG_KIND_LEXICAL: LegKind
LEG_KIND_SEMANTIC: LegKind
LEG_KIND_HYDE: LegKind
LEG_STATUS_UNSPECIFIED: LegStatus
LEG_STATUS_RAN: LegStatus
LEG_STATUS_FAILED: LegStatus
LEG_STATUS_SKIPPED: LegStatus
LEG_SYNTAX_UNSPECIFIED: LegSyntax
LEG_SYNTAX_LEX: LegSyntax

class Facets(_message.Message):
    __slots__ = ("source", "path", "version", "kind", "language")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    source: str
    path: str
    version: str
    kind: str
    language: str
    def __init__(self, source: _Optional[str] = ..., path: _Optional[str] = ..., version: _Optional[str] = ..., kind: _Optional[str] = ..., language: _Optional[str] = ...) -> None: ...

class WordDocument(_message.Message):
    __slots__ = ("document_id", "stamp", "facets", "headings", "text", "chunks")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAMP_FIELD_NUMBER: _ClassVar[int]
    FACETS_FIELD_NUMBER: _ClassVar[int]
    HEADINGS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    stamp: int
    facets: Facets
    headings: _containers.RepeatedScalarFieldContainer[str]
    text: str
    chunks: _containers.RepeatedCompositeFieldContainer[WordChunk]
    def __init__(self, document_id: _Optional[str] = ..., stamp: _Optional[int] = ..., facets: _Optional[_Union[Facets, _Mapping]] = ..., headings: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ..., chunks: _Optional[_Iterable[_Union[WordChunk, _Mapping]]] = ...) -> None: ...

class WordChunk(_message.Message):
    __slots__ = ("id", "headings", "start", "end", "lead", "tail")
    ID_FIELD_NUMBER: _ClassVar[int]
    HEADINGS_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    LEAD_FIELD_NUMBER: _ClassVar[int]
    TAIL_FIELD_NUMBER: _ClassVar[int]
    id: str
    headings: _containers.RepeatedScalarFieldContainer[str]
    start: int
    end: int
    lead: str
    tail: str
    def __init__(self, id: _Optional[str] = ..., headings: _Optional[_Iterable[str]] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., lead: _Optional[str] = ..., tail: _Optional[str] = ...) -> None: ...

class WriteWordsRequest(_message.Message):
    __slots__ = ("project", "generation", "documents")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    documents: _containers.RepeatedCompositeFieldContainer[WordDocument]
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., documents: _Optional[_Iterable[_Union[WordDocument, _Mapping]]] = ...) -> None: ...

class WriteWordsResponse(_message.Message):
    __slots__ = ("written_count", "superseded_ids")
    WRITTEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_IDS_FIELD_NUMBER: _ClassVar[int]
    written_count: int
    superseded_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, written_count: _Optional[int] = ..., superseded_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class VectorEntry(_message.Message):
    __slots__ = ("id", "document_id", "grain", "stamp", "facets", "text_hash", "vector")
    ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    GRAIN_FIELD_NUMBER: _ClassVar[int]
    STAMP_FIELD_NUMBER: _ClassVar[int]
    FACETS_FIELD_NUMBER: _ClassVar[int]
    TEXT_HASH_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    id: str
    document_id: str
    grain: Grain
    stamp: int
    facets: Facets
    text_hash: str
    vector: bytes
    def __init__(self, id: _Optional[str] = ..., document_id: _Optional[str] = ..., grain: _Optional[_Union[Grain, str]] = ..., stamp: _Optional[int] = ..., facets: _Optional[_Union[Facets, _Mapping]] = ..., text_hash: _Optional[str] = ..., vector: _Optional[bytes] = ...) -> None: ...

class WriteVectorsRequest(_message.Message):
    __slots__ = ("project", "generation", "model_id", "entries")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    model_id: str
    entries: _containers.RepeatedCompositeFieldContainer[VectorEntry]
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., model_id: _Optional[str] = ..., entries: _Optional[_Iterable[_Union[VectorEntry, _Mapping]]] = ...) -> None: ...

class WriteVectorsResponse(_message.Message):
    __slots__ = ("written_count", "superseded_ids")
    WRITTEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_IDS_FIELD_NUMBER: _ClassVar[int]
    written_count: int
    superseded_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, written_count: _Optional[int] = ..., superseded_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetVectorsRequest(_message.Message):
    __slots__ = ("project", "generation", "text_hashes")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    TEXT_HASHES_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    text_hashes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., text_hashes: _Optional[_Iterable[str]] = ...) -> None: ...

class GetVectorsResponse(_message.Message):
    __slots__ = ("vectors",)
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    vectors: _containers.RepeatedCompositeFieldContainer[FoundVector]
    def __init__(self, vectors: _Optional[_Iterable[_Union[FoundVector, _Mapping]]] = ...) -> None: ...

class FoundVector(_message.Message):
    __slots__ = ("text_hash", "vector")
    TEXT_HASH_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    text_hash: str
    vector: bytes
    def __init__(self, text_hash: _Optional[str] = ..., vector: _Optional[bytes] = ...) -> None: ...

class SweepDocumentsRequest(_message.Message):
    __slots__ = ("project", "generation", "items")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    items: _containers.RepeatedCompositeFieldContainer[SweepDocumentsItem]
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., items: _Optional[_Iterable[_Union[SweepDocumentsItem, _Mapping]]] = ...) -> None: ...

class SweepDocumentsItem(_message.Message):
    __slots__ = ("document_id", "up_to_stamp", "keep_chunk_ids", "remove_document")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    UP_TO_STAMP_FIELD_NUMBER: _ClassVar[int]
    KEEP_CHUNK_IDS_FIELD_NUMBER: _ClassVar[int]
    REMOVE_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    up_to_stamp: int
    keep_chunk_ids: _containers.RepeatedScalarFieldContainer[str]
    remove_document: bool
    def __init__(self, document_id: _Optional[str] = ..., up_to_stamp: _Optional[int] = ..., keep_chunk_ids: _Optional[_Iterable[str]] = ..., remove_document: _Optional[bool] = ...) -> None: ...

class SweepDocumentsResponse(_message.Message):
    __slots__ = ("outcomes",)
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[SweepDocumentsOutcome]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[SweepDocumentsOutcome, _Mapping]]] = ...) -> None: ...

class SweepDocumentsOutcome(_message.Message):
    __slots__ = ("deleted_words", "deleted_vectors", "later_stamp")
    DELETED_WORDS_FIELD_NUMBER: _ClassVar[int]
    DELETED_VECTORS_FIELD_NUMBER: _ClassVar[int]
    LATER_STAMP_FIELD_NUMBER: _ClassVar[int]
    deleted_words: int
    deleted_vectors: int
    later_stamp: bool
    def __init__(self, deleted_words: _Optional[int] = ..., deleted_vectors: _Optional[int] = ..., later_stamp: _Optional[bool] = ...) -> None: ...

class ListEntriesRequest(_message.Message):
    __slots__ = ("project", "generation", "engine", "page_token", "page_size")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    engine: Engine
    page_token: str
    page_size: int
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., engine: _Optional[_Union[Engine, str]] = ..., page_token: _Optional[str] = ..., page_size: _Optional[int] = ...) -> None: ...

class ListEntriesResponse(_message.Message):
    __slots__ = ("entries", "next_page_token")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Entry]
    next_page_token: str
    def __init__(self, entries: _Optional[_Iterable[_Union[Entry, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Entry(_message.Message):
    __slots__ = ("id", "document_id", "grain", "stamp")
    ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    GRAIN_FIELD_NUMBER: _ClassVar[int]
    STAMP_FIELD_NUMBER: _ClassVar[int]
    id: str
    document_id: str
    grain: Grain
    stamp: int
    def __init__(self, id: _Optional[str] = ..., document_id: _Optional[str] = ..., grain: _Optional[_Union[Grain, str]] = ..., stamp: _Optional[int] = ...) -> None: ...

class DropGenerationRequest(_message.Message):
    __slots__ = ("project", "generation")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ...) -> None: ...

class DropGenerationResponse(_message.Message):
    __slots__ = ("dropped_words", "dropped_vectors")
    DROPPED_WORDS_FIELD_NUMBER: _ClassVar[int]
    DROPPED_VECTORS_FIELD_NUMBER: _ClassVar[int]
    dropped_words: bool
    dropped_vectors: bool
    def __init__(self, dropped_words: _Optional[bool] = ..., dropped_vectors: _Optional[bool] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ("sources", "path_prefix", "versions", "kinds")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    PATH_PREFIX_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedScalarFieldContainer[str]
    path_prefix: str
    versions: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, sources: _Optional[_Iterable[str]] = ..., path_prefix: _Optional[str] = ..., versions: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ...) -> None: ...

class Leg(_message.Message):
    __slots__ = ("kind", "text", "syntax")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SYNTAX_FIELD_NUMBER: _ClassVar[int]
    kind: LegKind
    text: str
    syntax: LegSyntax
    def __init__(self, kind: _Optional[_Union[LegKind, str]] = ..., text: _Optional[str] = ..., syntax: _Optional[_Union[LegSyntax, str]] = ...) -> None: ...

class RetrieveRequest(_message.Message):
    __slots__ = ("project", "generation", "model_id", "filter", "legs", "chunk_candidates", "chunks_per_document", "document_candidates", "chunks_only", "floor_cosine")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LEGS_FIELD_NUMBER: _ClassVar[int]
    CHUNK_CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_PER_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_ONLY_FIELD_NUMBER: _ClassVar[int]
    FLOOR_COSINE_FIELD_NUMBER: _ClassVar[int]
    project: str
    generation: str
    model_id: str
    filter: Filter
    legs: _containers.RepeatedCompositeFieldContainer[Leg]
    chunk_candidates: int
    chunks_per_document: int
    document_candidates: int
    chunks_only: bool
    floor_cosine: float
    def __init__(self, project: _Optional[str] = ..., generation: _Optional[str] = ..., model_id: _Optional[str] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., legs: _Optional[_Iterable[_Union[Leg, _Mapping]]] = ..., chunk_candidates: _Optional[int] = ..., chunks_per_document: _Optional[int] = ..., document_candidates: _Optional[int] = ..., chunks_only: _Optional[bool] = ..., floor_cosine: _Optional[float] = ...) -> None: ...

class RetrieveResponse(_message.Message):
    __slots__ = ("legs",)
    LEGS_FIELD_NUMBER: _ClassVar[int]
    legs: _containers.RepeatedCompositeFieldContainer[LegResult]
    def __init__(self, legs: _Optional[_Iterable[_Union[LegResult, _Mapping]]] = ...) -> None: ...

class LegResult(_message.Message):
    __slots__ = ("kind", "status", "reason", "hits", "elapsed_microseconds")
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MICROSECONDS_FIELD_NUMBER: _ClassVar[int]
    kind: LegKind
    status: LegStatus
    reason: str
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    elapsed_microseconds: int
    def __init__(self, kind: _Optional[_Union[LegKind, str]] = ..., status: _Optional[_Union[LegStatus, str]] = ..., reason: _Optional[str] = ..., hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., elapsed_microseconds: _Optional[int] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("chunk_id", "document_id", "score", "cosine", "coverage", "identifier_match")
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    COSINE_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    IDENTIFIER_MATCH_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    document_id: str
    score: float
    cosine: float
    coverage: float
    identifier_match: bool
    def __init__(self, chunk_id: _Optional[str] = ..., document_id: _Optional[str] = ..., score: _Optional[float] = ..., cosine: _Optional[float] = ..., coverage: _Optional[float] = ..., identifier_match: _Optional[bool] = ...) -> None: ...
