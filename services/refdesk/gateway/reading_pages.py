"""GET /p/{project}/{path}: a document as a plain page that people can read and cite; knows nothing of MCP.

Nothing runs on such a page and nothing is loaded from elsewhere: the text is somebody's, and may be hostile.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html

from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import Response

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.callers import Callers
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.origins import Origins
from refdesk.gateway.pages import PREFIX, candidates, page_url, resolve_path
from refdesk.gateway.rates import Rates
from refdesk.rpc import deadline

PATH = f"{PREFIX}/{{project}}/{{path:path}}"
RENDERED_CHARACTERS = 100_000
"""A longer text is shown as it is written: two seconds at the worst up to here."""
SIDE_BY_SIDE = 1
"""Pages that are rendered at once: the worst of 100,000 characters takes 2 s of a core, and questions go before."""
RENDERER = "1"
"""Counts changes to what is made of the same text."""
STYLE = (
    "body{font:1rem/1.6 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "pre{overflow:auto;background:#f4f4f4;padding:.7rem}code{font-size:.92em}"
    "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2rem .5rem}"
    "header{color:#666;font-size:.9rem;border-bottom:1px solid #ccc;margin-bottom:1rem;padding-bottom:.5rem}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox allow-top-navigation-by-user-activation allow-popups",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "private, no-cache",
    "Vary": "Authorization",
}


class ReadingPages:
    """Serves pages to whoever may read the project; to anybody, at a bounded rate, where the project says so."""

    def __init__(
        self,
        docstore: Docstore,
        catalog: Catalog,
        callers: Callers,
        origins: Origins,
        deadline_seconds: float,
        rates: Rates,
    ) -> None:
        self._rates = rates
        self._docstore = docstore
        self._catalog = catalog
        self._callers = callers
        self._origins = origins
        self._deadline_seconds = deadline_seconds
        self._rendering = asyncio.Semaphore(SIDE_BY_SIDE)

    async def serve(self, request: Request) -> Response:
        """The page. Raises: NotFound, in the same words whatever it is that is not there; Unauthenticated; Unavailable."""
        slug = request.path_params["project"]
        self._origins.check_host(request.headers.get("host", ""))
        with deadline.limit(self._deadline_seconds):
            is_public = await self._allow(request, slug)
            document = await self._find(slug, _raw_path(request, slug))
        etag = _etag(document)
        headers = {**HEADERS, "ETag": etag}
        if is_public:
            headers["Cache-Control"] = "public, no-cache"
        if etag in [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        async with self._rendering:
            body = await asyncio.to_thread(render_page, document)
        return Response(body, headers=headers, media_type="text/html")

    async def _allow(self, request: Request, slug: str) -> bool:
        """Whether the project's pages are for anybody; else whose key may read it is let through.

        Raises: Unauthenticated, NotFound, ResourceExhausted where too many ask.
        """
        project = (await self._catalog.projects()).get(slug)
        if project is not None and project.public_pages:
            self._rates.take(slug)
            return True
        try:
            await self._callers.allow(request.headers.get("authorization", ""), docstore_api.KEY_SCOPE_READ, slug)
        except NotFound:
            raise _nothing_here() from None
        return False

    async def _find(self, slug: str, raw_path: str) -> docstore_api.Document:
        project = (await self._catalog.projects()).get(slug) or (await self._catalog.projects(missing=True)).get(slug)
        if project is None:
            raise _nothing_here()
        try:
            path = resolve_path(raw_path)
        except InvalidArgument:
            raise _nothing_here() from None
        paths = [path, *(one for one in candidates(path) if one != path)]
        request = docstore_api.GetDocumentsRequest(
            project=slug, paths=paths, include_text=True, generations=[project.live_generation]
        )
        items = (await self._docstore.get_documents(request)).items
        sources = {source.name for source in project.sources}
        for item in items:
            if item.HasField("document") and not item.document.deleted and item.document.source in sources:
                return item.document
        raise _nothing_here()


def _nothing_here() -> NotFound:
    return NotFound("there is no such page here")


def _etag(document: docstore_api.Document) -> str:
    named = repr((RENDERER, document.document_id, document.revision, document.content_hash))
    return f'"{hashlib.sha256(named.encode()).hexdigest()[:32]}"'


def _raw_path(request: Request, slug: str) -> str:
    """The path as it came: it is checked before it is decoded."""
    raw = request.scope.get("raw_path") or b""
    return raw.decode("latin-1").split("?")[0].removeprefix(page_url("", slug, ""))


def render_page(document: docstore_api.Document) -> str:
    """A document as HTML; its own HTML is shown as text."""
    title = html.escape(" ".join(document.title.split()) or document.path)
    facts = [html.escape(document.path)]
    if document.version:
        facts.append(html.escape(document.version))
    if document.url.startswith(("https://", "http://")):
        facts.append(f'<a rel="noreferrer" href="{html.escape(document.url)}">published page</a>')
    language = f' lang="{html.escape(document.language)}"' if document.language not in ("", "und") else ""
    return (
        f'<!doctype html>\n<html{language}>\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n"
        f"<body><header>{' · '.join(facts)}</header>\n<main>\n{render_text(document.text)}</main></body>\n</html>\n"
    )


def render_text(text: str) -> str:
    """Markdown as HTML without anything that runs; as it is written where it is very long."""
    if len(text) > RENDERED_CHARACTERS:
        return f"<pre>{html.escape(text)}</pre>\n"
    return str(_markdown().render(text))


def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
