"""A nats-server with JetStream on a free loopback port; knows nothing of streams."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from refdesk.errors import Unavailable
from refdesk.ingest.events.nats_server import find_binary
from servers.process import CannotStart, ServerProcess

READY_SECONDS = 20.0


class NatsProcess:
    """One server; its streams stand in `folder`, and a server started there again goes on from them.

    `config` is what is to be said in a file besides: who may come in, and how.
    """

    def __init__(self, folder: Path, config: str = "") -> None:
        self._folder = folder
        self._config = config
        self._port = "-1"
        self._process: ServerProcess | None = None
        self.url = ""
        """nats://host:port once it is ready; another one after every start."""

    @property
    def process(self) -> ServerProcess:
        """The process, to pause or to kill. Raises: CannotStart where none was started."""
        if self._process is None:
            raise CannotStart("this nats-server was not started")
        return self._process

    def start(self) -> None:
        """Starts it and waits until it takes connections. Raises: CannotStart with one line that says what to do."""
        try:
            binary = find_binary()
        except Unavailable as error:
            raise CannotStart(error.message) from None
        self._folder.mkdir(parents=True, exist_ok=True)
        for stale in self._folder.glob("*.ports"):
            stale.unlink()
        folder = str(self._folder.resolve())
        command = (binary, "-a", "127.0.0.1", "-p", self._port, "-js", "-sd", folder, "--ports_file_dir", folder)
        if self._config:
            self.configure(self._config)
            command = (*command, "-c", str(self.config_path))
        self._process = ServerProcess(command, self._folder / "nats-server.log")
        try:
            self.url = self._process.wait_until(self._ready, READY_SECONDS)
        except CannotStart as error:
            raise CannotStart(f"nats-server did not start: {error}") from None

    @property
    def config_path(self) -> Path:
        """Its configuration, where it has one."""
        return self._folder / "nats-server.conf"

    def configure(self, config: str) -> None:
        """Writes another configuration, which it reads at its next start, or at a SIGHUP."""
        self.config_path.write_text(config, encoding="utf-8")

    def restart_at(self, url: str) -> None:
        """Starts it again where clients still look for it. Raises: CannotStart."""
        self._port = url.rpartition(":")[2]
        self.start()

    def stop(self) -> None:
        """Ends it; what was acknowledged is kept."""
        if self._process is not None:
            self._process.stop()

    def _ready(self) -> str:
        for file in self._folder.glob("*.ports"):
            with contextlib.suppress(OSError, ValueError, LookupError):  # written halfway: look again
                return str(json.loads(file.read_text(encoding="utf-8"))["nats"][0])
        return ""
