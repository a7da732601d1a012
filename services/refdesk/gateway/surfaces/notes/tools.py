"""The four tools of the notes surface as a table; knows nothing of how they answer."""

from __future__ import annotations

from refdesk.gateway.arguments import BOOLEAN, INTEGER, NUMBER, RECORDS, TEXT, TEXTS, Argument, Tool
from refdesk.gateway.budgets import max_tokens
from refdesk.gateway.surfaces.notes import schemas

DEFAULT_CANDIDATES = 40
MOST_RESULTS = 100
MOST_BYTES = 65_536
MOST_QUERY_CHARACTERS = 2_000
MOST_LINES = 1_000_000
TYPES = ("lex", "vec", "hyde")

_SEARCH = (
    Argument("type", TEXT, "lex: keywords; vec: a question; hyde: a made-up answer.", required=True, options=TYPES),
    Argument("query", TEXT, "What to look for.", required=True, least=1, most=MOST_QUERY_CHARACTERS),
)
_MAX_TOKENS = max_tokens()
_LINE_NUMBERS = Argument("lineNumbers", BOOLEAN, "Puts each line behind its number.", default=False)

QUERY = Tool(
    "query",
    "Query",
    "Searches the documents with one or more sub-queries, fused by rank; the first one weighs double, so put the strongest "
    'first. Types: lex, keywords by BM25 (all terms must be there, each as the beginning of a word; "exact phrase"; -term '
    'or -"phrase" excludes); vec, a question in plain language, by meaning; hyde, a passage as the answer would be '
    "written, by meaning. Combining types finds more: lex for names and exact wording, vec for a concept. Or give plain "
    "query: it is searched by words and by meaning. Results have a docid, a percent of the best possible score, the file, "
    "its title and context, and numbered lines around the best one. Read on with get (file or docid, or file:line) or "
    "multi_get.",
    (
        Argument("searches", RECORDS, "Sub-queries; the first weighs double.", False, 1, 10, fields=_SEARCH),
        Argument("query", TEXT, "A plain query, in the place of searches.", False, 1, MOST_QUERY_CHARACTERS),
        Argument("limit", INTEGER, "Most results.", False, 1, MOST_RESULTS, default=10),
        Argument("minScore", NUMBER, "Least score of a result.", False, 0, 1, default=0),
        Argument("collections", TEXTS, "Collections to search in; without it all.", False, 1, 100),
        Argument(
            "candidateLimit", INTEGER, "Most candidates that are ranked.", False, 1, 100, default=DEFAULT_CANDIDATES
        ),
        Argument(
            "intent",
            TEXT,
            "Background that tells meanings apart, such as web page load times; it is not searched for by itself.",
            False,
            1,
            500,
        ),
        Argument("rerank", BOOLEAN, "Asks for reranking; where there is no model for it, the answer says so."),
        _MAX_TOKENS,
    ),
    schemas.QUERY,
)

GET = Tool(
    "get",
    "Get document",
    "Returns one document by its file or docid, as query shows them; file:120 starts at that line. Use fromLine and "
    "maxLines for a part of a long one. A docid of an older content brings the document as it is now, and says so. Where "
    "the file does not exist, similar names are given.",
    (
        Argument(
            "file",
            TEXT,
            "Path with its collection, a docid (#abc123), or path:line.",
            required=True,
            least=1,
            most=4_200,
        ),
        Argument("fromLine", INTEGER, "First line, counted from 1.", False, 1, MOST_LINES),
        Argument("maxLines", INTEGER, "Most lines.", False, 1, MOST_LINES),
        _LINE_NUMBERS,
        _MAX_TOKENS,
    ),
    schemas.DOCUMENT,
)

MULTI_GET = Tool(
    "multi_get",
    "Get documents",
    "Returns several documents by a glob (journals/2025-05*.md; * stays within a folder, ** does not) or a list of files "
    "and docids with commas. Files above maxBytes are skipped and named: read those with get. What does not fit in "
    "max_tokens is named too.",
    (
        Argument("pattern", TEXT, "A glob, or files and docids with commas.", required=True, least=1, most=8_000),
        Argument("maxBytes", INTEGER, "Skips larger files.", False, 1, 10_000_000, default=MOST_BYTES),
        Argument("maxLines", INTEGER, "Most lines of each file.", False, 1, MOST_LINES),
        _LINE_NUMBERS,
        _MAX_TOKENS,
    ),
    schemas.DOCUMENTS,
)

STATUS = Tool(
    "status",
    "Index status",
    "Shows how many documents are indexed, how many of them still need an embedding, and the collections.",
    (),
    schemas.STATUS,
)

TOOLS = (QUERY, GET, MULTI_GET, STATUS)
