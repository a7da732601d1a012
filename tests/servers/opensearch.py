"""A single OpenSearch node on a free loopback port, for as long as somebody needs it; knows nothing of indices."""

from __future__ import annotations

import contextlib
import http.client
import os
from pathlib import Path

from servers.node_build import NodeBuild, build_node
from servers.process import CannotStart, ServerProcess

READY_SECONDS = 120.0
"""It takes about 7 on an idle machine."""
HEAP = "320m"
OPTIONS = (
    f"-Xms{HEAP}",
    f"-Xmx{HEAP}",
    "-XX:+UseG1GC",
    "-XX:TieredStopAtLevel=1",  # half the CPU time of a start
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
    "-Djna.nosys=true",
    "-Dio.netty.noUnsafe=true",
    "-Dio.netty.noKeySetOptimization=true",
    "-Dio.netty.recycler.maxCapacityPerThread=0",
    "-Dlog4j.shutdownHookEnabled=false",
    "-Dlog4j2.disable.jmx=true",
)


class OpenSearchServer:
    """One node; what it keeps stands in `folder`, and a node started there again goes on from it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._build: NodeBuild | None = None
        self._process: ServerProcess | None = None
        self.address = ""
        """host:port once it is ready; another one after every start."""

    @property
    def url(self) -> str:
        """As our settings name it."""
        return f"opensearch://{self.address}"

    @property
    def version(self) -> str:
        """Of OpenSearch; known once it was started."""
        return self._build.version if self._build else ""

    @property
    def process(self) -> ServerProcess:
        """The process, to pause or to kill. Raises: CannotStart where none was started."""
        if self._process is None:
            raise CannotStart("this OpenSearch was not started")
        return self._process

    def start(self) -> None:
        """Builds it where needed, starts it and waits until it can be used.

        Raises: CannotStart with one line that says what to do.
        """
        self._build = build = build_node()
        home = self._folder.resolve()
        temporary, logs = home / "tmp", home / "logs"
        for folder in (temporary, logs):
            folder.mkdir(parents=True, exist_ok=True)
        self._ports.unlink(missing_ok=True)
        properties = (
            f"-Djava.io.tmpdir={temporary}",
            f"-Dlog4j2.configurationFile={build.folder / 'log4j2.properties'}",
        )
        classes = os.pathsep.join((str(build.folder / "classes"), str(build.folder / "lib" / "*")))
        command = (build.java, *OPTIONS, *properties, "-cp", classes, "TestNode", str(home))
        self._process = ServerProcess(command, logs / "node.log")
        try:
            self.address = self._process.wait_until(self._ready, READY_SECONDS)
        except CannotStart as error:
            raise CannotStart(f"OpenSearch {build.version} did not start: {error}") from None

    def stop(self) -> None:
        """Ends it; what was acknowledged is kept."""
        if self._process is not None:
            self._process.stop()

    @property
    def _ports(self) -> Path:
        return self._folder / "logs" / "http.ports"

    def _ready(self) -> str:
        try:
            address = self._ports.read_text(encoding="ascii").split("\n")[0]
        except OSError:
            return ""
        connection = http.client.HTTPConnection(address, timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/_cluster/health?wait_for_status=yellow&timeout=1s")
            return address if connection.getresponse().status == 200 else ""
        return ""
