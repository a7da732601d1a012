from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Purpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PURPOSE_UNSPECIFIED: _ClassVar[Purpose]
    PURPOSE_QUERY: _ClassVar[Purpose]
    PURPOSE_PASSAGE: _ClassVar[Purpose]
PURPOSE_UNSPECIFIED: Purpose
PURPOSE_QUERY: Purpose
PURPOSE_PASSAGE: Purpose

class Model(_message.Message):
    __slots__ = ("model_id", "dimension", "window_tokens", "floor_cosine", "floor_coverage", "languages")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FLOOR_COSINE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    dimension: int
    window_tokens: int
    floor_cosine: float
    floor_coverage: float
    languages: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model_id: _Optional[str] = ..., dimension: _Optional[int] = ..., window_tokens: _Optional[int] = ..., floor_cosine: _Optional[float] = ..., floor_coverage: _Optional[float] = ..., languages: _Optional[_Iterable[str]] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = ("model_ids",)
    MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    model_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ...) -> None: ...

class EmbedTextsRequest(_message.Message):
    __slots__ = ("model_id", "purpose", "texts")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    purpose: Purpose
    texts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model_id: _Optional[str] = ..., purpose: _Optional[_Union[Purpose, str]] = ..., texts: _Optional[_Iterable[str]] = ...) -> None: ...

class EmbedTextsResponse(_message.Message):
    __slots__ = ("model_id", "items")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    items: _containers.RepeatedCompositeFieldContainer[EmbedTextsItem]
    def __init__(self, model_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[EmbedTextsItem, _Mapping]]] = ...) -> None: ...

class EmbedTextsItem(_message.Message):
    __slots__ = ("vector", "over_window", "token_count")
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    OVER_WINDOW_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    vector: bytes
    over_window: OverWindow
    token_count: int
    def __init__(self, vector: _Optional[bytes] = ..., over_window: _Optional[_Union[OverWindow, _Mapping]] = ..., token_count: _Optional[int] = ...) -> None: ...

class OverWindow(_message.Message):
    __slots__ = ("window_tokens",)
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    window_tokens: int
    def __init__(self, window_tokens: _Optional[int] = ...) -> None: ...

class CountTokensRequest(_message.Message):
    __slots__ = ("model_id", "texts")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    texts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model_id: _Optional[str] = ..., texts: _Optional[_Iterable[str]] = ...) -> None: ...

class CountTokensResponse(_message.Message):
    __slots__ = ("token_counts",)
    TOKEN_COUNTS_FIELD_NUMBER: _ClassVar[int]
    token_counts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, token_counts: _Optional[_Iterable[int]] = ...) -> None: ...
