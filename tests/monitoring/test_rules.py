"""Prometheus' own tools read the rules, and say of made-up series what would be raised."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from monitoring.debian import find_program
from monitoring.rules import ALERT_FILES, read_rules
from servers.process import CannotStart

FOLDER = Path(__file__).resolve().parent
STORIES = sorted(FOLDER.glob("*.test.yaml"))
SECONDS = 300


@pytest.fixture(scope="module")
def promtool() -> str:
    try:
        return find_program("promtool", "prometheus")
    except CannotStart as error:
        pytest.fail(str(error))


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_can_read_every_rule(promtool: str) -> None:
    said = run(promtool, "check", "rules", "--lint-fatal", *map(str, ALERT_FILES))
    assert sum(int(number) for number in re.findall(r"(\d+) rules found", said)) == len(read_rules())


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_each_story_raises_what_it_says_and_nothing_else(promtool: str, story: Path) -> None:
    assert "SUCCESS" in run(promtool, "test", "rules", story.name)


def test_the_stories_raise_every_alert_and_each_time_name_all_that_is_firing() -> None:
    told = "\n".join(story.read_text(encoding="utf-8") for story in STORIES)
    assert set(re.findall(r'alertname="(\w+)"', told)) == {rule["alert"] for rule in read_rules() if "alert" in rule}
    assert set(re.findall(r"- expr: (.*)", told)) == {'ALERTS{alertstate="firing"}'}
