"""The three tools of the procedures surface as clients see them; all of them answer text."""

from __future__ import annotations

from refdesk.gateway.arguments import TEXT, Argument, Tool

MAP_TOKENS, SEARCH_TOKENS, WHOLE_TOKENS = 8_000, 4_000, 800
"""Estimated: of a map, of a search's sections, and of a document that a search gives whole."""
MOST_DOCUMENTS, MOST_RELEVANT, INLINE_SECTIONS, LEFTOVERS = 6, 15, 8, 5
"""Of a search, of a map for a query; sections that a map shows inline; documents that a search names at its end."""

GET_TOC = Tool(
    "get_toc",
    "Map of the instruction documents",
    "Shows which instruction documents exist. Without arguments: every document with its id, a summary, and its "
    "sections where they are few. With document_id: that document with every section. With query (what you are about "
    "to do): only the documents that fit it best, best first; use it where the map says that there are too many. Call "
    "it at the start of a conversation and when the topic changes.",
    (
        Argument("document_id", TEXT, "Id of a document: the 8 characters after doc, or the whole id.", most=64),
        Argument("query", TEXT, "What you are about to do.", most=2_000),
    ),
    {},
)
SEARCH_INSTRUCTIONS = Tool(
    "search_instructions",
    "Search the instructions",
    "Finds the instructions for what you are about to do. Describe the task and the guidance that it needs, e.g. "
    "writing a refund email to an enterprise customer; not the user's question word for word. Returns whole sections "
    "grouped by document, and names other documents that fit. Call it before each new task, system or data source.",
    (
        Argument(
            "plan", TEXT, "What you are about to do, and what you need to know.", required=True, least=1, most=2_000
        ),
    ),
    {},
)
GET_SECTION = Tool(
    "get_section",
    "Read one section",
    "Returns the full text of one section by the id that a map or a search shows.",
    (Argument("section_id", TEXT, "The 8 characters after id, or the whole id.", required=True, least=1, most=64),),
    {},
)
TOOLS = (GET_TOC, SEARCH_INSTRUCTIONS, GET_SECTION)
