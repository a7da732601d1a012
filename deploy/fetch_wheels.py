"""Fetches what the image is made of into one folder, by the hashes of the locks: packages, the model's weights, the installer."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from refdesk.embedder.registry import DEFAULT_MODEL, ENTRIES

DEPLOY = Path(__file__).resolve().parent
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
NEWEST_GLIBC = 36
"""Minor version of Debian 12's; wheels for newer ones would not load there."""
WITHOUT_WHEEL = "nkeys"
"""Its makers give sources alone, in Python: the image's build makes the wheel."""


def fetch(arch: str, python: str, model: str, into: Path) -> None:
    """Leaves the wheels for `arch` (amd64, arm64) and `python` (such as 3.11) in `into`.

    Raises: CalledProcessError where pip cannot fetch one, which it says on stderr.
    """
    source = ENTRIES[model].source
    here = [f"manylinux_2_{minor}_{MACHINES[arch]}" for minor in range(5, NEWEST_GLIBC + 1)]
    here += [f"manylinux2014_{MACHINES[arch]}", f"manylinux1_{MACHINES[arch]}"]
    for lock in (DEPLOY.parent / "requirements.lock", DEPLOY / "image.lock", DEPLOY / "models" / "build.lock"):
        _download(lock, here, python, into)
    platforms = [source.platform] if source and source.platform else here
    _download(DEPLOY / "models" / f"{model}.lock", platforms, python, into)


def _download(lock: Path, platforms: list[str], python: str, into: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", "--no-binary", WITHOUT_WHEEL]
    command += ["--python-version", python, "--dest", str(into)]
    command += [part for platform in platforms for part in ("--platform", platform)]
    subprocess.run([*command, "--requirement", str(lock)], check=True, stdout=sys.stderr)


def main() -> int:
    """Fetches what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", choices=sorted(MACHINES), required=True)
    parser.add_argument("--python", default="3.11", help="of the base image")
    parser.add_argument("--model", choices=sorted(ENTRIES), default=DEFAULT_MODEL)
    parser.add_argument("--into", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    try:
        fetch(arguments.arch, arguments.python, arguments.model, arguments.into)
    except subprocess.CalledProcessError:
        sys.stderr.write("pip could not fetch everything: see its message above, and try again\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
