"""The command `python -m refdesk.embedder.build`: builds a registered model once, and checks a folder of one's own.

Every `make up` runs it, so what only building needs is imported where it is used.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from refdesk.embedder.places import is_built, models_folder
from refdesk.embedder.registry import DEFAULT_MODEL, ENTRIES, ModelEntry
from refdesk.errors import Internal, RefdeskError

LOCKS = Path(__file__).resolve().parents[4] / "deploy" / "models"
CONVERT_SECONDS = 900


def build(entry: ModelEntry, models: Path, locks: Path) -> None:
    """Builds the model into `models`/<id>; everything else that it makes is gone afterwards.

    Raises: one of refdesk.errors.
    """
    from refdesk.embedder.build.fetch import fetch_source, install_tools

    if entry.source is None:
        raise ValueError(f"model {entry.model_id} has no source")
    models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{entry.model_id}-", dir=models, ignore_cleanup_errors=True) as temporary:
        fetched, tools, made = (Path(temporary, name) for name in ("fetched", "tools", "made"))
        for folder in (fetched, tools, made):
            folder.mkdir()
        fetch_source(entry.source, locks / f"{entry.model_id}.lock", fetched)
        install_tools(locks / "build.lock", tools)
        _convert(entry, fetched, tools, made)
        _put_in_place(made, models / entry.model_id, Path(temporary, "before"), entry)


def _convert(entry: ModelEntry, fetched: Path, tools: Path, made: Path) -> None:
    """In a process of its own: only that one sees the tools, and its memory is gone with it."""
    command = [sys.executable, "-m", "refdesk.embedder.build.convert", entry.model_id, str(fetched), str(made)]
    path = os.pathsep.join(filter(None, (str(tools), os.environ.get("PYTHONPATH", ""))))
    try:
        subprocess.run(
            command, check=True, timeout=CONVERT_SECONDS, env=os.environ | {"PYTHONPATH": path}, stdout=sys.stderr
        )
    except subprocess.CalledProcessError:
        raise Internal(f"model {entry.model_id} could not be converted: see the message above") from None
    except subprocess.TimeoutExpired:
        raise Internal(f"model {entry.model_id} was not converted within {CONVERT_SECONDS} seconds") from None


def _put_in_place(made: Path, place: Path, before: Path, entry: ModelEntry) -> None:
    """One rename; another build that was faster wins, an older one is moved aside into what is deleted."""
    if place.exists() and not is_built(entry, place.parent):
        place.rename(before)
    try:
        made.rename(place)
    except OSError:
        if not is_built(entry, place.parent):
            raise


def main() -> int:
    """Builds or checks what the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m refdesk.embedder.build", description="Builds a model once.")
    parser.add_argument(
        "--model", default=DEFAULT_MODEL, help=f"{', '.join(ENTRIES)}, or a folder, which is only checked"
    )
    parser.add_argument(
        "--into", default="", help="folder of models (default: refdesk/models in the user's cache folder)"
    )
    parser.add_argument("--locks", type=Path, default=LOCKS, help="folder of the lock files (default: the checkout's)")
    arguments = parser.parse_args()
    entry = ENTRIES.get(arguments.model)
    models = models_folder(arguments.into)
    try:
        if entry is None:
            _check_folder(arguments.model)
        elif not is_built(entry, models):
            _build_and_say(entry, models, arguments.locks)
    except (RefdeskError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _check_folder(name: str) -> None:
    from refdesk.embedder.models import find_model
    from refdesk.embedder.settings import EmbedderSettings

    find_model(EmbedderSettings(model=name))


def _build_and_say(entry: ModelEntry, models: Path, locks: Path) -> None:
    started = time.monotonic()
    sys.stderr.write(f"building {entry.model_id} (once; it fetches about 90 MB) …\n")
    build(entry, models, locks)
    size = sum(file.stat().st_size for file in (models / entry.model_id).iterdir()) / 1e6
    sys.stderr.write(f"built {models / entry.model_id}: {size:.0f} MB in {time.monotonic() - started:.0f} s\n")


if __name__ == "__main__":
    sys.exit(main())
