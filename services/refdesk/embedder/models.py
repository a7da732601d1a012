"""Finds the folders of the models that the settings name; knows nothing of how a model is built or run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from refdesk.embedder.places import DESCRIPTION, GRAPH, TOKENIZER, is_built, models_folder
from refdesk.embedder.registry import ENTRIES, Floor, ModelEntry
from refdesk.embedder.settings import EmbedderSettings
from refdesk.errors import InvalidArgument, NotFound

Language = Annotated[str, Field(pattern="^[a-z]{2,3}$")]


@dataclass(frozen=True)
class ModelFolder:
    """A folder that holds a model, and what its entry says."""

    entry: ModelEntry
    path: Path

    def __str__(self) -> str:
        return str(self.path)


class DescribedFloor(BaseModel):
    """The floor in a refdesk.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cosine: float = Field(0.0, ge=-1, le=1, description="Cosine similarity of the best chunk.")
    coverage: float = Field(0.35, ge=0, le=1, description="Share of the query's idf mass that one hit holds.")


class FolderDescription(BaseModel):
    """The refdesk.json of a model folder; everything may be left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_id: str = Field("", pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,62})?$", description="Empty: the folder's name.")
    dimension: int = Field(0, ge=0, le=65_536, description="Length of a vector; 0: what the model gives.")
    window_tokens: int = Field(
        256, ge=8, le=65_536, description="Most tokens of one run, special tokens and prefix included."
    )
    query_prefix: str = Field("", max_length=500, description="Goes before every query.")
    passage_prefix: str = Field("", max_length=500, description="Goes before every passage.")
    floor: DescribedFloor = Field(default_factory=DescribedFloor, description="Relevance floor: cosine, coverage.")
    languages: tuple[Language, ...] = Field((), description="ISO 639-1; empty: every language.")
    build: str = Field("", description="Fingerprint of what refdesk built it from; empty for a folder of one's own.")


def find_models(settings: EmbedderSettings) -> tuple[ModelFolder, ...]:
    """The folders of all hosted models, the default first.

    Raises: as find_model; InvalidArgument when two have the same id.
    """
    names = dict.fromkeys((settings.model, *settings.also_host))
    folders = tuple(find_model(settings, name) for name in names)
    ids = [folder.entry.model_id for folder in folders]
    for model_id in ids:
        if ids.count(model_id) > 1:
            raise InvalidArgument(
                f"two hosted models are called {model_id}: give one another model_id in its {DESCRIPTION}"
            )
    return folders


def find_model(settings: EmbedderSettings, name: str = "") -> ModelFolder:
    """The folder of the model `name`, an id or a path; empty: the default model.

    Raises: NotFound for a registered model that is not built yet; InvalidArgument for any other wrong name or folder.
    """
    name = name or settings.model
    if name in ENTRIES:
        return _find_built(ENTRIES[name], models_folder(settings.models))
    path = Path(name).expanduser()
    if not path.is_dir():
        raise InvalidArgument(f'model "{name}" is neither {" nor ".join(ENTRIES)} nor a folder with an ONNX model')
    return read_folder(path.resolve())


def read_folder(path: Path) -> ModelFolder:
    """A model folder of the operator's own.

    Raises: InvalidArgument naming the file that is missing or wrong.
    """
    for name in (GRAPH, TOKENIZER):
        if not (path / name).is_file():
            raise InvalidArgument(f"model folder {path} has no {name}: put the model's {name} there")
    described = _read_description(path / DESCRIPTION)
    return ModelFolder(
        ModelEntry(
            model_id=described.model_id or path.name,
            dimension=described.dimension,
            window_tokens=described.window_tokens,
            query_prefix=described.query_prefix,
            passage_prefix=described.passage_prefix,
            floor=Floor(described.floor.cosine, described.floor.coverage),
            languages=described.languages,
        ),
        path,
    )


def _find_built(entry: ModelEntry, models: Path) -> ModelFolder:
    if not is_built(entry, models):
        command = f"python -m refdesk.embedder.build --model {entry.model_id} --into {models}"
        raise NotFound(f"model {entry.model_id} is not built in {models}: run `{command}`")
    return ModelFolder(entry, models / entry.model_id)


def _read_description(path: Path) -> FolderDescription:
    try:
        return FolderDescription.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return FolderDescription()
    except OSError:
        raise InvalidArgument(f"model file {path} cannot be read") from None
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "its JSON"
        raise InvalidArgument(f"model file {path}: {where}: {first['msg'].lower()}") from None
