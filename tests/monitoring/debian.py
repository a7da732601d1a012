"""Programs of Debian that tests run, as installed or unpacked from their packages into a cache; nothing is installed or started."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from servers.node_build import cache_folder
from servers.process import CannotStart

SECONDS = 300


def find_program(name: str, package: str) -> str:
    """Where a program is. Raises: CannotStart with one line that says what to install."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if found:
        return found
    folder = cache_folder() / "debian" / package
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two runs one unpacks and the other waits
        if not folder.exists():
            _unpack(package, folder)
    for place in ("usr/bin", "usr/sbin"):
        if (folder / place / name).exists():
            return str(folder / place / name)
    raise CannotStart(f"package {package} has no {name}: install {package} (Debian: apt install {package})")


def _unpack(package: str, folder: Path) -> None:
    """Downloads a package and unpacks it, whole or not at all; where no lists of packages are known, root asks for them first."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise CannotStart(f"the tests of monitoring need {package}, and this is no Debian: install it by hand")
    with TemporaryDirectory(dir=folder.parent) as name:
        work = Path(name)
        if not _run(("apt-get", "download", "-q", package), work) and not (
            os.geteuid() == 0
            and _run(("apt-get", "update", "-q"), work)
            and _run(("apt-get", "download", "-q", package), work)
        ):
            raise CannotStart(f"the tests of monitoring need {package}: apt install {package}")
        [archive] = work.glob("*.deb")
        if not _run(("dpkg-deb", "-x", str(archive), str(work / "tree")), work):
            raise CannotStart(f"package {package} cannot be unpacked: apt install {package}")
        (work / "tree").rename(folder)


def _run(command: tuple[str, ...], folder: Path) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
