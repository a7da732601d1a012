"""The images of a test cluster, built here, for there is no registry: a base, refdesk by its own Dockerfile, the engines."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cluster.buildah import HOME, archive, build_image, has_image, hash_files, sibling
from cluster.debian import install_packages
from cluster.programs import Programs, locked
from cluster.worker import PAUSE_IMAGE
from refdesk.ingest.events.nats_server import find_binary
from servers.node_build import build_node
from servers.process import CannotStart

ROOT = Path(__file__).resolve().parents[2]
RECIPES = Path(__file__).resolve().parent / "images"
SUITE = "bookworm"
PACKAGES = "python3,python3-venv,ca-certificates"
BOOTSTRAP_SECONDS = 1200
FETCH_SECONDS = 900
JAVA_MODULES = "java.se,jdk.unsupported,jdk.management,jdk.zipfs,jdk.crypto.ec,jdk.httpserver,jdk.localedata"
MADE = {"__pycache__", "refdesk.egg-info"}
"""What stands between sources and is not one."""
ARCHES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Image:
    """An image as pods name it, and the archive that nodes import."""

    repository: str
    tag: str
    archive: Path

    @property
    def name(self) -> str:
        """repository:tag."""
        return f"{self.repository}:{self.tag}"


@dataclass(frozen=True)
class Images:
    """All that the tests run."""

    pause: Image
    base: Image
    refdesk: Image
    next_refdesk: Image
    """The same with another name: what an upgrade goes to."""
    opensearch: Image
    nats: Image

    @property
    def archives(self) -> tuple[Path, ...]:
        """Of all of them; those that share layers stand after those that have them."""
        every = (self.pause, self.base, self.nats, self.opensearch, self.refdesk, self.next_refdesk)
        return tuple(image.archive for image in every)


def build_images(programs: Programs) -> Images:
    """Builds what is not there yet. Raises: CannotStart with one line that says what to do."""
    base, refdesk = build_base(), build_refdesk()
    following = f"{refdesk.repository}:next"
    return Images(
        build_pause(programs),
        base,
        refdesk,
        Image(refdesk.repository, "next", sibling(refdesk.archive, following, {"BUILD": "next"})),
        build_opensearch(),
        build_nats(),
    )


def build_pause(programs: Programs) -> Image:
    """What holds a pod's namespaces."""
    binary = Path(programs["pause"])
    recipe = RECIPES / "pause.Containerfile"
    return _build("pause", hash_files([recipe, binary]), recipe, {"pause": binary}, {}, PAUSE_IMAGE.rpartition(":")[2])


def build_base() -> Image:
    """Debian with Python."""
    recipe = RECIPES / "base.Containerfile"
    tag = f"localhost/refdesk-base:{_base_hash()}"
    if not has_image(tag):
        _build("refdesk-base", _base_hash(), recipe, {"rootfs.tar": _bootstrap()}, {}, "test")
    return Image("localhost/refdesk-base", "test", archive(tag, "localhost/refdesk-base:test"))


def build_refdesk() -> Image:
    """refdesk, by deploy/Dockerfile, on the base above."""
    base, arch = build_base(), _arch()
    sources = [file for file in _refdesk_sources() if file.is_file() and not MADE & {*file.parts}]
    tag = f"localhost/refdesk:{hash_files(sources, _base_hash())}"
    if not has_image(tag):
        wheels = ROOT / ".cache" / "wheels" / arch
        fetch = (sys.executable, str(ROOT / "deploy" / "fetch_wheels.py"), "--arch", arch, "--into", str(wheels))
        _run(fetch, FETCH_SECONDS, "the image's wheels could not be fetched")
        arguments = {"BASE_IMAGE": _tag(base), "WHEELS": str(wheels.relative_to(ROOT))}
        build_image(tag, ROOT / "deploy" / "Dockerfile", ROOT, arguments)
    return Image("localhost/refdesk", "test", archive(tag, "localhost/refdesk:test"))


def build_opensearch() -> Image:
    """The node that the tests on engines run, in an image."""
    node = build_node()
    recipe, entrypoint = RECIPES / "opensearch.Containerfile", RECIPES / "opensearch-entrypoint.sh"
    tag = hash_files([recipe, entrypoint], node.folder.name, JAVA_MODULES, _base_hash())
    if has_image(f"localhost/opensearch:{tag}"):
        return Image(
            "localhost/opensearch", "test", archive(f"localhost/opensearch:{tag}", "localhost/opensearch:test")
        )
    with TemporaryDirectory(dir=HOME) as name:
        java = Path(name) / "java"
        _link_java(node.java, java)
        files = {"java": java, "node": node.folder, "entrypoint.sh": entrypoint}
        return _build("opensearch", tag, recipe, files, {"BASE_IMAGE": _tag(build_base())}, "test")


