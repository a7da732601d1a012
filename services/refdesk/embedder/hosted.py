"""The models that this process holds: those that are set, and any built one of the registry that somebody needs; knows no queue.

A generation names its model, and may be followed long after the settings name another: such a model is loaded when it is first asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from refdesk.embedder import canary
from refdesk.embedder.models import find_model, find_models
from refdesk.embedder.registry import ENTRIES
from refdesk.embedder.runtime import LoadedModel, load_model
from refdesk.embedder.settings import EmbedderSettings
from refdesk.errors import NotFound, RefdeskError, Unavailable

log = structlog.get_logger()


class HostedModels:
    """Loaded models by id, in the order in which they were loaded, the default first."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._models: dict[str, LoadedModel] = {}
        self._refused: dict[str, str] = {}
        self._loading: dict[str, asyncio.Task[None]] = {}

    async def load_set(self) -> str:
        """Loads every model that is set; why one of them must not serve here, or empty.

        Raises: NotFound for a model that is not built, InvalidArgument for a folder that holds none.
        """
        faults = []
        for folder in find_models(self._settings):
            model = await asyncio.to_thread(load_model, folder)
            self._models[folder.entry.model_id] = model
            faults.append(await asyncio.to_thread(canary.find_fault, model, canary.read_canaries(folder.path)))
        return "; ".join(filter(None, faults))

    async def close(self) -> None:
        """Loads nothing more."""
        for task in self._loading.values():
            task.cancel()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)

    def list(self) -> list[LoadedModel]:
        """What is loaded."""
        return list(self._models.values())

    def find(self, model_id: str) -> LoadedModel:
        """A loaded model. Raises: NotFound where it cannot be had; Unavailable while it is being loaded."""
        model = self._models.get(model_id)
        if model is not None:
            return model
        if self._may_load(model_id):
            self._load_soon(model_id)
            raise Unavailable(f"model {model_id} is being loaded", retry_after_seconds=2)
        hosted = ", ".join(self._models)
        why = self._refused.get(model_id, "") or f"hosted: {hosted}; add it to embedder.also_host"
        raise NotFound(f'model "{model_id}" is not hosted here; {why}')

    async def need(self, model_ids: Sequence[str]) -> None:
        """Loads those of these models that can be; who lists them sees which could not."""
        tasks = [self._load_soon(one) for one in model_ids if one not in self._models and self._may_load(one)]
        await asyncio.gather(*map(asyncio.shield, tasks))

    def _may_load(self, model_id: str) -> bool:
        return model_id in ENTRIES and model_id not in self._refused

    def _load_soon(self, model_id: str) -> asyncio.Task[None]:
        if model_id not in self._loading:
            task = asyncio.create_task(self._load(model_id), name=f"load {model_id}")
            self._loading[model_id] = task
            task.add_done_callback(lambda _: self._loading.pop(model_id, None))
        return self._loading[model_id]

    async def _load(self, model_id: str) -> None:
        """Loads a model of the registry; what keeps it from serving is remembered, and is looked at again at the next start."""
        try:
            folder = find_model(self._settings, model_id)
            model = await asyncio.to_thread(load_model, folder)
            fault = await asyncio.to_thread(canary.find_fault, model, canary.read_canaries(folder.path))
        except RefdeskError as error:
            fault = error.message
        if fault:
            log.error("a model that is needed cannot be hosted", model=model_id, reason=fault)
            self._refused[model_id] = fault
            return
        self._models[model_id] = model
        log.info("a model that is needed is hosted", model=model_id)
