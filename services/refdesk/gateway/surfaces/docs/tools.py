"""The three tools of the docs surface as clients see them: names, arguments, limits, descriptions."""

from __future__ import annotations

from refdesk.gateway.arguments import INTEGER, TEXT, TEXTS, Argument, Tool
from refdesk.gateway.budgets import max_tokens
from refdesk.gateway.surfaces.docs import schemas

DEFAULT_MAX_TOKENS = 4_000

SEARCH_DOCS = Tool(
    "search_docs",
    "Search the documentation",
    "Hybrid search over the project's documents: by meaning and by exact wording at once, fused by rank. Ask a full "
    "question in the language of the pages; identifiers, error codes and configuration names are found by their exact "
    "wording. Returns ranked excerpts, each with its file path, heading breadcrumb and similarity score, between the "
    "text before and after it; a … marks a side that is cut. At most two excerpts come from one document. source, "
    "path_prefix and version only narrow the search. Cite the file path of what you use, and read more of a result "
    "with read_document (its path, and its breadcrumb as heading). When nothing is good enough the answer says so: "
    "then rephrase, or look at list_topics.",
    (
        Argument("query", TEXT, "A question, or an identifier to find exactly.", required=True, least=1, most=2_000),
        Argument(
            "limit", INTEGER, "How many excerpts; more when a topic is spread over many files.", False, 1, 20, default=5
        ),
        Argument("source", TEXT, "One source name: the first segment of the paths that list_topics shows."),
        Argument("path_prefix", TEXT, "Only paths below this one, by whole segments, e.g. handbook/operations."),
        Argument("version", TEXT, "An exact release label, e.g. v3; there is no order and no latest."),
        max_tokens(),
    ),
    schemas.SEARCH,
)

MODES = {"hybrid": "hybrid", "keyword": "lexical", "semantic": "semantic"}
"""Names of modes as arguments have them, and as the search core has them."""

COMBINED_SEARCH = Tool(
    SEARCH_DOCS.name,
    SEARCH_DOCS.title,
    SEARCH_DOCS.description,
    (
        *SEARCH_DOCS.arguments,
        Argument("mode", TEXT, "How to search.", default="hybrid", options=tuple(MODES)),
        Argument("pageTypeIds", TEXTS, "Ids of the documentation sets to search; without it all of them.", most=200),
    ),
    schemas.SEARCH,
)
"""Where the site surface is served beside this one: its two arguments go along."""

LIST_TOPICS = Tool(
    "list_topics",
    "List what is documented",
    "Lists the project's sources and documents, grouped by directory, with titles and chunk counts. Use it to see what "
    "exists before searching, or when a search finds nothing good. A page holds `limit` documents; when more remain, "
    "the answer ends with next_cursor: call again with that value as cursor.",
    (
        Argument("cursor", TEXT, "The next_cursor that a previous call ended with; without it the listing starts."),
        Argument("limit", INTEGER, "Most documents of one page.", False, 1, 1_000, default=200),
        max_tokens("Most tokens of one page."),
    ),
    schemas.TOPICS,
)

READ_DOCUMENT = Tool(
    "read_document",
    "Read a document or a part of it",
    "Returns the Markdown of one indexed document. Pass heading with a breadcrumb from a search result to read only "
    "that section and its subsections, or from and to for a range of chunks: either is far cheaper than the whole "
    "page. The answer is capped at max_tokens; where it is cut, it says so and names the call for the rest.",
    (
        Argument("path", TEXT, "The path, exactly as search_docs or list_topics shows it.", required=True, least=1),
        Argument("heading", TEXT, "A heading breadcrumb, e.g. Guide > Install > Docker. Not together with from or to."),
        Argument("from", INTEGER, "First chunk, counted from 0."),
        Argument("to", INTEGER, "Last chunk, inclusive."),
        max_tokens(default=DEFAULT_MAX_TOKENS),
    ),
    schemas.DOCUMENT,
)

TOOLS = (SEARCH_DOCS, LIST_TOPICS, READ_DOCUMENT)
