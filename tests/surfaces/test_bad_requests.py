"""Bad input at the other doors: search box, pages, change events and commands say in one line what is wrong and what is valid."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from refdesk.cloudevents import REQUIRED
from refdesk.gateway.arguments import INTEGER, TEXTS
from refdesk.gateway.public_search import QUERY
from refdesk.source_events import FACTS
from surfaces.bad_desk import ALL, DOCUMENTS, ask, assert_one_line, make_bad_desk
from surfaces.bad_values import make_bad
from system.desks import DeskProcess, running

pytestmark = pytest.mark.slow
SECONDS = 60
SEARCH = "/api/projects/default/search?"
EVENTS = "/api/projects/default/events"
EVENT = {
    "specversion": "1.0",
    "id": "1",
    "source": "wiki",
    "type": "dev.refdesk.document.pushed.v1",
    "subject": "a.md",
    "revision": "1",
    "datacontenttype": "text/markdown",
    "time": "2026-01-02T03:04:05Z",
    "data": "# A\n",
}
Json = dict[str, Any]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    with running(make_bad_desk(tmp_path_factory.mktemp("bad"))) as desk:
        desk.wait_until_settled(DOCUMENTS)
        yield desk


def problem(answer: tuple[int, str], status: int) -> str:
    """The detail of an answer that is a problem of this status."""
    assert answer[0] == status, answer
    told = json.loads(answer[1])
    assert told["status"] == status
    return str(told["detail"])


@pytest.mark.parametrize("argument", QUERY.arguments, ids=lambda one: one.name)
def test_the_search_box_refuses_what_a_parameter_does_not_take(desk: DeskProcess, argument: Any) -> None:
    rows = [bad for bad in make_bad(argument) if isinstance(bad.value, str) and bad.what != "no list"]
    if argument.kind == TEXTS:
        rows += [bad for bad in make_bad(argument) if bad.what == "too many"]
    asked = 0
    for bad in rows:
        values = bad.value if isinstance(bad.value, list) else [bad.value]
        if argument.kind == INTEGER and bad.value == "1":
            continue  # in an address every number is a text
        given = "&".join(f"{argument.name}={quote(value)}" for value in values)
        beside = "" if argument.name == "q" else "q=words&"
        if len(given) > 60_000:
            continue
        assert_one_line(problem(ask(desk, SEARCH + beside + given), 400), *bad.says)
        asked += 1
    assert asked >= 1


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", ("search needs q", "a text of 1 to 500 characters")),
        ("q=x&q=y", ("q is given twice",)),
        ("q=x&limit=-1", ("limit must be an integer from 1 to 25",)),
        ("q=x&limit=26", ("limit must be an integer from 1 to 25",)),
        ("q=x&limit=" + "9" * 5_000, ("limit must be an integer from 1 to 25",)),
        ("q=x&set=nope", ('set: no documentation set "nope"', "handbook, shop, wiki")),
        ("q=x&set=..%2F..%0Ax", ("set: no documentation set", "handbook, shop, wiki")),
        ("q=x&page=2", ('takes no argument "page"', "q, mode, limit, set")),
        ("q=%00%0a", ("control character U+0000",)),
    ],
)
def test_the_search_box_says_what_is_valid(desk: DeskProcess, query: str, says: tuple[str, ...]) -> None:
    assert_one_line(problem(ask(desk, SEARCH + query), 400), *says)


@pytest.mark.parametrize(
    "path",
    [
        "nope.md",
        "../handbook/travel.md",
        "handbook/%2e%2e/%2e%2e/etc/passwd",
        "handbook/a%00b",
        "%ff",
        "x" * 5_000,
        "a\\b",
    ],
)
def test_a_page_that_is_not_there_is_told_alike_whatever_was_asked(desk: DeskProcess, path: str) -> None:
    detail = problem(ask(desk, f"/p/default/{path}"), 404)
    assert_one_line(detail, "there is no such page here")
    assert_one_line(problem(ask(desk, "/p/default/a%0Ab"), 404), "here")


EVENT_ROWS: list[tuple[str, Any, int, str]] = [
    ("specversion", None, 400, "the event has no specversion"),
    ("specversion", "0.3", 400, "specversion must be 1.0"),
    ("id", "", 400, "the event has no id"),
    ("id", "x" * 257, 400, "must have 1 to 256 characters"),
    ("id", "a\nb", 400, "attribute id has control characters"),
    ("source", "", 400, "the event has no source"),
    ("source", "nope", 404, "nope"),
    ("source", "../x", 404, "../x"),
    ("source", "handbook", 404, "handbook"),
    ("type", "", 400, "the event has no type"),
    ("type", "nonsense", 400, "use one of dev.refdesk.document.changed.v1"),
    ("type", ["x"], 400, "attribute type must be a text"),
    ("subject", None, 400, "the event has no subject"),
    ("subject", "../../x.md", 400, "without empty names, . and .."),
    ("subject", "a\x00.md", 400, "attribute subject has control characters"),
    ("subject", "x" * 1_025, 400, "1 to 1024 characters"),
    ("subject", "a\u2028b.md", 400, "leave them out"),
    ("revision", None, 400, "a whole number from 1"),
    ("revision", "-1", 400, "a whole number from 1"),
    ("revision", "9" * 30, 400, "a whole number from 1"),
    ("revision", 1.5, 400, "must be a text, a whole number"),
    ("datacontenttype", "text/html", 400, "must be text/markdown in UTF-8"),
    ("datacontenttype", "text/markdown; charset=latin-1", 400, "must be text/markdown in UTF-8"),
    ("time", "yesterday", 400, "as in RFC 3339"),
    ("data", "", 400, "the pushed document has no text"),
    ("data", 7, 400, "data must be a text"),
    ("data_base64", "!!", 400, "data or data_base64, not both"),
    ("title", "x" * 301, 400, "one line of at most 300 characters"),
    ("title", "a\u2028b", 400, "one line of at most 300 characters"),
    ("url", "javascript:x", 400, "must begin with https:// or http://"),
    ("version", "x" * 65, 400, "one line of at most 64 characters"),
    ("kind", "nonsense", 400, "documentation or api"),
    ("language", "english!", 400, "a code such as en"),
    ("Bad-Name", "x", 400, "must be made of a-z and 0-9"),
]


@pytest.mark.parametrize(("attribute", "value", "status", "says"), EVENT_ROWS)
def test_an_event_that_is_wrong_is_refused_alone_and_in_a_batch(
    desk: DeskProcess, attribute: str, value: Any, status: int, says: str
) -> None:
    event = {name: one for name, one in {**EVENT, attribute: value}.items() if one is not None}
    single = ask(desk, EVENTS, event, {"Content-Type": "application/cloudevents+json"})
    assert_one_line(problem(single, status), says)
    batch = ask(desk, EVENTS, [event], {"Content-Type": "application/cloudevents-batch+json"})
    assert batch[0] == status
    [item] = json.loads(batch[1])["events"]
    assert item["status"] == status
    assert_one_line(item["detail"], says)


def test_every_attribute_of_an_event_has_a_row() -> None:
    assert {*REQUIRED, *FACTS, *EVENT} - {attribute for attribute, *_ in EVENT_ROWS} == set()


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        (b"{", "application/cloudevents+json", "not JSON"),
        (b"[]", "application/cloudevents+json", "must be a JSON object"),
        (b"{}", "application/cloudevents-batch+json", "must be a JSON array"),
        (b"{}", "application/json", "send Content-Type application/cloudevents+json"),
        (b"x", "application/cloudevents+xml", "is not known; send application/cloudevents+json"),
    ],
)
def test_a_request_without_events_is_refused(desk: DeskProcess, body: bytes, kind: str, says: str) -> None:
    assert_one_line(problem(ask(desk, EVENTS, body, {"Content-Type": kind}), 400), says)


COMMAND_ROWS: list[tuple[str, str, list[str], tuple[str, ...]]] = [
    # verb, argument of the tool that it is the twin of, what is typed, what is said
    ("query", "query", [], ("missing argument", "refdesk query --help")),
    ("query", "query", [""], ("query needs searches",)),
    ("query", "query", ["x" * 2_001], ("1 to 2,000 characters",)),
    ("query", "searches", ["lex: -a"], ("searches[0]", "add a term")),
    ("query", "searches", ["lex: a\nwords"], ("every line of it begins with lex:, vec:, hyde: or intent:",)),
    ("query", "searches", ["\n".join(["lex: a"] * 11)], ("searches must be a list of 1 to 10",)),
    ("query", "limit", ["a", "-n", "101"], ("-n", "100", "refdesk query --help")),
    ("query", "limit", ["a", "-n", "many"], ("-n", "integer")),
    ("query", "minScore", ["a", "--min-score", "2"], ("--min-score", "less than or equal to 1")),
    ("query", "collections", ["a", "-c", "nope"], ("nope", "valid: handbook, shop, wiki")),
    ("query", "candidateLimit", ["a", "--candidate-limit", "0"], ("--candidate-limit", "greater than or equal to 1")),
    ("query", "intent", ["a", "--intent", "x" * 501], ("intent must be a text of 1 to 500 characters",)),
    ("query", "format", ["a", "--format", "yaml"], ("--format", "'cli', 'json', 'csv', 'md', 'xml', 'files'")),
    ("query", "project", ["a", "--project", "nope"], ("nope",)),
    ("query", "nonsense", ["a", "--nonsense"], ("no such option: --nonsense", "refdesk query --help")),
    ("get", "file", [], ("missing argument", "refdesk get --help")),
    ("get", "file", ["../../etc/passwd"], ("document not found", "../../etc/passwd")),
    ("get", "file", ["handbook/tarvel.md"], ("did you mean handbook/travel.md",)),
    ("get", "fromLine", ["handbook/travel.md", "-f", "-1"], ("-f", "greater than or equal to 0")),
    ("get", "fromLine", ["handbook/travel.md", "-f", "2000000"], ("fromLine must be an integer from 1 to 1000000",)),
    ("get", "maxLines", ["handbook/travel.md", "-l", "x"], ("-l", "integer")),
    ("multi-get", "pattern", [], ("missing argument", "refdesk multi-get --help")),
    ("multi-get", "pattern", ["../**"], ('no files match "../**"',)),
    ("multi-get", "maxBytes", ["*", "--max-bytes", "0"], ("--max-bytes", "greater than or equal to 1")),
    ("multi-get", "maxLines", ["*", "-l", "-1"], ("-l", "greater than or equal to 0")),
    ("status", "format", ["--format", "yaml"], ("--format", "'cli', 'json', 'csv', 'md', 'xml', 'files'")),
    ("status", "project", ["--format", "csv", "--project", "no\nsuch"], ("no such",)),
]
BOOLEANS = {"lineNumbers", "rerank"}
"""A flag takes nothing that could be wrong; rerank and max_tokens are not asked for on the command line."""


@pytest.mark.parametrize(("verb", "_argument", "typed", "says"), COMMAND_ROWS)
def test_a_command_that_is_wrong_is_refused_in_one_line(
    desk: DeskProcess, verb: str, _argument: str, typed: list[str], says: tuple[str, ...]
) -> None:
    command = [sys.executable, "-m", "refdesk", verb, *typed]
    environment = {**os.environ, "REFDESK_URL": desk.url}
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert_one_line(done.stderr.rstrip("\n"), "refdesk: ", *says)


def test_every_argument_of_the_twins_has_a_row() -> None:
    twins = {"query": "query", "get": "get", "multi_get": "multi-get", "status": "status"}
    wanted = {
        (twins[tool.name], one.name)
        for tool in ALL
        if tool.name in twins
        for one in tool.arguments
        if one.name not in BOOLEANS | {"max_tokens"}
    }
    assert wanted - {(verb, argument) for verb, argument, *_ in COMMAND_ROWS} == set()
