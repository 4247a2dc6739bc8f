"""Tables for applications that speak ASGI (Starlette, FastAPI, Django, Quart, ...).

    app = TablesMiddleware(app)

It answers `X.TOL` and `X.TVI` by calling the application for X, without cookies and credentials, and adds the
`Link` header to pages. Where no table can be made, the application answers the request, mostly with 404.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote, unquote

from parcahyd.augment.sidecars import INDEX
from parcahyd.authoring.live_tables import (
    CACHE_BYTES,
    MAX_PAGE,
    REQUEST_HEADERS,
    LiveTables,
    PageAnswer,
    TableAnswer,
    TableRequest,
    error_answer,
    read_answer,
    table_answer,
)

__all__ = ["TablesMiddleware"]

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_Application = Callable[[_Message, _Receive, _Send], Awaitable[None]]

_SCOPE = ("type", "asgi", "http_version", "scheme", "root_path", "client", "server", "app", "state")
"""The keys of a request's scope that are passed to the application when it is called for a page. What outer middlewares added
about the visitor is left out, and so are extensions. `app` and `state` are Starlette's."""


class TablesMiddleware:
    """An application with tables.

    `scope` is the path below which pages have tables; `form` says how these are named: `path` (`page.html.TOL`, and
    `/page.TOL` for `/page`) or `stem` (`page.TOL` for `page.html`).
    """

    def __init__(
        self,
        app: _Application,
        *,
        scope: str = "/",
        form: str = "path",
        index: str = INDEX,
        max_page: int = MAX_PAGE,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._app = app
        self._tables = LiveTables(scope=scope, form=form, index=index, max_page=max_page, cache_bytes=cache_bytes)

    @property
    def robots_line(self) -> str:
        """The line for robots.txt that declares the tables to crawlers before they fetch a page."""
        return self._tables.robots_line

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or scope.get("query_string"):
            await self._app(scope, receive, send)
            return
        path = _raw_path(scope)
        request = self._tables.table_request(path)
        if request is None:
            await self._app(scope, receive, _LinkHeader(self._tables, path, send).send)
        elif _has_body(scope):
            await self._app(scope, receive, send)
        else:
            await self._answer(request, scope, receive, send)

    async def _answer(self, request: TableRequest, scope: _Message, receive: _Receive, send: _Send) -> None:
        client = _ClientMessages(receive)
        for path in request.pages:
            collector = _PageCollector(self._tables.max_page)
            await collector.run(self._app, _page_scope(scope, path), client.for_page())
            page, document = collector.page, bytes(collector.body)
            table = self._tables.table(request.kind, path, page, document) if page is not None and collector.is_whole else None
            if collector.failure is not None:
                await _send_answer(send, collector.failure)
                return
            if page is not None and table is not None:
                condition = ", ".join([value for name, value in _headers(scope) if name == "if-none-match"])
                await _send_answer(send, table_answer(request.kind, table, page, condition, is_head=scope["method"] == "HEAD"))
                return
        await self._app(scope, client.receive, send)


class _NotNeeded(OSError):
    """Raised into an application that sends a body that is not needed, as if the client had disconnected."""


class _PageCollector:
    """Collects the application's response for a page."""

    def __init__(self, limit: int) -> None:
        self.page: PageAnswer | None = None
        self.failure: TableAnswer | None = None
        self.body = bytearray()
        self.is_whole = False
        self._limit = limit
        self._is_cut = False

    async def run(self, app: _Application, scope: _Message, receive: _Receive) -> None:
        try:
            await app(scope, receive, self._send)
        except Exception:
            # A framework may have wrapped `_NotNeeded` in another exception, so a flag is checked instead.
            if not self._is_cut:
                raise

    async def _send(self, message: _Message) -> None:
        if message["type"] == "http.response.start":
            headers = _headers(message)
            self.page = read_answer(message["status"], headers)
            self.failure = error_answer(message["status"], headers)
        elif message["type"] == "http.response.body":
            body, more = message.get("body", b""), message.get("more_body", False)
            if self.page is not None and len(self.body) + len(body) > self._limit:
                self.page = None
            if self.page is not None:
                self.body += body
                self.is_whole = not more
            elif more:
                self._is_cut = True
                raise _NotNeeded


class _ClientMessages:
    """Receives the client's messages while the application is called for pages, and keeps them for the final response."""

    def __init__(self, receive: _Receive) -> None:
        self._receive = receive
        self._kept: list[_Message] = []

    def for_page(self) -> _Receive:
        """Receives a request without a body, and after it only that the client disconnected."""
        is_first = True

        async def receive() -> _Message:
            nonlocal is_first
            if is_first:
                is_first = False
                return {"type": "http.request", "body": b"", "more_body": False}
            while True:
                message = await self._receive()
                if len(self._kept) < 2:
                    self._kept.append(message)
                if message["type"] == "http.disconnect":
                    return message

        return receive

    async def receive(self) -> _Message:
        return self._kept.pop(0) if self._kept else await self._receive()


class _LinkHeader:
    """Adds the `Link` header to a page. The start of its response waits for the first part of its body."""

    def __init__(self, tables: LiveTables, path: str, send: _Send) -> None:
        self._tables = tables
        self._path = path
        self._send = send
        self._held: tuple[_Message, PageAnswer] | None = None

    async def send(self, message: _Message) -> None:
        if message["type"] == "http.response.start":
            page = read_answer(message["status"], _headers(message))
            if page is not None:
                self._held = message, page
                return
        elif self._held is not None:
            (start, page), self._held = self._held, None
            await self._send(self._linked(start, page, message))
        await self._send(message)

    def _linked(self, start: _Message, page: PageAnswer, first: _Message) -> _Message:
        body = first.get("body", b"") if first["type"] == "http.response.body" else b""
        is_whole = not first.get("more_body", False) or len(body) == page.length
        has_tvi = is_whole and self._tables.shows_markers(page, body)
        links = self._tables.links(self._path, has_tol=not page.is_xml, has_tvi=has_tvi)
        return {**start, "headers": [*start.get("headers", ()), (b"link", links.encode("latin-1"))]} if links else start


def _headers(message: _Message) -> list[tuple[str, str]]:
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in message.get("headers", ())]


def _raw_path(scope: _Message) -> str:
    """The path as it was requested; quoted again where the server gives no raw path, or one that does not match."""
    raw = (scope.get("raw_path") or b"").decode("latin-1")
    return raw if raw and unquote(raw) == scope["path"] else quote(scope["path"], safe="/!$&'()*+,;=:@~")


def _has_body(scope: _Message) -> bool:
    return any(name == "transfer-encoding" or (name == "content-length" and value != "0") for name, value in _headers(scope))


def _page_scope(scope: _Message, path: str) -> _Message:
    page = {key: scope[key] for key in _SCOPE if key in scope}
    if "state" in page:
        page["state"] = page["state"].copy()
    headers = [(name, value) for name, value in scope.get("headers", ()) if name.decode("latin-1").lower() in REQUEST_HEADERS]
    page_request = {"method": "GET", "path": unquote(path), "raw_path": path.encode("latin-1"), "query_string": b""}
    return {**page, **page_request, "headers": headers}


async def _send_answer(send: _Send, answer: TableAnswer) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
