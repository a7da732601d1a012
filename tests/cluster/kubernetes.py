"""kubectl and helm as a test calls them, in the network of the first node; knows nothing of refdesk."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND_SECONDS = 120.0
Manifest = dict[str, Any]


class Failed(AssertionError):
    """A command that failed: what it was, and what it said."""


@dataclass(frozen=True)
class Program:
    """A program that is given to the API server by its environment."""

    command: tuple[str, ...]
    environment: Mapping[str, str]

    def run(self, *arguments: str, given: str = "", seconds: float = COMMAND_SECONDS) -> str:
        """What it prints. Raises: Failed with what it said."""
        done = self.attempt(*arguments, given=given, seconds=seconds)
        if done.returncode != 0:
            raise Failed(f"{Path(self.command[-1]).name} {' '.join(arguments)}: {(done.stderr or done.stdout)[-4000:]}")
        return done.stdout

    def attempt(
        self, *arguments: str, given: str = "", seconds: float = COMMAND_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """The same, where failing is one of the things that may happen."""
        return subprocess.run(
            (*self.command, *arguments),
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
            env={**os.environ, **self.environment},
        )


class Kubectl:
    """kubectl, in one namespace."""

    def __init__(self, program: Program, namespace: str = "default") -> None:
        self._program = program
        self.namespace = namespace

    def within(self, namespace: str) -> Kubectl:
        """The same in another namespace."""
        return Kubectl(self._program, namespace)

    def run(self, *arguments: str, given: str = "", seconds: float = COMMAND_SECONDS) -> str:
        """What it prints. Raises: Failed."""
        return self._program.run("--namespace", self.namespace, *arguments, given=given, seconds=seconds)

    def attempt(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """The same, where failing is one of the things that may happen."""
        return self._program.attempt("--namespace", self.namespace, *arguments, given=given)

    def apply(self, *manifests: Manifest, dry_run: bool = False) -> None:
        """Applies them; with `dry_run` the API server only says what it thinks. Raises: Failed."""
        self.apply_text("\n---\n".join(json.dumps(manifest) for manifest in manifests), dry_run=dry_run)

    def apply_text(self, manifests: str, *, dry_run: bool = False) -> None:
        """Applies manifests in YAML. Raises: Failed."""
        dry = ("--dry-run=server",) if dry_run else ()
        self.run("apply", "--server-side", "--force-conflicts", *dry, "-f", "-", given=manifests)

    def get(self, *what: str) -> Manifest:
        """One object, or a list with `items`. Raises: Failed."""
        return dict(json.loads(self.run("get", *what, "-o", "json")))

    def items(self, *what: str) -> list[Manifest]:
        """The objects of a list. Raises: Failed."""
        return list(self.get(*what)["items"])

    def wait(self, condition: str, *what: str, seconds: float = COMMAND_SECONDS) -> None:
        """Waits until the condition holds of them all. Raises: Failed."""
        self.run("wait", f"--for={condition}", *what, f"--timeout={seconds:g}s", seconds=seconds + 10)

    def exec(self, pod: str, *command: str, seconds: float = COMMAND_SECONDS) -> str:
        """What a command prints in a pod. Raises: Failed."""
        return self.run("exec", pod, "--", *command, seconds=seconds)

    def logs(self, *what: str) -> str:
        """What pods have printed. Raises: Failed."""
        return self.run("logs", *what)


class Helm:
    """helm, in one namespace."""

    def __init__(self, program: Program, namespace: str) -> None:
        self._program = program
        self._namespace = namespace

    def run(self, *arguments: str, given: str = "", seconds: float = COMMAND_SECONDS) -> str:
        """What it prints. Raises: Failed."""
        return self._program.run("--namespace", self._namespace, *arguments, given=given, seconds=seconds)

    def attempt(self, *arguments: str, given: str = "", seconds: float = COMMAND_SECONDS) -> tuple[int, str]:
        """Its exit code and what it said, where failing is one of the things that may happen."""
        done = self._program.attempt("--namespace", self._namespace, *arguments, given=given, seconds=seconds)
        return done.returncode, done.stdout + done.stderr

    def template(self, chart: Path, *arguments: str, values: Sequence[Path] = ()) -> str:
        """The manifests of a chart. Raises: Failed."""
        files = [part for file in values for part in ("-f", str(file))]
        return self.run("template", "refdesk", str(chart), *files, *arguments)
