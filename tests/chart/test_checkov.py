"""What checkov finds in the chart is mended or excused here, by name. It runs in an environment of its own, for its pins are not ours."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import yaml

from chart.rendering import CHART, CI, render_file

LOCK = Path(__file__).with_name("checkov.lock")
ENVIRONMENTS = CHART.parents[1] / ".cache" / "checkov"
EVERYWHERE = {
    "CKV_K8S_21": "the namespace is the release's, which Helm gives",
    "CKV_K8S_11": "a CPU limit throttles what could run; memory is limited",
    "CKV_K8S_15": "tags are releases, and a node need not ask for what it has",
    "CKV_K8S_43": "a digest is a value, image.digest: example values have one",
}
EXCUSED = {
    ("CKV_K8S_22", "opensearch"): "it keeps its keystore and its logs beside its programs",
    ("CKV_K8S_40", "opensearch"): "its image has user 1000 and no other",
    ("CKV_K8S_40", "qdrant"): "its image has user 1000 and no other",
    ("CKV_K8S_40", "nats"): "a value, engines.nats.securityContext",
    ("CKV_K8S_35", "qdrant"): "it reads its key from its environment alone",
    ("CKV_K8S_35", "nats"): "it reads its token from its environment alone",
    ("CKV_K8S_8", "test"): "the pod ends by itself",
    ("CKV_K8S_9", "test"): "the pod ends by itself",
}


def checkov() -> Path:
    """The program, installed from its lock where it is not yet."""
    folder = ENVIRONMENTS / hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    done = folder / "done"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, timeout=120)
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*install, "--no-deps", "--require-hashes", "-r", str(LOCK)], check=True, timeout=900)
        done.touch()
    return folder / "bin" / "checkov"


def test_every_finding_is_excused_and_every_excuse_is_needed(tmp_path: Path) -> None:
    for file in CI:
        if file.name.startswith("openshift"):
            continue  # the cluster gives users there, which no file says
        (tmp_path / file.name).write_text(yaml.safe_dump_all(render_file(file)), encoding="utf-8")
    command = [str(checkov()), "-d", str(tmp_path), "--framework", "kubernetes", "--skip-download", "--compact"]
    done = subprocess.run([*command, "-o", "json"], capture_output=True, text=True, timeout=300)
    report = json.loads(done.stdout)
    assert report["summary"]["passed"] > 1000
    found = set()
    for finding in report["results"]["failed_checks"]:
        if finding["check_id"] not in EVERYWHERE:
            found.add((finding["check_id"], finding["resource"].rpartition("refdesk-")[2]))
    assert found == EXCUSED.keys()
