"""A small application, spoken to by ASGI and by WSGI: what it answers is a table, and what it was asked is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple
from wsgiref.util import setup_testing_defaults

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

KETTLE = b'<!doctype html><meta charset=utf-8><p><span data-vol="price">11.00 EUR</span><a href="/">Home</a>'
PLAIN = b'<!doctype html><meta charset=utf-8><a href="kettle">Kettle</a><a href="https://other.example/">Other</a>'
HTML = ("content-type", "text/html; charset=utf-8")


class Reply(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        return ", ".join([value for key, value in self.headers if key.lower() == name])


PAGES = {
    "/": Reply(200, [HTML], PLAIN),
    "/kettle": Reply(200, [HTML], KETTLE),
    "/old.html": Reply(200, [HTML], KETTLE),
    "/docs/": Reply(200, [HTML], PLAIN),
    "/docs/index.html": Reply(404, [HTML], b"no"),
    "/caf\u00e9 a>b": Reply(200, [HTML], KETTLE),
    "/feed": Reply(200, [("content-type", "application/atom+xml")], b"<feed><Vol1>12</Vol1></feed>"),
    "/cookie": Reply(200, [HTML, ("set-cookie", "a=b")], KETTLE),
    "/private": Reply(200, [HTML, ("cache-control", "max-age=5, Private")], KETTLE),
    "/no-store": Reply(200, [HTML, ("cache-control", "no-store"), ("vary", "accept-language")], KETTLE),
    "/text": Reply(200, [("content-type", "text/plain")], KETTLE),
    "/zipped": Reply(200, [HTML, ("content-encoding", "gzip")], b"\x1f\x8b data-vol"),
    "/robots-say": Reply(200, [HTML, ("x-robots-tag", "nofollow")], PLAIN),
    "/large": Reply(200, [HTML], PLAIN + b" " * 100_000),
    "/busy": Reply(503, [HTML, ("retry-after", "7")], b"later"),
    "/moved": Reply(302, [HTML, ("location", "/kettle")], b""),
}
MISSING = Reply(404, [("content-type", "text/plain")], b"missing")
MEMBERS = Reply(200, [HTML], b'<a href="/members-only">for you</a>')


class Seen(NamedTuple):
    """A request as the application saw it."""

    method: str
    path: str
    headers: dict[str, str]
    keys: frozenset[str]
    """Of the scope or the environment."""


class SmallApplication:
    """Pages by path; whoever shows a cookie, a credential or a remote user sees the members' page instead."""

    def __init__(self, *, streams: bool = False) -> None:
        self.seen: list[Seen] = []
        self.streams = streams
        self.has_been_cut = False

    def _reply(self, seen: Seen) -> Reply:
        self.seen.append(seen)
        if (
            {"cookie", "authorization", "x-remote-user"} & seen.headers.keys()
            or "REMOTE_USER" in seen.keys
            or "user" in seen.keys
        ):
            return MEMBERS
        return PAGES.get(seen.path, MISSING)

    async def asgi(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        if scope["type"] != "http":
            return
        assert (await receive())["type"] == "http.request"
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        reply = self._reply(Seen(scope["method"], scope["path"], headers, frozenset(scope)))
        encoded = [(name.encode(), value.encode()) for name, value in reply.headers]
        await send({"type": "http.response.start", "status": reply.status, "headers": encoded})
        body = b"" if scope["method"] == "HEAD" else reply.body
        if self.streams:
            try:
                await send({"type": "http.response.body", "body": body, "more_body": True})
            except OSError:
                self.has_been_cut = True
                raise
        await send({"type": "http.response.body", "body": b"" if self.streams else body})

    def wsgi(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        names = {key[5:].lower().replace("_", "-"): environ[key] for key in environ if key.startswith("HTTP_")}
        path = environ["PATH_INFO"].encode("latin-1").decode()
        seen = Seen(environ["REQUEST_METHOD"], path, names, frozenset(environ))
        if self.streams:
            return self._streamed(seen, start_response)
        reply = self._reply(seen)
        start_response(f"{reply.status} Said", list(reply.headers))
        return [] if seen.method == "HEAD" else [reply.body]

    def _streamed(self, seen: Seen, start_response: StartResponse) -> Iterable[bytes]:
        try:
            reply = self._reply(seen)
            start_response(f"{reply.status} Said", list(reply.headers))
            if seen.method != "HEAD":
                yield reply.body
                yield b""
        except GeneratorExit:
            self.has_been_cut = True


def ask_asgi(app: Any, path: str, method: str, headers: dict[str, str], query: str, extra: dict[str, Any]) -> Reply:
    """One request by ASGI, without a server."""
    sent: list[MutableMapping[str, Any]] = []
    waiting = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> MutableMapping[str, Any]:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        **extra,
    }
    asyncio.run(app(scope, receive, send))
    start, *bodies = sent
    assert start["type"] == "http.response.start"
    assert [body.get("more_body", False) for body in bodies][-1:] == [False]
    said = [(name.decode(), value.decode("latin-1")) for name, value in start["headers"]]
    return Reply(start["status"], said, b"".join([body.get("body", b"") for body in bodies]))


def ask_wsgi(app: WSGIApplication, path: str, method: str, headers: dict[str, str], query: str, extra: dict[str, Any]) -> Reply:
    """One request by WSGI, without a server."""
    environ: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path.encode().decode("latin-1"), "QUERY_STRING": query}
    environ |= {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()} | extra
    setup_testing_defaults(environ)
    started: list[tuple[str, list[tuple[str, str]]]] = []
    written: list[bytes] = []

    def start_response(status: str, said: list[tuple[str, str]], exc_info: Any = None) -> Any:
        started.append((status, said))
        return written.append

    result = app(environ, start_response)
    body = b"".join([*result])
    if hasattr(result, "close"):
        result.close()
    ((status, said),) = started
    return Reply(int(status[:3]), said, b"".join(written) + body)
