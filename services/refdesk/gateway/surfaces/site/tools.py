"""The nine tools of the site surface as clients see them: names, arguments, limits, descriptions."""

from __future__ import annotations

from dataclasses import replace

from refdesk.gateway.arguments import INTEGER, TEXT, TEXTS, Argument, Tool
from refdesk.gateway.budgets import max_tokens
from refdesk.gateway.surfaces.site import schemas

MOST_PAGES = 25

SET_ID = "A set's id, from get_site_overview or list_documentation_sets."
PAGE_BOUNDS = (
    max_tokens("Most tokens of the answer; pages beyond it are omitted, and say so."),
    Argument("from", INTEGER, "Chunk to start at, from the next of a page that was cut; with one page only."),
)  # fmt: skip


def _search(name: str, title: str, what: str, other: str) -> Tool:
    return Tool(
        name,
        title,
        f"Searches {what} only, by meaning and by words at once. Returns the mode that ran and ranked pages, each with "
        "a snippet: fetch what you need with get_pages_by_id. pageTypeIds narrows to some sets, e.g. to one version, "
        f"and never widens. For {other}.",
        (
            Argument("query", TEXT, "A question, or words to find.", required=True, least=1, most=2_000),
            Argument("mode", TEXT, "How to search.", default="hybrid", options=schemas.MODES),
            Argument("limit", INTEGER, "Most pages.", False, 1, MOST_PAGES, default=10),
            Argument("pageTypeIds", TEXTS, "Ids of the sets to search; without it all of this kind.", most=200),
            max_tokens(),
        ),
        schemas.SEARCH,
    )


GET_SITE_OVERVIEW = Tool(
    "get_site_overview",
    "Get the site overview",
    "Start here: the site's title and description, and each documentation set with its id, name, type (documentation "
    "or api) and basePath. The id is what every other tool takes.",
    (),
    schemas.OVERVIEW,
)
LIST_DOCUMENTATION_SETS = Tool(
    "list_documentation_sets",
    "List the documentation sets",
    "The sets of get_site_overview alone, for a client that knows the site.",
    (),
    schemas.SETS,
)
DESCRIBE_SCHEMA = Tool(
    "describe_schema",
    "Describe the response shapes",
    "JSON Schema of what the other tools answer: DocResource, DocumentationSet, ContentItem, SearchResult and "
    "PagesEnvelope. Touches no live data.",
    (),
    schemas.DESCRIPTION,
)
GET_DOCUMENTATION_SET = Tool(
    "get_documentation_set",
    "Get the table of contents of a set",
    "The set's menu as its readers see it, a tree in the publisher's order: folders (name, title, children; never "
    "links), pages (pageId, path, url; a pageId alone where the page is gone), external links (href); pages of an API "
    "reference have their method. A large set is answered in parts: call again with nextCursor as cursor; a folder "
    "that goes on is repeated.",
    (
        Argument("setId", TEXT, SET_ID, required=True, least=1, most=200),
        Argument("cursor", TEXT, "The nextCursor of a previous answer; without it the menu starts."),
        replace(max_tokens(), least=500),
    ),
    schemas.CONTENTS,
)
SEARCH_DOCS = _search("search_docs", "Search the documentation", "documentation pages", "the API use search_api")
SEARCH_API = _search("search_api", "Search the API reference", "pages of the API reference", "guides use search_docs")
GET_PAGES_BY_ID = Tool(
    "get_pages_by_id",
    "Get pages by id",
    "Fetches up to 25 pages by pageId, from a search or a table of contents, in the order that was asked. A page that "
    "cannot be had is an error of its own and does not fail the others.",
    (
        Argument("pageIds", TEXTS, "Page ids.", required=True, least=1, most=MOST_PAGES),
        *PAGE_BOUNDS,
    ),
    schemas.PAGES,
)
GET_PAGES_BY_PATH = Tool(
    "get_pages_by_path",
    "Get pages by path",
    "Fetches up to 25 pages by site path, e.g. /docs/start/, in the order that was asked. A page that cannot be had "
    "is an error of its own and does not fail the others.",
    (
        Argument("paths", TEXTS, "Site paths, from a table of contents.", required=True, least=1, most=MOST_PAGES),
        *PAGE_BOUNDS,
    ),
    schemas.PAGES,
)
GET_OPENAPI_SPEC = Tool(
    "get_openapi_spec",
    "Get an OpenAPI spec",
    "The whole openapi.yaml of one API set. It is LARGE: for a single operation use search_api and get_pages_by_path "
    "instead; this is for generating a client or comparing versions. With operation or schema: that part alone, a spec "
    "by itself with all that it refers to. With diff: what has changed since the spec of another set.",
    (
        Argument("setId", TEXT, SET_ID, required=True, least=1, most=200),
        Argument("operation", TEXT, "One operation: GET /users/{id}, or its operationId.", least=1, most=600),
        Argument("schema", TEXT, "One schema by its name.", least=1, most=200),
        Argument("diff", TEXT, "Id of the older set to compare with.", least=1, most=200),
        replace(max_tokens("Most tokens of a part or a comparison; what does not fit is named."), least=500),
    ),
    schemas.DOC_RESOURCE,
)  # fmt: skip

TOOLS = (
    GET_SITE_OVERVIEW,
    LIST_DOCUMENTATION_SETS,
    DESCRIBE_SCHEMA,
    GET_DOCUMENTATION_SET,
    SEARCH_DOCS,
    SEARCH_API,
    GET_PAGES_BY_ID,
    GET_PAGES_BY_PATH,
    GET_OPENAPI_SPEC,
)
