"""A server as a child process that never outlives this one; knows nothing of what it serves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from refdesk.ingest.events import tether

LOOK_SECONDS = 0.05
STOP_SECONDS = 30.0


class CannotStart(Exception):
    """One line: what is missing or failed, and what to do."""


class ServerProcess:
    """A program that runs until it is stopped, or until this process ends in whatever way.

    Start it on a thread that stays: Linux counts the end of the thread that started it as the end of the parent.
    """

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                (sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), *command),
                stdin=subprocess.PIPE,  # its end tells where the kernel does not
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,  # ctrl-C is for the tests, which stop it afterwards
            )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def wait_until(self, ready: Callable[[], str], seconds: float) -> str:
        """What `ready` returns once that is not empty; asked again and again.

        Raises: CannotStart where the program ended or time is up; it is stopped then.
        """
        ends_at = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < ends_at:
            found = ready()
            if found:
                return found
            time.sleep(LOOK_SECONDS)
        ended = self._process.poll() is not None
        self.stop()
        raise CannotStart(f"{'it ended at once' if ended else f'not ready after {seconds:g} s'}; see {self.log}")

    def pause(self) -> None:
        """Stops it where it is: connections stay open and nothing is answered."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Lets it go on after a pause."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends it without notice."""
        self._process.kill()
        self._reap()

    def stop(self) -> None:
        """Asks it to end, and kills it where it does not. Stopping twice does no harm."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reap()

    def _reap(self) -> None:
        self._process.wait(STOP_SECONDS)
        if self._process.stdin is not None:
            self._process.stdin.close()
