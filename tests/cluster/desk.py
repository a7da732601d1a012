"""A desk that the chart has installed: its values, its keys, what is asked of it and what is published; knows nothing of faults."""

from __future__ import annotations

import http.client
import json
import secrets
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from cluster.cluster import Cluster, wait_until
from cluster.kubernetes import Kubectl, Manifest
from system.pushing import PROJECT, Statement, write_folder

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "refdesk"
VALUES = Path(__file__).resolve().parent / "values.yaml"
RELEASE = "refdesk"
SOURCE = "wiki"
COMPONENTS = ("gateway", "ingest", "embedder", "search", "docstore")
CALL_SECONDS = 30.0
INSTALL_SECONDS = 600.0
AUDIT_SECONDS = 120.0
SETTLE_SECONDS = 120.0
Headers = dict[str, str]
RESTRICTED_POD = {
    "runAsNonRoot": True,
    "runAsUser": 10001,
    "seccompProfile": {"type": "RuntimeDefault"},
    "fsGroup": 10001,
}
"""A security context that a namespace of restricted pods takes."""


class Desk:
    """One release in a namespace of its own, which takes restricted pods alone."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.kubectl: Kubectl = cluster.kubectl.within(namespace)
        self.helm = cluster.helm(namespace)
        self._admin = secrets.token_hex(32)
        self._keys: dict[str, str] = {}

    def prepare(self) -> None:
        """Makes the namespace and the secrets that the chart's notes ask for."""
        restricted_namespace(self.cluster, self.namespace)
        self.kubectl.apply(_secret("refdesk-admin", self._admin), _secret("refdesk-sessions", secrets.token_hex(32)))

    def install(self, values: dict[str, Any] | None = None) -> None:
        """`helm install --wait`, from nothing to all ready. Raises: Failed with what kept it."""
        self._helm("install", ["--wait"], values)

    def upgrade(self, values: dict[str, Any] | None = None, *options: str) -> None:
        """`helm upgrade --wait`: the tests' values with these over them. Raises: Failed with what kept it."""
        self._helm("upgrade", ["--wait", *options], values)

    def try_upgrade(self, values: dict[str, Any], *options: str) -> tuple[int, str]:
        """The same, where failing is what is looked for: exit code and what helm said."""
        command = ("upgrade", RELEASE, str(CHART), "-f", str(VALUES), "-f", "-", *options)
        return self.helm.attempt(*command, given=yaml.safe_dump(values), seconds=INSTALL_SECONDS)

    def address(self, service: str) -> str:
        """host:port of a Service, as nodes reach it."""
        spec = self.kubectl.get("service", f"{RELEASE}-{service}")["spec"]
        return f"{spec['clusterIP']}:{spec['ports'][0]['port']}"

    def pods(self, component: str) -> list[Manifest]:
        """Those of a component that are not on their way out."""
        found = self.kubectl.items("pods", "-l", f"app.kubernetes.io/component={component}")
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def ready_pods(self, component: str) -> list[Manifest]:
        """Those that take calls."""
        return [pod for pod in self.pods(component) if is_ready(pod)]

    def make_keys(self) -> None:
        """A key to read and one to publish, as an operator makes them."""
        for scope in ("read", "publish"):
            said = self.refdesk("key", "create", "--name", f"tests {scope}", "--project", PROJECT, "--scope", scope)
            self._keys[scope] = said.split()[0]

    def refdesk(self, *arguments: str) -> str:
        """What an operator's command prints, called from a node. Raises: CalledProcessError."""
        url = f"http://{self.address('gateway-operator')}"
        command = (sys.executable, "-m", "refdesk", *arguments)
        environment = {"REFDESK_URL": url, "REFDESK_ADMIN_KEY": self._admin, "PATH": "/usr/bin:/bin"}
        return self._run(command, environment, CALL_SECONDS)

    def status(self) -> dict[str, Any]:
        """The project's status. Call it within the cluster's network."""
        request = urllib.request.Request(f"http://{self.address('gateway-operator')}/api/operator/status")
        request.add_header("Authorization", f"Bearer {self._admin}")
        with self.cluster.network(), urllib.request.urlopen(request, timeout=CALL_SECONDS) as answer:
            return dict(json.load(answer)["projects"][0])

    def wait_until_settled(self, documents: int | None = None, seconds: float = SETTLE_SECONDS) -> None:
        """Waits until words and vectors of all that was published are there. Raises: CannotStart."""

        def is_settled() -> bool:
            status = self.status()
            stats, ingest = status["stats"], status["ingest"]
            current = ingest["words_current"] and int(ingest["pending_events"]) == 0
            whole = stats["embedded_count"] == stats["embeddable_count"] and int(stats["missing_vector_count"]) == 0
            return bool(current and whole and documents in (None, int(stats["document_count"])))

        wait_until(is_settled, f"not settled: {self.status()}", seconds)

    def audit(self, expected: dict[str, str], folder: Path) -> list[str]:
        """Every difference between what must stand (path to text) and what docstore, words and vectors hold."""
        write_folder(folder, expected)
        addresses = [self._near(name) for name in ("docstore", "search")]
        command = (sys.executable, "-m", "cluster.audit", *addresses, SOURCE, str(folder))
        said = self._run(command, {"PYTHONPATH": str(ROOT / "tests"), "PATH": "/usr/bin:/bin"}, AUDIT_SECONDS)
        return [line for line in said.splitlines() if line]

    def headers(self, scope: str) -> Headers:
        """What lets a caller in."""
        return {"Authorization": f"Bearer {self._keys[scope]}"}

    def _near(self, component: str) -> str:
        """host:port of gRPC of a pod on the first node, which a node reaches whatever the network policies say."""
        near = [pod for pod in self.ready_pods(component) if pod["spec"]["nodeName"] == "node1"]
        return f"{near[0]['status']['podIP']}:9090"

    def _run(self, command: Sequence[str], environment: dict[str, str], seconds: float) -> str:
        inside = self.cluster.nodes[0].network_command(*command)
        done = subprocess.run(inside, capture_output=True, text=True, check=False, timeout=seconds, env=environment)
        assert done.returncode == 0, f"{' '.join(command[1:])}: {done.stderr[-2000:] or done.stdout[-2000:]}"
        return done.stdout

    def _helm(self, verb: str, options: Sequence[str], values: dict[str, Any] | None) -> None:
        command = (verb, RELEASE, str(CHART), "-f", str(VALUES), "-f", "-", f"--timeout={INSTALL_SECONDS:g}s", *options)
        try:
            self.helm.run(*command, given=yaml.safe_dump(values or {}), seconds=INSTALL_SECONDS + 30)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.describe()}") from None

    def describe(self) -> str:
        """What its pods are and last said, for whoever has to find out what went wrong."""
        parts = [self.kubectl.attempt("get", "pods,pvc", "-o", "wide").stdout]
        parts.append(self.kubectl.attempt("get", "events", "--sort-by=.lastTimestamp").stdout[-4000:])
        for component in (*COMPONENTS, "opensearch", "nats"):
            selected = ("-l", f"app.kubernetes.io/component={component}", "--tail=8", "--prefix", "--ignore-errors")
            parts.append(self.kubectl.attempt("logs", *selected).stdout[-2500:])
        return "\n".join(parts)


