"""Generates services/refdesk/api from the protos: messages, stubs, one typed Protocol a service; `--check` says if it is current."""

from __future__ import annotations

import argparse
import filecmp
import re
import sys
import tempfile
from pathlib import Path

import grpc_tools
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

PROTOS = Path(__file__).resolve().parent
API = PROTOS.parent / "services" / "refdesk" / "api"


def main() -> int:
    """Writes the generated package, or with --check exits 1 when the committed one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        built = generate(Path(folder))
        if not check:
            install(built)
            return 0
        stale = differences(built)
    for name in stale:
        print(f"services/refdesk/api is not current: {name}; run `make generate`", file=sys.stderr)
    return 1 if stale else 0


def generate(folder: Path) -> Path:
    """Runs protoc into `folder` and returns the generated api package in it."""
    files = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    descriptors = folder / "all.binpb"
    includes = [f"-I{PROTOS}", f"-I{Path(grpc_tools.__file__).parent / '_proto'}"]
    outputs = [f"--python_out={folder}", f"--pyi_out={folder}", f"--grpc_python_out={folder}"]
    if protoc.main(["protoc", *includes, *outputs, f"--descriptor_set_out={descriptors}", *files]):
        raise SystemExit("protoc refused the protos; its own words stand above")
    api = folder / "refdesk" / "api"
    for proto in descriptor_pb2.FileDescriptorSet.FromString(descriptors.read_bytes()).file:
        for service in proto.service:
            write_protocol(folder, proto, service)
    for package in (api, *sorted(path for path in api.rglob("*") if path.is_dir())):
        (package / "__init__.py").write_text('"""Generated from protos/; never edited."""\n')
    return api


def write_protocol(
    folder: Path, proto: descriptor_pb2.FileDescriptorProto, service: descriptor_pb2.ServiceDescriptorProto
) -> None:
    """Writes `<name>_protocol.py` beside the messages: what a caller of the service holds, near or far."""
    path = Path(proto.name)
    messages = f"{path.stem}_pb2"
    name = service.name.removesuffix("Service")
    lines = [
        '"""Generated from protos/; never edited."""',
        "",
        "from typing import Protocol",
        "",
        f"from {proto.package} import {messages} as pb",
        "",
        "",
        f"class {name}(Protocol):",
        f'    """What a caller of {service.name} holds: the service itself in the same process, else a client of it."""',
    ]
    for method in service.method:
        request, response = (kind.rsplit(".", 1)[1] for kind in (method.input_type, method.output_type))
        lines += ["", f"    async def {snake(method.name)}(self, request: pb.{request}) -> pb.{response}: ..."]
    (folder / path.parent / f"{path.stem}_protocol.py").write_text("\n".join(lines) + "\n")


def snake(name: str) -> str:
    """EmbedTexts -> embed_texts."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def install(built: Path) -> None:
    """Replaces the committed package by the built one, file by file."""
    wanted = {path.relative_to(built) for path in built.rglob("*") if path.is_file()}
    for path in [path for path in API.rglob("*") if path.is_file() and "__pycache__" not in path.parts]:
        if path.relative_to(API) not in wanted:
            path.unlink()
    for name in sorted(wanted):
        target = API / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((built / name).read_bytes())


def differences(built: Path) -> list[str]:
    """Names of generated files that are missing, extra or different in the committed package."""
    wanted = {path.relative_to(built) for path in built.rglob("*") if path.is_file()}
    present = {path.relative_to(API) for path in API.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    differing = {name for name in wanted & present if not filecmp.cmp(built / name, API / name, shallow=False)}
    return sorted(str(name) for name in (wanted ^ present) | differing)


if __name__ == "__main__":
    sys.exit(main())
