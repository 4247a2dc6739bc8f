"""Tables for applications that speak WSGI (Django, Flask, Bottle, Pyramid, ...).

    application = TablesMiddleware(application)

It answers `X.TOL` and `X.TVI` by calling the application for X, without cookies and credentials, and adds the
`Link` header to pages. Where no table can be made, the application answers the request, mostly with 404.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes

from parcahyd.augment.sidecars import INDEX
from parcahyd.authoring.live_tables import (
    CACHE_BYTES,
    MAX_PAGE,
    REQUEST_HEADERS,
    LiveTables,
    PageAnswer,
    TableAnswer,
    error_answer,
    read_answer,
    table_answer,
)

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["TablesMiddleware"]

_KEPT = frozenset(
    (
        "REMOTE_ADDR",
        "REMOTE_HOST",
        "REMOTE_PORT",
        "SCRIPT_NAME",
        "SERVER_NAME",
        "SERVER_PORT",
        "SERVER_PROTOCOL",
        "SERVER_SOFTWARE",
    )
)
"""The keys of a request's environment, besides `wsgi.*`, that are passed to the application when it is called for a page. What
outer middlewares added about the visitor is left out."""
_KEPT_HEADERS = frozenset("HTTP_" + name.upper().replace("-", "_") for name in REQUEST_HEADERS)


class TablesMiddleware:
    """An application with tables.

    `scope` is the path below which pages have tables, as the application sees it; `form` says how these are named: `path`
    (`page.html.TOL`, `/page.TOL` for `/page`) or `stem` (`page.TOL` for `page.html`).
    """

    def __init__(
        self,
        app: WSGIApplication,
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

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD") or environ.get("QUERY_STRING"):
            return self._app(environ, start_response)
        path = quote(environ.get("PATH_INFO", "").encode("latin-1"), safe="/!$&'()*+,;=:@~")
        request = self._tables.table_request(path)
        if request is None:
            return self._linked(path, environ, start_response)
        for candidate in request.pages:
            collector = _PageCollector(self._tables.max_page)
            collector.run(self._app, _page_environ(environ, candidate))
            if collector.failure is not None:
                return _answered(collector.failure, start_response)
            page = collector.page
            table = None if page is None else self._tables.table(request.kind, candidate, page, b"".join(collector.body))
            if page is not None and table is not None:
                is_head = environ["REQUEST_METHOD"] == "HEAD"
                answer = table_answer(request.kind, table, page, environ.get("HTTP_IF_NONE_MATCH", ""), is_head=is_head)
                return _answered(answer, start_response)
        return self._app(environ, start_response)

    def _linked(self, path: str, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """The application's response, with a `Link` header where it is a page."""
        delayed = _DelayedStart(self._tables, path, start_response)
        result = self._app(environ, delayed.start)
        if not delayed.is_waiting:
            return _Parts(iter(result), result, delayed)
        if isinstance(result, list | tuple):
            delayed.release(result)
        elif delayed.page is not None and delayed.page.length is not None and delayed.page.length <= self._tables.max_page:
            # A response with a length is complete already, so no client waits longer for it.
            try:
                chunks = list(result)
            except BaseException:
                _close(result)  # as the server would, which does not receive it
                raise
            delayed.release(chunks)
            return _Parts(iter(chunks), result, delayed)
        else:
            delayed.release(None)
        return result


class _PageCollector:
    """Collects the application's response for a page."""

    def __init__(self, limit: int) -> None:
        self.page: PageAnswer | None = None
        self.failure: TableAnswer | None = None
        self.body: list[bytes] = []
        self._room = limit

    def run(self, app: WSGIApplication, environ: WSGIEnvironment) -> None:
        result = app(environ, self._start)
        try:
            for chunk in result:
                self._take(chunk)
                if self.page is None:
                    break
        finally:
            _close(result)

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:  # noqa: ARG002 - PEP 3333
        code, lowered = _code(status), _lowered(headers)
        self.page, self.failure = read_answer(code, lowered), error_answer(code, lowered)
        return self._take

    def _take(self, chunk: bytes) -> None:
        self._room -= len(chunk)
        if self._room < 0:
            self.page = None
        if self.page is not None:
            self.body.append(chunk)


class _DelayedStart:
    """Delays the start of a response until its `Link` header is known."""

    def __init__(self, tables: LiveTables, path: str, start_response: StartResponse) -> None:
        self.page: PageAnswer | None = None
        self.is_waiting = False
        self._tables = tables
        self._path = path
        self._start_response = start_response
        self._start: tuple[str, list[tuple[str, str]], Any] = "", [], None
        self._is_sent = False
        self._write: Any = None

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        if self._is_sent:  # the response has begun, so the server raises the application's exception
            return self._start_response(status, headers, exc_info)
        self._start = status, headers, exc_info
        self.is_waiting = True
        self.page = read_answer(_code(status), _lowered(headers))
        return self._written

    def release(self, body: Iterable[bytes] | None) -> None:
        """Starts the response; `body` is the complete body, where that is known."""
        self.is_waiting, self._is_sent = False, True
        status, headers, exc_info = self._start
        if self.page is not None:
            has_tvi = body is not None and self._tables.shows_markers(self.page, b"".join(body))
            links = self._tables.links(self._path, has_tol=not self.page.is_xml, has_tvi=has_tvi)
            headers = [*headers, ("Link", links)] if links else headers
        self._write = self._start_response(status, headers, *([exc_info] if exc_info else []))

    def _written(self, data: bytes) -> None:
        if self.is_waiting:
            self.release(None)
        self._write(data)


class _Parts:
    """The parts of a response, one by one; its start is sent before the first."""

    def __init__(self, parts: Iterator[bytes], result: Iterable[bytes], delayed: _DelayedStart) -> None:
        self._parts = parts
        self._result = result
        self._delayed = delayed

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        part = next(self._parts, None)
        if self._delayed.is_waiting:
            self._delayed.release(None)
        if part is None:
            raise StopIteration
        return part

    def close(self) -> None:
        _close(self._result)


def _answered(answer: TableAnswer, start_response: StartResponse) -> list[bytes]:
    start_response(f"{answer.status} {answer.phrase}", answer.headers)
    return [answer.body] if answer.body else []


def _code(status: str) -> int:
    return int(status[:3]) if status[:3].isascii() and status[:3].isdigit() else 0


def _lowered(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in headers]


def _close(result: Iterable[bytes]) -> None:
    close = getattr(result, "close", None)
    if close is not None:
        close()


def _page_environ(environ: WSGIEnvironment, path: str) -> WSGIEnvironment:
    kept = {
        name: value for name, value in environ.items() if name.startswith("wsgi.") or name in _KEPT or name in _KEPT_HEADERS
    }
    page_request = {"REQUEST_METHOD": "GET", "PATH_INFO": unquote_to_bytes(path).decode("latin-1"), "QUERY_STRING": ""}
    return {**kept, **page_request, "wsgi.input": BytesIO()}