def restricted_namespace(cluster: Cluster, name: str) -> Kubectl:
    """A namespace that takes restricted pods alone."""
    labels = {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/enforce-version": "latest",
    }
    cluster.kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    kubectl = cluster.kubectl.within(name)
    wait_until(lambda: kubectl.attempt("get", "serviceaccount", "default").returncode == 0, "no service account", 30)
    return kubectl


def is_ready(pod: Manifest) -> bool:
    """Whether it takes calls."""
    conditions = pod["status"].get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def call_tool(address: str, tool: str, arguments: dict[str, Any], headers: Headers) -> dict[str, Any]:
    """The result of one call over MCP, on a connection of its own. Raises: OSError, HTTPException where it is not answered."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    asked = {
        **headers,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    status, raw = request(address, "/mcp", json.dumps(body).encode(), asked)
    if status != 200:
        return {"isError": True, "content": [{"type": "text", "text": f"{status}: {raw}"}]}
    if not raw.lstrip().startswith("{"):
        raw = next(line[5:] for line in raw.splitlines() if line.startswith("data:"))
    return dict(json.loads(raw)["result"])


def push(address: str, statement: Statement, headers: Headers) -> tuple[int, str]:
    """Status and body of one change event. Raises: OSError, HTTPException where it is not answered."""
    asked = {**headers, "Content-Type": "application/cloudevents+json"}
    return request(address, f"/api/projects/{PROJECT}/events", json.dumps(statement.envelope).encode(), asked)


def request(address: str, path: str, body: bytes, headers: Headers) -> tuple[int, str]:
    """Status and body of one POST on a connection of its own. Raises: OSError, HTTPException where it is not answered."""
    connection = http.client.HTTPConnection(address, timeout=CALL_SECONDS)
    try:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def _secret(name: str, value: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"key": value}}
