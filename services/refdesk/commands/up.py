"""`refdesk up`: all five services in one process on embedded engines, for one folder of documents."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from refdesk.app import App
from refdesk.commands.folder import DECLARED, held, write_declared
from refdesk.commands.progress import Progress
from refdesk.commands.serving import bind, served
from refdesk.commands.stopping import stop_signal
from refdesk.desk import UNNAMED_DATA, Desk, default_data, remove_note, source_name, write_note
from refdesk.embedder.models import find_model, find_models
from refdesk.embedder.registry import ENTRIES
from refdesk.errors import InvalidArgument
from refdesk.gateway.admins import Admins, ensure_admin_key
from refdesk.gateway.comparing import Comparison
from refdesk.gateway.explanations import Explanations
from refdesk.gateway.operator import beside, build_operator
from refdesk.settings import Settings, load_here
from refdesk.tasks import end_tasks

PROJECT = "default"
INDEX_FOLDERS = ("docstore", "words", "vectors", "events")


@dataclass(frozen=True)
class UpOptions:
    """What the command line says; empty texts mean the default."""

    docs: str
    data: str
    host: str
    port: int
    model: str
    config: str
    reindex: bool


async def up(options: UpOptions) -> None:
    """Runs the desk until it is told to stop.

    Raises: InvalidArgument, Unavailable: what keeps it from starting, and what to do.
    """
    stop = stop_signal()
    async with opened(options) as (app, desk):
        progress = Progress(app, desk)
        try:
            progress.greet()
            await follow_until(stop, progress)
        finally:
            progress.say("stopping …")


@asynccontextmanager
async def opened(options: UpOptions) -> AsyncIterator[tuple[App, Desk]]:
    """A desk that answers while the block runs, and commands find.

    Raises: InvalidArgument, Unavailable: what keeps it from starting, and what to do.
    """
    settings, data = prepare(options)
    check_models(settings)  # before anything is dropped or made: a wrong name is no fault of the index
    check_data(data, options.docs)
    with held(data):
        listener = bind(options.host, options.port, "is it taken? choose another with PORT=8081, say")
        if options.reindex:
            remove_index(data)
        write_declared(data, declared(settings))
        app = App(settings, data)
        desk = Desk(address(options.host, listener.getsockname()[1]), os.getpid(), str(data))
        async with served(beside(app.services["gateway"].app, _build_operator(app, data)), listener):
            try:
                await start(app)
                write_note(desk)
                yield app, desk
            finally:
                remove_note(desk)
        await app.close()


def _build_operator(app: App, data: Path) -> Starlette:
    docstore, search, embedder = (app.hold(component) for component in ("docstore", "search", "embedder"))
    admins = None
    if app.settings.gateway.requires_keys:
        files = [ensure_admin_key(data), *map(Path, app.settings.gateway.admin_key_files)]
        admins = Admins(app.services["gateway"].callers, files)
    comparison, explanations = Comparison(docstore, search, embedder), Explanations(docstore, search, embedder)
    return build_operator(docstore, app.hold("ingest"), comparison, explanations, admins)


def address(host: str, port: int) -> str:
    """Where this machine's own commands find a desk that listens on a host."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


async def follow_until(stop: asyncio.Event, progress: Progress) -> None:
    """Shows progress until `stop` is set; a defect of it is raised, not taken for a wish to stop."""
    stopping, following = asyncio.create_task(stop.wait()), asyncio.create_task(progress.follow())
    try:
        await asyncio.wait({stopping, following}, return_when="FIRST_COMPLETED")
        if following.done():
            following.result()
    finally:
        await end_tasks([stopping, following])


async def start(app: App) -> None:
    """Starts the desk; an index that cannot be opened can always be made anew from the documents, so that is said.

    Raises: InvalidArgument, Unavailable: why not, and what to do.
    """
    try:
        await app.start()
    except InvalidArgument as error:
        hint = (
            ""
            if "--reindex" in error.message
            else "; REINDEX=1 (--reindex) drops the index and reads the documents again"
        )
        raise InvalidArgument(error.message + hint) from None


def prepare(options: UpOptions) -> tuple[Settings, Path]:
    """The settings of the desk and its data folder.

    Raises: InvalidArgument when the folder of documents is no folder, or a setting is wrong.
    """
    overrides: dict[str, Any] = {"gateway": {"host": options.host}}
    if options.model:
        overrides["embedder"] = {"model": options.model}
    if not options.docs:
        settings = load_here(overrides, options.config)
        if not settings.projects:
            raise InvalidArgument(
                "no documents are named: give a folder with DOCS=path, or a config file with projects:"
            )
        return settings, Path(options.data or settings.data or UNNAMED_DATA)
    folder = checked_folder(options.docs)
    source = {"name": source_name(folder), "kind": "folder", "path": str(folder.resolve())}
    settings = load_here({**overrides, "projects": {PROJECT: {"sources": [source]}}}, options.config)
    return settings, Path(options.data or settings.data or default_data(folder))


def checked_folder(docs: str) -> Path:
    """The folder of documents.

    Raises: InvalidArgument when it does not exist or is no folder.
    """
    folder = Path(docs).expanduser()
    if not folder.exists():
        raise InvalidArgument(f"folder {docs} does not exist: name an existing one, make up DOCS=path")
    if not folder.is_dir():
        raise InvalidArgument(f"{docs} is a file: name the folder that it is in, make up DOCS={folder.parent}")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise InvalidArgument(f"folder {docs} cannot be read: give this user read access to it, or name another")
    return folder


def check_models(settings: Settings) -> None:
    """Looks for every model that is named.

    Raises: InvalidArgument, NotFound: which one is not there, and what to do.
    """
    hosted = [folder.entry.model_id for folder in find_models(settings.embedder)]
    for slug, project in settings.projects.items():
        if project.model in ENTRIES:
            find_model(settings.embedder, project.model)  # the embedder loads it when it is needed
        elif project.model and project.model not in hosted:
            raise InvalidArgument(
                f"projects.{slug}.model: {project.model} is not hosted, but {', '.join(hosted)}: "
                "name one of these, or add it to embedder.also_host"
            )


def check_data(data: Path, docs: str) -> None:
    """Keeps a desk from writing among, or dropping, what no desk made.

    Raises: InvalidArgument when the folder is that of the documents, or holds folders of our names without our note.
    """
    if docs and data.resolve() == Path(docs).expanduser().resolve():
        raise InvalidArgument(f"data folder {data} is the folder of documents itself: name another with DATA=path")
    foreign = [name for name in INDEX_FOLDERS if (data / name).exists()]
    if foreign and not (data / DECLARED).exists():
        raise InvalidArgument(
            f"data folder {data} has no {DECLARED}, so its folder {foreign[0]} is not of a desk's making: "
            "name another with DATA=path"
        )


def declared(settings: Settings) -> Mapping[str, Any]:
    """The declared projects as they stand in the file."""
    return {slug: project.model_dump(mode="json", exclude_defaults=True) for slug, project in settings.projects.items()}


def remove_index(data: Path) -> None:
    """Drops what was indexed; the documents themselves are read again from their folder."""
    for name in INDEX_FOLDERS:
        shutil.rmtree(data / name, ignore_errors=True)
