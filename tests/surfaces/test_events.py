"""Change events over HTTP: the three content modes, an answer for each event, limits, and what is told to ingest behind the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from starlette.requests import Request
from starlette.routing import Route

from fakes.pushes import PROJECT, SOURCE, project
from fakes.raw_store import PushDocstore
from fakes.waiting import until
from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.ingest.v1 import ingest_pb2
from refdesk.gateway.events import PATH, EventsEndpoint
from refdesk.gateway.http import build_app
from refdesk.gateway.readiness import Readiness
from refdesk.gateway.settings import GatewaySettings
from refdesk.source_events import TYPE_NAMES, SourceEventType

pytestmark = pytest.mark.anyio
CHANGED, PUSHED, REMOVED, LISTED = (TYPE_NAMES[kind] for kind in SourceEventType)
STRUCTURED = {"content-type": "application/cloudevents+json"}
BATCH = {"content-type": "application/cloudevents-batch+json"}
URL = f"/api/projects/{PROJECT}/events"


@dataclass
class FakeIngest:
    """Notes what it is told; `hold` keeps it from answering, `down` makes it unreachable."""

    down: bool = False
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    hints: list[tuple[str, str, list[str]]] = field(default_factory=list)
    under_way: int = 0

    async def hint_documents(self, request: ingest_pb2.HintDocumentsRequest) -> ingest_pb2.HintDocumentsResponse:
        if self.down:
            raise errors.Unavailable("the event queue cannot be reached")
        if request.source not in (SOURCE, "docs"):
            raise errors.NotFound(f"project {request.project} has no source {request.source}")
        self.under_way += 1
        await self.hold.wait()
        self.hints.append((request.project, request.source, list(request.paths)))
        return ingest_pb2.HintDocumentsResponse(announced_count=len(request.paths))


async def allow_anybody(_request: object, _project: str) -> None:
    """As on loopback."""


class Desk:
    """A gateway's way in for events, over fakes."""

    def __init__(self, **settings: Any) -> None:
        self.docstore = PushDocstore()
        self.docstore.projects = {PROJECT: project(), "secret": project("secret")}
        self.ingest = FakeIngest()
        self.ingest.hold.set()
        values = {"event_max_bytes": 2000, "max_body_bytes": 10_000, "events_per_batch": 20, **settings}
        self.endpoint = EventsEndpoint(GatewaySettings(**values), self.docstore, self.ingest, allow=allow_anybody)  # type: ignore[arg-type]

    def client(self, **options: Any) -> httpx2.AsyncClient:
        async def ready() -> Readiness:
            return Readiness("")

        async def no_mcp(*_: object) -> None:
            raise AssertionError("this is not MCP")

        routes = [Route(PATH, self.endpoint.receive, methods=["POST"])]
        app = build_app(no_mcp, ready, serve_metrics=False, routes=routes)
        return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://localhost", **options)

    def kept(self, path: str, slug: str = PROJECT) -> docstore_pb2.RawDocument | None:
        return self.docstore.raw_store.records.get((slug, SOURCE, path))


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    yield desk
    await desk.endpoint.hints.close()


@pytest.fixture
async def http(desk: Desk) -> AsyncIterator[httpx2.AsyncClient]:
    async with desk.client() as client:
        yield client


def event(type: str = PUSHED, revision: int | None = 1, subject: str | None = "a.md", **members: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "specversion": "1.0",
        "id": f"{type} {subject} {revision}",
        "source": SOURCE,
        "type": type,
        "subject": subject,
        "revision": revision,
    }
    if type == PUSHED:
        made |= {"datacontenttype": "text/markdown", "data": f"# {subject} {revision}\n"}
    return {**made, **members}


def in_headers(made: dict[str, Any]) -> dict[str, str]:
    skipped = ("data", "datacontenttype")
    headers = {f"ce-{name}": str(value) for name, value in made.items() if name not in skipped and value is not None}
    return {**headers, "content-type": made.get("datacontenttype", "")}


async def batch(http: httpx2.AsyncClient, *events: Any) -> tuple[int, list[dict[str, Any]]]:
    answer = await http.post(URL, content=json.dumps(events), headers=BATCH)
    return answer.status_code, answer.json()["events"]


@pytest.mark.parametrize("mode", ["binary", "structured", "batch"])
async def test_a_pushed_document_is_kept_before_it_is_answered_and_ingest_is_told(
    desk: Desk, http: httpx2.AsyncClient, mode: str
) -> None:
    made = event(revision=17, title="Schlüssel", url="https://wiki/7", version="v2", kind="api", language="de")
    if mode == "binary":
        headers = in_headers({**made, "title": "Schl%C3%BCssel"})
        answer = await http.post(URL, content=made["data"], headers=headers)
    elif mode == "structured":
        answer = await http.post(URL, content=json.dumps(made), headers=STRUCTURED)
    else:
        answer = await http.post(URL, content=json.dumps([made]), headers=BATCH)
    assert answer.status_code == (200 if mode == "batch" else 202)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"events": [{"id": made["id"], "status": 202, "outcome": "stored"}]}
    record = desk.kept("a.md")
    assert record is not None
    assert (record.revision, record.content) == (17, b"# a.md 17\n")
    facts = record.facts
    assert (facts.title, facts.url, facts.version, facts.kind, facts.language) == (
        "Schlüssel",
        "https://wiki/7",
        "v2",
        "api",
        "de",
    )
    await until(lambda: desk.ingest.hints == [(PROJECT, SOURCE, ["a.md"])])


async def test_the_publishers_revision_decides_and_says_so(desk: Desk, http: httpx2.AsyncClient) -> None:
    async def push(**members: Any) -> tuple[int, str]:
        answer = await http.post(URL, content=json.dumps(event(**members)), headers=STRUCTURED)
        body = answer.json()
        return answer.status_code, body["events"][0]["outcome"] if answer.status_code < 300 else body["detail"]

    assert await push(revision=5) == (202, "stored")
    assert await push(revision=5) == (200, "unchanged")
    assert await push(revision=5, id="other") == (200, "unchanged")
    assert await push(revision=4) == (200, "older")
    assert await push(revision=5, id="another", data="# other\n") == (
        409,
        "revision 5 of a.md is known with another content: send a higher one",
    )
    assert await push(type=REMOVED, revision=6) == (202, "stored")
    assert await push(revision=5, id="late", data="# late\n") == (200, "older")
    record = desk.kept("a.md")
    assert record is not None
    assert (record.deleted, record.content) == (True, b"")


async def test_a_batch_has_an_answer_for_each_and_is_good_only_as_a_whole(desk: Desk, http: httpx2.AsyncClient) -> None:
    status, items = await batch(
        http,
        event(subject="a.md"),
        event(subject="a.md"),
        event(subject="../b.md"),
        event(subject="c.md", source="nowhere"),
        event(subject="d.md", data="x" * 2001),
        event(type="dev.refdesk.document.exploded.v1"),
        {"specversion": "1.0"},
        event(REMOVED, 3, "e.md"),
        event(CHANGED, None, "f.md"),
    )
    assert [(one["status"], one["outcome"]) for one in items] == [
        (202, "stored"),
        (200, "unchanged"),
        (400, "refused"),
        (404, "refused"),
        (413, "refused"),
        (400, "refused"),
        (400, "refused"),
        (202, "stored"),
        (202, "announced"),
    ]
    assert status == 400, "several things are wrong with it"
    assert [one["id"] for one in items[:2]] == [f"{PUSHED} a.md 1"] * 2
    assert items[6]["id"] == ""
    assert items[3]["detail"] == "project handbook has no source nowhere that takes pushes"
    assert items[4]["detail"].startswith("the event's data is larger than 2,000 bytes: split it, or raise gateway.")
    assert desk.kept("a.md") is not None
    assert desk.kept("e.md") is not None


async def test_a_batch_whose_bad_events_are_alike_has_their_status(http: httpx2.AsyncClient) -> None:
    assert (await batch(http, event(), event(subject="b.md", source="nowhere")))[0] == 404
    assert (await batch(http, event(), event(data="# other\n", id="other")))[0] == 409
    assert (await batch(http, event(), event(subject="b.md")))[0] == 200
    assert await batch(http) == (200, [])


async def test_what_may_pass_later_makes_the_whole_batch_503_and_sending_it_again_completes_it(
    desk: Desk, http: httpx2.AsyncClient
) -> None:
    desk.ingest.down = True
    events = [event(subject="a.md"), event(subject="../b.md"), event(CHANGED, None, "f.md", source="docs")]
    answer = await http.post(URL, content=json.dumps(events), headers=BATCH)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert [one["status"] for one in answer.json()["events"]] == [202, 400, 503]
    desk.ingest.down = False
    answer = await http.post(URL, content=json.dumps(events), headers=BATCH)
    assert [one["outcome"] for one in answer.json()["events"]] == ["unchanged", "refused", "announced"]
    assert "retry-after" not in answer.headers


