"""The three tools of the procedures surface as clients see them; all of them answer text."""

from __future__ import annotations

from refdesk.gateway.arguments import INTEGER, TEXT, Argument, Tool
from refdesk.gateway.budgets import max_tokens

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
        max_tokens("Most tokens of the answer; without it 8,000 of a map, 12,000 of one document.", default=None),
        Argument("from", INTEGER, "Section of the document to go on at, as an answer that was cut says."),
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
        max_tokens("Most tokens of the answer; without it 4,000.", default=None),
    ),
    {},
)
GET_SECTION = Tool(
    "get_section",
    "Read one section",
    "Returns the full text of one section by the id that a map or a search shows. What does not fit in max_tokens is cut, and "
    "the answer ends with the call for the rest.",
    (
        Argument("section_id", TEXT, "The 8 characters after id, or the whole id.", required=True, least=1, most=64),
        max_tokens(),
        Argument("from", INTEGER, "Character of its text to go on at, as an answer that was cut says."),
    ),
    {},
)
TOOLS = (GET_TOC, SEARCH_INSTRUCTIONS, GET_SECTION)
