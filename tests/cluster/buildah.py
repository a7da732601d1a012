"""buildah, with a storage of its own in the user's cache folder, and the archives that it makes; knows nothing of what is in an image."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cluster.programs import locked
from servers.node_build import cache_folder
from servers.process import CannotStart

BUILD_SECONDS = 1500
HOME = cache_folder() / "cluster" / "images"
REFERENCE = "org.opencontainers.image.ref.name"
NAME = "io.containerd.image.name"


def run_buildah(*arguments: str) -> str:
    """What it prints. Raises: CannotStart with its last words."""
    storage = ("--root", str(HOME / "storage"), "--runroot", str(HOME / "run"))
    environment = {**os.environ, "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "overlay"}
    try:
        done = subprocess.run(
            ("nice", "buildah", *storage, *arguments),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise CannotStart(f"buildah {arguments[0]} took more than {BUILD_SECONDS} s") from None
    if done.returncode != 0:
        raise CannotStart(f"buildah {' '.join(arguments[:2])} failed: {done.stderr.strip()[-1500:]}")
    return done.stdout


def has_image(tag: str) -> bool:
    """Whether it was built already."""
    return tag in run_buildah("images", "--format", "{{.Name}}:{{.Tag}}").splitlines()


def build_image(tag: str, containerfile: Path, context: Path, arguments: Mapping[str, str] | None = None) -> None:
    """Builds it, unless it was built. Raises: CannotStart."""
    HOME.mkdir(parents=True, exist_ok=True)
    with locked(HOME / "build.lock"):
        if has_image(tag):
            return
        given = [part for name, value in (arguments or {}).items() for part in ("--build-arg", f"{name}={value}")]
        run_buildah("bud", "--layers", "--quiet", *given, "-t", tag, "-f", str(containerfile), str(context))


def archive(tag: str, name: str) -> Path:
    """An archive of an image that was built, in which its name is `name`: what containerd imports.

    Archives of other builds of the same name are removed. Raises: CannotStart.
    """
    file = HOME / f"{tag.rpartition('/')[2].replace(':', '-')}.tar"
    with locked(HOME / "archive.lock"):
        if file.exists():
            return file
        for old in HOME.glob(f"{tag.rpartition('/')[2].rpartition(':')[0]}-*.tar"):
            old.unlink()
        part = file.with_suffix(".part")
        part.unlink(missing_ok=True)
        run_buildah("push", "--quiet", "--disable-compression", tag, f"docker-archive:{part}:{name}")
        part.rename(file)
    return file


def sibling(original: Path, name: str, environment: Mapping[str, str]) -> Path:
    """An archive of the same image with other environment and another name; its layers stand only in the original, to be imported first."""
    file = original.with_name(f"{original.stem}+{hashlib.sha256(name.encode()).hexdigest()[:8]}.tar")
    with tarfile.open(original) as tar:
        described = _read(tar, "manifest.json")[0]
        config = _read(tar, described["Config"])
        layers = [tar.getmember(layer) for layer in described["Layers"]]
        sizes = [tar.getmember(one.linkname).size if one.issym() else one.size for one in layers]
    config["config"].setdefault("Env", []).extend(f"{key}={value}" for key, value in environment.items())
    media = "application/vnd.oci.image"
    blobs = [_blob(config)]
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{media}.manifest.v1+json",
        "config": _describe(blobs[0], f"{media}.config.v1+json"),
        "layers": [
            {"mediaType": f"{media}.layer.v1.tar", "digest": digest, "size": size}
            for digest, size in zip(config["rootfs"]["diff_ids"], sizes, strict=True)
        ],
    }
    blobs.append(_blob(manifest))
    pointer = {
        **_describe(blobs[1], f"{media}.manifest.v1+json"),
        "annotations": {REFERENCE: name.rpartition(":")[2], NAME: name},
    }
    index = {"schemaVersion": 2, "manifests": [pointer]}
    files = [("oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode()), ("index.json", _blob(index))]
    _write(file, [*files, *((f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob) for blob in blobs)])
    return file


def hash_files(files: Iterable[Path], *more: str) -> str:
    """Of their contents and names, and of what else makes a build."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    digest.update("\0".join(more).encode())
    return digest.hexdigest()[:16]


def _read(tar: tarfile.TarFile, name: str) -> Any:
    file = tar.extractfile(name)
    assert file is not None, f"the archive has no {name}"
    return json.loads(file.read())


def _blob(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _describe(blob: bytes, media: str) -> dict[str, Any]:
    return {"mediaType": media, "digest": f"sha256:{hashlib.sha256(blob).hexdigest()}", "size": len(blob)}


def _write(file: Path, members: Iterable[tuple[str, bytes]]) -> None:
    with tarfile.open(file, "w") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
