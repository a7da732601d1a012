"""What the chart renders with every file of ci/, and with each mode of an engine, is taken by a real API server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.cluster import Cluster
from cluster.desk import CHART, VALUES, restricted_namespace

FILES = sorted((CHART / "ci").glob("*-values.yaml"))
OPERATORS = ("monitoring.coreos.com/", "gateway.networking.k8s.io/")
"""APIs of operators that are not part of Kubernetes; their objects are left out."""
MODES = {
    "bundled-qdrant": {"engines": {"qdrant": {"mode": "bundled"}}},
    "external-qdrant": {"engines": {"qdrant": {"mode": "external", "url": "qdrant+tls://qdrant.example.com:6334"}}},
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_api_server_takes_what_is_rendered_with_a_file_of_ci(cluster: Cluster, file: Path) -> None:
    dry_run(cluster, (file,), {})


@pytest.mark.parametrize("mode", MODES)
def test_the_api_server_takes_every_mode_of_qdrant(cluster: Cluster, mode: str) -> None:
    dry_run(cluster, (VALUES,), MODES[mode])


def test_the_api_server_refuses_what_is_wrong(cluster: Cluster) -> None:
    with pytest.raises(AssertionError, match="spec.replicas"):
        dry_run(cluster, (VALUES,), {}, ("replicas: 2", "replicas: -2"))


def dry_run(
    cluster: Cluster, files: tuple[Path, ...], values: dict[str, Any], spoilt: tuple[str, str] | None = None
) -> None:
    """Renders, and has the API server say what it thinks, in a namespace that takes restricted pods alone."""
    kubectl = restricted_namespace(cluster, "dry")
    given = [part for file in files for part in ("-f", str(file))]
    rendered = cluster.helm("dry").run(
        "template", "refdesk", str(CHART), *given, "-f", "-", given=yaml.safe_dump(values)
    )
    if spoilt:
        assert spoilt[0] in rendered
        rendered = rendered.replace(*spoilt)
    manifests = [one for one in yaml.safe_load_all(rendered) if one]
    own = [one for one in manifests if not one["apiVersion"].startswith(OPERATORS)]
    assert any(one["kind"] == "Deployment" for one in own)
    # A pod is looked at together with its account, which must be there.
    for name in {one["spec"]["serviceAccountName"] for one in own if one["kind"] == "Pod"}:
        kubectl.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
    done = kubectl.attempt("apply", "--server-side", "--dry-run=server", "-f", "-", given=yaml.safe_dump_all(own))
    assert done.returncode == 0, done.stderr
    assert "violate" not in done.stderr
