"""`make engines` and `make engines-stop`: one OpenSearch and one nats-server in the background, for a developer to try things on."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time

import psutil

from servers.nats import NatsProcess
from servers.node_build import cache_folder
from servers.opensearch import READY_SECONDS, OpenSearchServer
from servers.process import LOOK_SECONDS, STOP_SECONDS, CannotStart

FOLDER = cache_folder() / "engines"
STATE = FOLDER / "running.json"
FAILURE = FOLDER / "failure.txt"
BUILD_SECONDS = 600.0


def start() -> str:
    """Starts both unless they run, and returns the lines that say where. Raises: CannotStart."""
    if _running() is None:
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        with (FOLDER / "engines.log").open("wb") as log:
            keeper = subprocess.Popen(
                (sys.executable, "-m", "servers.engines", "keep"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        _wait_for(keeper)
    state = json.loads(STATE.read_text(encoding="utf-8"))
    return (
        f"OpenSearch {state['version']}  {state['opensearch']}\nnats-server        {state['nats']}\n"
        f"data and logs      {FOLDER} (gone after make engines-stop)"
    )


def stop() -> str:
    """Ends both and forgets their data. Raises: CannotStart where they do not end."""
    keeper = _running()
    if keeper is None:
        return "no engines run"
    keeper.terminate()
    try:
        keeper.wait(3 * STOP_SECONDS)
    except psutil.TimeoutExpired:
        raise CannotStart(f"the engines do not end; process {keeper.pid} keeps them") from None
    return "engines stopped"


def keep() -> None:
    """In the background process: holds both until it is told to end; they end with it in any case."""
    opensearch, nats = OpenSearchServer(FOLDER / "opensearch"), NatsProcess(FOLDER / "nats")
    try:
        opensearch.start()
        nats.start()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})  # not before: children inherit it
        _write_state(opensearch, nats)
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
    except CannotStart as error:
        FAILURE.write_text(str(error), encoding="utf-8")
        raise
    finally:
        nats.stop()
        opensearch.stop()
    shutil.rmtree(FOLDER, ignore_errors=True)


def _write_state(opensearch: OpenSearchServer, nats: NatsProcess) -> None:
    own = psutil.Process()
    state = {
        "pid": own.pid,
        "started": own.create_time(),
        "version": opensearch.version,
        "opensearch": opensearch.url,
        "nats": nats.url,
    }
    part = STATE.with_suffix(".part")
    part.write_text(json.dumps(state), encoding="utf-8")
    part.rename(STATE)


def _running() -> psutil.Process | None:
    """The process that keeps them: its start tells it from another one that got its number."""
    try:
        state = json.loads(STATE.read_text(encoding="utf-8"))
        process = psutil.Process(state["pid"])
        return process if process.create_time() == state["started"] else None
    except (OSError, ValueError, LookupError, psutil.Error):
        return None


def _wait_for(keeper: subprocess.Popen[bytes]) -> None:
    ends_at = time.monotonic() + BUILD_SECONDS + READY_SECONDS
    while not STATE.exists():
        if keeper.poll() is not None or time.monotonic() > ends_at:
            why = FAILURE.read_text(encoding="utf-8") if FAILURE.exists() else f"see {FOLDER / 'engines.log'}"
            raise CannotStart(f"engines did not start: {why}")
        time.sleep(LOOK_SECONDS)


def main(verb: str) -> int:
    """Does what the verb says; 1 where that failed."""
    try:
        if verb == "keep":
            keep()
            return 0
        print(start() if verb == "start" else stop())
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