def build_nats() -> Image:
    """The nats-server of the package, in an image."""
    binary = Path(find_binary())
    recipe, entrypoint = RECIPES / "nats.Containerfile", RECIPES / "nats-entrypoint.sh"
    tag = hash_files([recipe, entrypoint, binary], _base_hash())
    files = {"nats-server": binary, "entrypoint.sh": entrypoint}
    return _build("nats", tag, recipe, files, {"BASE_IMAGE": _tag(build_base())}, "test")


def _build(
    name: str, digest: str, recipe: Path, files: Mapping[str, Path], arguments: Mapping[str, str], tag: str
) -> Image:
    """Builds `recipe` in a folder of just these files."""
    built, final = f"localhost/{name}:{digest}", f"localhost/{name}:{tag}"
    if not has_image(built):
        HOME.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=HOME) as context:
            for place, source in files.items():
                if source.is_dir():
                    shutil.copytree(source, Path(context) / place, symlinks=True)
                else:
                    shutil.copy2(source, Path(context) / place)
            build_image(built, recipe, Path(context), arguments)
    return Image(f"localhost/{name}", tag, archive(built, final))


def _tag(base: Image) -> str:
    return f"{base.repository}:{_base_hash()}"


def _base_hash() -> str:
    return hash_files([RECIPES / "base.Containerfile"], SUITE, PACKAGES, _arch())


def _bootstrap() -> Path:
    """A tar of Debian's files."""
    install_packages()
    HOME.mkdir(parents=True, exist_ok=True)
    tar = HOME / f"debian-{_base_hash()}.rootfs"
    with locked(HOME / "debian.lock"):
        if tar.exists():
            return tar
        with TemporaryDirectory(dir=HOME) as name:
            root = Path(name) / "root"
            command = ("nice", "debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root))
            _run((*command, _mirror()), BOOTSTRAP_SECONDS, "debootstrap failed")
            for rest in ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/man"):
                shutil.rmtree(root / rest, ignore_errors=True)
            part = tar.with_suffix(".part")
            packed = ("tar", "--numeric-owner", "--exclude=./dev/*", "--exclude=./proc/*", "--exclude=./sys/*")
            _run((*packed, "-C", str(root), "-cf", str(part), "."), BOOTSTRAP_SECONDS, "tar failed")
            part.rename(tar)
    return tar


def _mirror() -> str:
    """Where this machine's own packages come from. Raises: CannotStart."""
    asked = (
        "apt-get",
        "indextargets",
        "--format",
        "$(REPO_URI) $(COMPONENT) $(CODENAME)",
        "Created-By: Packages",
    )
    for line in _run(asked, 60, "apt-get knows no mirror").splitlines():
        uri, component, codename = line.split()
        if component == "main" and codename == SUITE:
            return uri
    raise CannotStart(f"apt has no mirror with {SUITE}'s main packages, which the base image is made of")


def _link_java(java: str, into: Path) -> None:
    """A small Java of the machine's JDK."""
    jlink = Path(java).with_name("jlink")
    if not jlink.exists():
        raise CannotStart(f"there is no jlink beside {java}: install a whole JDK (Debian: openjdk-17-jdk-headless)")
    options = ("--no-header-files", "--no-man-pages", "--strip-java-debug-attributes")
    command = ("nice", str(jlink), "--add-modules", JAVA_MODULES, *options, "--output", str(into))
    _run(command, BOOTSTRAP_SECONDS, "jlink failed")


def _refdesk_sources() -> list[Path]:
    deploy = ROOT / "deploy"
    named = [
        deploy / "Dockerfile",
        deploy / "image.lock",
        *(ROOT / name for name in ("requirements.lock", "pyproject.toml")),
    ]
    return [*named, *(deploy / "models").iterdir(), *(ROOT / "services").rglob("*")]


def _arch() -> str:
    machine = subprocess.run(("uname", "-m"), capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    return ARCHES.get(machine, machine)


def _run(command: tuple[str, ...], seconds: float, failure: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise CannotStart(f"{failure}: it took more than {seconds:g} s") from None
    if done.returncode != 0:
        raise CannotStart(f"{failure}: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout
