"""What the desks of the golden transcripts hold: the documents of the references' examples, under the references' own names and ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.settings import GatewaySettings
from surfaces import notes_desk, procedures_desk, site_desk
from surfaces.desks import Desk, handbook
from surfaces.fakes import GENERATION, FakeDocstore, FakeSearch, Part, hit, leg, make_document

LEXICAL, SEMANTIC = search_api.LEG_KIND_LEXICAL, search_api.LEG_KIND_SEMANTIC
PAGE_ID = "8f0f3f2a-4a1e-4c0e-9c1d-7b2f0a6a5e11"
BLOG_ID = "77ae3f3d-0000-4000-8000-000000000007"
OPERATION_IDS = ("5d1c6b1e-0000-4000-8000-000000000005", "5d1c6b1e-0000-4000-8000-000000000006")
SPEC_ID = "5d1c6b1e-0000-4000-8000-000000000008"
SPEC = 'openapi: 3.0.3\ninfo: {title: Users, version: "1"}\npaths: {}\n'
ADDRESSES = {
    "docs": "/mcp/handbook/docs",
    "site": f"/mcp/{site_desk.PROJECT}/site",
    "procedures": procedures_desk.ADDRESS,
    "notes": "/mcp/default/notes",
}


def make_desk(surface: str, holds: dict[str, Any]) -> Desk:
    """The desk of a transcript."""
    makers = {
        "docs": make_docs_desk,
        "site": make_site_desk,
        "procedures": make_procedures_desk,
        "notes": make_notes_desk,
    }
    return makers[surface](**holds)


def make_docs_desk(pages: str, stats_versions: Sequence[str] = ()) -> Desk:
    """One of the libraries below, and what a search finds in it."""
    documents = LIBRARIES[pages]()
    desk = Desk(docstore=FakeDocstore(documents, handbook()), settings=GatewaySettings(catalog_seconds=0))
    desk.search = FakeSearch(
        leg(LEXICAL, FOUND_BY_WORDS.get(pages, ())), leg(SEMANTIC, FOUND_BY_MEANING.get(pages, ()))
    )
    if pages == "keys":  # so that no room is left for a neighbour
        desk.settings = GatewaySettings(catalog_seconds=0, search_max_result_chars=1000)
    if pages == "topics":
        desk.docstore.stats = docstore_api.GetStatsResponse(document_count=84, chunk_count=412)
    if pages == "install":
        declared = [("handbook", "folder"), ("api-repo", "git")]
        del desk.docstore.project.sources[:]
        desk.docstore.project.sources.extend(docstore_api.Source(name=name, kind=kind) for name, kind in declared)
    if pages == "another model":
        desk.docstore.stats = docstore_api.GetStatsResponse(
            document_count=3, other_generation_count=3, other_generations=["multilingual-e5-small.c1"]
        )
    if stats_versions:
        desk.docstore.stats = docstore_api.GetStatsResponse(
            document_count=1,
            chunk_count=1,
            versions=stats_versions,
            sources=[docstore_api.SourceStats(source="handbook")],
        )
    return desk


def _keys() -> list[docstore_api.Document]:
    rotation = (
        "Rotate the signing key by generating a new pair with `keytool`, publishing the public\n"
        "half to the JWKS endpoint, and keeping the previous key active for 24 hours"
    )
    keys = [
        Part(("Runbooks", "Signing keys", "Rotation"), rotation),
        Part(("Runbooks", "Signing keys", "Afterwards"), "later " * 200),
    ]
    policy = [Part(("Security",), "general " * 200), Part(("Security", "Key material"), "Key material is secret.")]
    team = "Ask the platform team. " * 20 + "Or its lead."
    return [
        make_document("runbooks/keys.md", "Runbooks", keys),
        make_document("security/policy.md", "Security", policy),
        make_document("handbook/team.md", "Team", [Part((), team)]),
    ]


def _topics() -> list[docstore_api.Document]:
    auth = [Part(("Authentication",), "Every call carries a token."), *(Part((), f"Rule {n}.") for n in range(1, 12))]
    return [
        make_document("policies/onboarding.md", "Onboarding", [Part((), "x")] * 9),
        make_document("policies/travel.md", "Travel policy", [Part((), "x")] * 4),
        make_document("api/reference/auth.md", "Authentication", auth),
        make_document("notion/one.md", "One", [Part((), "x")]),
    ]


def _halyard() -> list[docstore_api.Document]:
    text = "Set HALYARD_DISPATCH_TIMEOUT to 30 seconds."
    return [make_document("handbook/operations/dispatch.md", "Dispatch", [Part((), text)])]


def _install() -> list[docstore_api.Document]:
    return [make_document(f"{source}/install.md", "Install", [Part((), "x")]) for source in ("handbook", "api-repo")]


def _guide() -> list[docstore_api.Document]:
    parts = [
        Part(("Guide",), "Read this first."),
        Part(("Guide", "Install"), "Choose a way."),
        Part(("Guide", "Install", "Docker"), "Pull the image."),
        Part(("Guide", "Install", "Docker", "Volumes"), "Mount one."),
        Part(("Guide", "Use"), "Ask."),
    ]
    return [make_document("handbook/guide.md", "Guide", parts)]


LIBRARIES: dict[str, Any] = {
    "keys": _keys,
    "topics": _topics,
    "halyard": _halyard,
    "poor": _halyard,
    "install": _install,
    "guide": _guide,
    "nothing": list,
    "another model": _halyard,
}
DISPATCH = "handbook/operations/dispatch.md#0"
FOUND_BY_MEANING = {
    "keys": [
        hit("runbooks/keys.md#0", cosine=0.8712),
        hit("security/policy.md#1", cosine=0.8421),
        hit("handbook/team.md#0", cosine=0.7),
    ],
    "poor": [hit(DISPATCH, cosine=0.3)],
}
FOUND_BY_WORDS = {
    "halyard": [hit(DISPATCH, coverage=1.0, whole=True)],
    "poor": [hit(DISPATCH, cosine=0.3, coverage=0.2)],
}


def make_site_desk(found: str = "", *, menu: bool = False, operation: str = "", spec: bool = False) -> Desk:
    """The site of the reference. `found`: what a search finds; `operation`: the API has this one alone, at its root."""
    desk = site_desk.make_desk()
    documents = {document.path: document for document in desk.docstore.documents}
    at = "https://api.example.com"
    _rename(documents["docs/getting-started/authentication.md"], PAGE_ID)
    _rename(documents["blog/why.md"], BLOG_ID)
    _rename(documents["api-v2/users/list.md"], OPERATION_IDS[1], f"{at}/v2/users/list/")
    if operation:
        page = site_desk.make_page("api-v1/list.md", "GET /users", "Lists users.", kind="api")
        _rename(page, OPERATION_IDS[0], f"{at}/v1/list/")
        desk.docstore.documents = [one for one in desk.docstore.documents if one.source != "api-v1"] + [page]
    if menu:
        entries = [
            docstore_api.MenuNode(title="Sign in", page="getting-started/authentication"),
            docstore_api.MenuNode(title="Gone", page="gone.md"),
        ]
        nodes = [
            docstore_api.MenuNode(title="Start", href="https://example.com/cleared", children=entries),
            docstore_api.MenuNode(title="Status", href="https://status.example.com/?a=1&b=%20"),
        ]
        desk.docstore.menus["docs"] = docstore_api.Menu(nodes=nodes)  # type: ignore[attr-defined]
    if spec:
        desk.docstore.documents.append(_spec(f"{at}/v1/openapi.yaml"))
    if found == "authentication":
        desk.search = _found_with_score_of_81(desk)
    if found == "users":
        desk.search.paths = ["api-v1/users/list.md", "api-v2/users/list.md"]  # type: ignore[attr-defined]
    return desk


def _rename(document: docstore_api.Document, document_id: str, url: str = "") -> None:
    document.document_id = document_id
    document.url = url or document.url


def _spec(url: str) -> docstore_api.Document:
    document = docstore_api.Document(
        document_id=SPEC_ID, source="api-v1", path="api-v1/openapi.yaml", title="Users", kind="spec", url=url, text=SPEC
    )
    document.heads.add(generation=GENERATION, swept=True)
    return document


def _found_with_score_of_81(desk: Desk) -> FakeSearch:
    """First by words and eighth by meaning: (11/11 + 11/18) / 2 of the best possible."""
    others = [site_desk.make_page(f"docs/other-{number}.md", "Other", "Other.") for number in range(7)]
    desk.docstore.documents += others
    page = hit("docs/getting-started/authentication.md#0", cosine=0.8, coverage=0.8)
    before = [hit(f"{other.path}#0", cosine=0.9) for other in others]
    return FakeSearch(leg(LEXICAL, [page]), leg(SEMANTIC, [*before, page]))


def make_procedures_desk(
    pins: Sequence[str] = (), hits: Sequence[str] = (), many: int = 0, *, empty: bool = False
) -> Desk:
    """Three documents; with `many` so many more, of which a search finds the first twelve."""
    desk = procedures_desk.make_desk(pins=tuple(pins), hits=tuple(hits), empty=empty)
    if many:
        made = [
            make_document(f"policies/case-{number:03}.md", f"Case {number}", [Part(("What to do",), "Do it.")])
            for number in range(many)
        ]
        for number, document in enumerate(made):
            document.document_id = f"{number:08x}-0000-4000-8000-000000000000"
        desk.docstore.documents = made
        found = [hit(f"{document.path}#0", cosine=0.9, coverage=0.9) for document in made[:12]]
        desk.search = FakeSearch(leg(LEXICAL, found), leg(SEMANTIC, found))
    return desk


def make_notes_desk(found: dict[str, Sequence[str]] | None = None) -> Desk:
    """The collections of the reference; `found`: what each sub-query lists, by its text."""
    return notes_desk.make_desk(found or {})
