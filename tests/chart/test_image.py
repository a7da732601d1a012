"""The image's build, as far as it shows without a builder (the cluster's tests build it): offline, by hash, for a user that is not root."""

from __future__ import annotations

import re

from chart.rendering import CHART, render
from refdesk.embedder.registry import DEFAULT_MODEL

TOP = CHART.parents[1]
DOCKERFILE = (TOP / "deploy" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
LINES = [line for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]


def words(instruction: str) -> list[str]:
    return [line.removeprefix(f"{instruction} ") for line in LINES if line.startswith(f"{instruction} ")]


def test_the_base_is_an_argument_of_every_stage() -> None:
    assert LINES[0].startswith("ARG BASE_IMAGE=")
    assert [stage.split()[0] for stage in words("FROM")] == ["${BASE_IMAGE}", "${BASE_IMAGE}"]


def test_the_build_asks_no_index_and_checks_hashes() -> None:
    assert "PIP_NO_INDEX=1" in DOCKERFILE
    installs = [line for line in re.split("&&", " ".join(words("RUN"))) if " install " in line]
    assert len(installs) == 4
    locked = [line for line in installs if "--require-hashes" in line]
    others = [line for line in installs if "--require-hashes" not in line]
    assert len(locked) == 2
    assert all(line.rstrip().endswith("setuptools") or "/made/refdesk-" in line for line in others)
    assert not re.search(r"apt-get|curl|wget|gcc", DOCKERFILE)


def test_it_runs_as_the_user_that_the_chart_names() -> None:
    user, _, group = words("USER")[-1].partition(":")
    [pod] = [
        each for each in render({}) if each["kind"] == "Deployment" and each["metadata"]["name"] == "refdesk-gateway"
    ]
    context = pod["spec"]["template"]["spec"]["securityContext"]
    assert (int(user), int(group)) == (context["runAsUser"], context["runAsGroup"])
    assert int(user) > 10_000


def test_the_model_inside_is_the_one_that_the_embedder_takes_by_default() -> None:
    assert f"ARG MODEL={DEFAULT_MODEL}" in DOCKERFILE
    into = re.search(r"--into (\S+)", DOCKERFILE)
    cache = re.search(r"XDG_CACHE_HOME=(\S+)", DOCKERFILE)
    assert into is not None and cache is not None
    assert into[1] == f"{cache[1]}/refdesk/models"


def test_everything_that_is_copied_is_let_into_the_build() -> None:
    let_in = [
        line[1:] for line in (TOP / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    ]
    copied = [source for line in words("COPY") if "--from" not in line for source in line.split()[:-1]]
    for source in copied:
        source = source.replace("${WHEELS}", ".cache/wheels/amd64")
        assert any(source == place or source.startswith(f"{place}/") for place in let_in), source