async def test_nothing_is_acknowledged_that_docstore_has_not(desk: Desk, http: httpx2.AsyncClient) -> None:
    desk.docstore.weather.down.add("docstore")
    for content, headers in ((json.dumps(event()), STRUCTURED), (json.dumps([event(), event(subject="b")]), BATCH)):
        answer = await http.post(URL, content=content, headers=headers)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    desk.docstore.weather.down.clear()
    desk.docstore.weather.lying = 1.0  # it does what it is asked, and its answer is lost
    answer = await http.post(URL, content=json.dumps(event()), headers=STRUCTURED)
    assert answer.status_code == 503
    desk.docstore.weather.lying = 0.0
    answer = await http.post(URL, content=json.dumps(event()), headers=STRUCTURED)
    assert answer.json()["events"][0]["outcome"] == "unchanged"


async def test_a_push_does_not_wait_for_ingest_nor_fail_with_it(desk: Desk, http: httpx2.AsyncClient) -> None:
    desk.ingest.hold.clear()
    for number in range(30):
        answer = await http.post(URL, content=json.dumps(event(subject=f"{number:02}.md")), headers=STRUCTURED)
        assert answer.status_code == 202
    assert desk.ingest.under_way == 1, "one call a source is under way, whatever comes"
    desk.ingest.hold.set()
    await until(lambda: sum(len(paths) for _, _, paths in desk.ingest.hints) == 30)
    assert len(desk.ingest.hints) == 2
    desk.ingest.down = True
    answer = await http.post(URL, content=json.dumps(event(subject="z.md")), headers=STRUCTURED)
    assert answer.status_code == 202


