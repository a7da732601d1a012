"""Builds the OpenSearch node from Maven Central's jars, once a version, in the user's cache folder; knows nothing of running it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from servers.process import CannotStart

SOURCES = Path(__file__).resolve().parent / "node"
VERSIONS = {21: "3.9.0", 17: "2.19.6"}
"""The oldest Java of each version, the newest first."""
INSTALL = "the tests on OpenSearch need a JDK (17 or newer) and Maven: install both (Debian: apt install openjdk-17-jdk-headless maven)"
RESOLVE_SECONDS = 600


@dataclass(frozen=True)
class NodeBuild:
    """What it takes to start a node."""

    version: str
    java: str
    folder: Path
    """Holds classes, lib/*.jar and log4j2.properties."""


def cache_folder() -> Path:
    """Where refdesk keeps what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "refdesk"


def build_node() -> NodeBuild:
    """The node that the Java of this machine can run, built where that was not done yet.

    Raises: CannotStart with one line that says what to install.
    """
    javac, maven = _find("javac"), shutil.which("mvn")
    if not javac or not maven:
        raise CannotStart(f"{'mvn' if javac else 'javac'} was not found; {INSTALL}")
    release = next((oldest for oldest in VERSIONS if oldest <= _java_version(javac)), None)
    if release is None:
        raise CannotStart(f"the Java at {javac} is too old; {INSTALL}, and set JAVA_HOME where there are several")
    version = VERSIONS[release]
    folder = cache_folder() / "opensearch-node" / f"{version}-{_hash_sources(version)}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two runs one builds and the other waits
        if not folder.exists():
            _build(version, release, javac, maven, folder)
    return NodeBuild(version, str(Path(javac).with_name("java")), folder)


def _find(program: str) -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(program, path=str(Path(home) / "bin")) if home else shutil.which(program)
    return str(Path(found).resolve()) if found else ""


def _java_version(javac: str) -> int:
    said = subprocess.run((javac, "-version"), capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r"javac (\d+)", said.stdout + said.stderr)
    return int(found[1]) if found else 0


def _sources(version: str) -> list[Path]:
    return [
        SOURCES / "pom.xml",
        SOURCES / "log4j2.properties",
        SOURCES / "TestNode.java",
        SOURCES / version / "Modules.java",
    ]


def _hash_sources(version: str) -> str:
    digest = hashlib.sha256()
    for source in _sources(version):
        digest.update(source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _build(version: str, release: int, javac: str, maven: str, folder: Path) -> None:
    pom, properties, *java = _sources(version)
    with TemporaryDirectory(dir=folder.parent) as name:
        work = Path(name)
        resolve = (maven, "-q", "-B", "-ntp", "-C", "-P", version, "-f", str(pom), "dependency:copy-dependencies")
        _run((*resolve, f"-DoutputDirectory={work / 'lib'}", "-DincludeScope=runtime"), "Maven could not get its jars")
        compile_java = (
            javac,
            "-nowarn",
            "--release",
            str(release),
            "-cp",
            f"{work / 'lib'}/*",
            "-d",
            str(work / "classes"),
        )
        _run((*compile_java, *map(str, java)), "its launcher could not be compiled")
        shutil.copy(properties, work)
        work.rename(folder)  # whole or not at all


def _run(command: tuple[str, ...], failure: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RESOLVE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise CannotStart(f"no OpenSearch for the tests: {failure} within {RESOLVE_SECONDS} s") from None
    if done.returncode != 0:
        said = next(
            (line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line or "error:" in line), ""
        )
        raise CannotStart(f"no OpenSearch for the tests: {failure}: {said.strip()[:300]}")