async def test_many_pending_hints_become_one_at_everything(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refdesk.gateway.hints.MOST_PENDING", 5)
    desk.ingest.hold.clear()
    desk.endpoint.hints.give(PROJECT, SOURCE, ["first.md"])
    await until(lambda: desk.ingest.under_way == 1)
    for number in range(7):
        desk.endpoint.hints.give(PROJECT, SOURCE, [f"{number}.md"])
    desk.ingest.hold.set()
    await until(lambda: desk.ingest.hints == [(PROJECT, SOURCE, ["first.md"]), (PROJECT, SOURCE, [])])


async def test_a_hint_is_looked_at_for_any_kind_of_source_before_it_is_answered(
    desk: Desk, http: httpx2.AsyncClient
) -> None:
    status, _ = await batch(
        http,
        event(CHANGED, None, "b.md", source="docs"),
        event(CHANGED, None, "a.md", source="docs"),
        event(CHANGED, None, None, source=f"/projects/{PROJECT}/sources/{SOURCE}"),
        event(CHANGED, None, "c.md"),
    )
    assert status == 200
    assert desk.ingest.hints == [(PROJECT, "docs", ["a.md", "b.md"]), (PROJECT, SOURCE, [])]
    answer = await http.post(URL, content=json.dumps(event(CHANGED, None, source="nowhere")), headers=STRUCTURED)
    assert (answer.status_code, answer.json()["detail"]) == (404, "project handbook has no source nowhere")


async def test_a_listing_says_what_is_missing_and_ingest_looks_at_everything(
    desk: Desk, http: httpx2.AsyncClient
) -> None:
    await batch(http, event(subject="a.md"), event(subject="b.md"))
    await until(lambda: len(desk.ingest.hints) == 1)
    documents = [{"path": "a.md", "revision": 1}, {"path": "new.md"}]
    listing = event(LISTED, 9, None, data={"documents": documents})
    answer = await http.post(URL, content=json.dumps(listing), headers=STRUCTURED)
    assert answer.status_code == 202
    [item] = answer.json()["events"]
    assert (item["missing"], item["missing_count"]) == (["new.md"], 1)
    await until(lambda: desk.ingest.hints[1:] == [(PROJECT, SOURCE, [])])


async def test_no_word_of_another_project_is_in_any_answer(desk: Desk, http: httpx2.AsyncClient) -> None:
    secret = event(subject="plan.md", source="/projects/secret/sources/wiki")
    answer = await http.post(URL, content=json.dumps(secret), headers=STRUCTURED)
    assert answer.status_code == 404
    assert desk.kept("plan.md", "secret") is None
    strange = [
        await http.post(url, content=json.dumps(event(source=source)), headers=STRUCTURED)
        for url, source in ((URL, "nowhere"), (URL, "docs"), ("/api/projects/nobody/events", "wiki"))
    ]
    assert [one.status_code for one in strange] == [404] * 3
    details = [one.json()["detail"] for one in strange]
    assert details == [
        "project handbook has no source nowhere that takes pushes",
        "project handbook has no source docs that takes pushes",
        "project nobody has no source wiki that takes pushes",
    ]


async def test_what_is_too_large_is_refused_with_what_to_do(desk: Desk, http: httpx2.AsyncClient) -> None:
    answer = await http.post(URL, content=b"x" * 10_001, headers=STRUCTURED)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
    assert answer.json()["detail"] == (
        "the request is larger than 10,000 bytes: split it, or raise gateway.max_body_bytes"
    )
    made = event(data="x" * 2001)
    answer = await http.post(URL, content=made["data"], headers=in_headers(made))
    assert answer.status_code == 413
    answer = await http.post(URL, content=json.dumps([event(id=str(n)) for n in range(21)]), headers=BATCH)
    assert answer.status_code == 413
    assert "21 events: send at most 20" in answer.json()["detail"]
    assert desk.docstore.raw_store.records == {}


@pytest.mark.parametrize(
    ("content", "headers", "complaint"),
    [
        ("{}", {"content-type": "application/json"}, "the request is no CloudEvent"),
        ("", {}, "the request is no CloudEvent"),
        ("{", STRUCTURED, "not JSON"),
        ("{}", BATCH, "a batch must be a JSON array"),
        (json.dumps(event(revision=None)), STRUCTURED, "needs the attribute revision"),
        ("# A", {**in_headers(event()), "content-type": "application/x-www-form-urlencoded"}, "must be text/markdown"),
        ("# A", in_headers(event(subject="%ff", id="e")), "header ce-subject is not UTF-8"),
    ],
)
async def test_what_is_no_event_is_a_problem_that_says_what_to_do(
    desk: Desk, http: httpx2.AsyncClient, content: str, headers: dict[str, str], complaint: str
) -> None:
    answer = await http.post(URL, content=content, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert complaint in answer.json()["detail"]
    assert desk.docstore.raw_store.records == {}


async def test_pages_in_a_browser_and_strange_hosts_are_refused(desk: Desk) -> None:
    async with desk.client(headers={"origin": "https://evil.example"}) as http:
        assert (await http.post(URL, content=json.dumps(event()), headers=STRUCTURED)).status_code == 403
    async with desk.client(headers={"host": "evil.example"}) as http:
        assert (await http.post(URL, content=json.dumps(event()), headers=STRUCTURED)).status_code == 403
    assert desk.docstore.raw_store.records == {}


async def test_only_post_is_answered(http: httpx2.AsyncClient) -> None:
    answer = await http.get(URL)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_too_many_requests_at_once_are_told_to_come_back() -> None:
    desk = Desk(concurrent_pushes=1)
    desk.ingest.hold.clear()
    async with desk.client() as http:
        body = json.dumps(event(CHANGED, None))
        waiting = [asyncio.create_task(http.post(URL, content=body, headers=STRUCTURED)) for _ in range(3)]
        await until(lambda: desk.ingest.under_way == 1)
        answer = await http.post(URL, content=body, headers=STRUCTURED)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        desk.ingest.hold.set()
        assert [one.status_code for one in await asyncio.gather(*waiting)] == [202] * 3


async def test_who_may_not_publish_is_refused_before_anything_is_read() -> None:
    desk = Desk()

    async def refuse(_: Request, slug: str) -> None:
        raise errors.Unauthenticated(f"a key for {slug} is needed")

    desk.endpoint._allow = refuse
    async with desk.client() as http:
        answer = await http.post(URL, content=b"x" * 20_000, headers=STRUCTURED)
    assert (answer.status_code, answer.json()["detail"]) == (401, "a key for handbook is needed")


async def test_a_body_that_does_not_come_gives_up_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refdesk.gateway.events.BODY_SECONDS", 0.05)

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    sent: list[Any] = []
    desk = Desk(concurrent_pushes=1)
    parts = slow()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": await anext(parts), "more_body": True}

    scope = {
        "type": "http",
        "method": "POST",
        "path": URL,
        "path_params": {"project": PROJECT},
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/cloudevents+json")],
    }
    with pytest.raises(errors.InvalidArgument, match=r"did not come within 0\.05 s"):
        await desk.endpoint.receive(Request(scope, receive, send))
    async with desk.client() as http:
        assert (await http.post(URL, content=json.dumps(event()), headers=STRUCTURED)).status_code == 202
    await parts.aclose()  # type: ignore[attr-defined]
