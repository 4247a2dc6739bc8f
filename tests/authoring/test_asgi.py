"""What only ASGI has: messages from the visitor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from parcahyd.authoring.asgi import TablesMiddleware

_Message = MutableMapping[str, Any]


def test_an_application_that_watches_for_the_visitors_leaving() -> None:
    """Asked for the page, it hears of a request and of nothing else until the visitor goes; then it answers itself."""
    heard: list[tuple[str, str]] = []

    async def app(
        scope: _Message, receive: Callable[[], Awaitable[_Message]], send: Callable[[_Message], Awaitable[None]]
    ) -> None:
        heard.extend([(scope["path"], (await receive())["type"]) for _ in range(2)])
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body"})

    sent: list[_Message] = []
    waiting = [{"type": "http.request"}, {"type": "http.disconnect"}]

    async def receive() -> _Message:
        return waiting.pop(0)

    async def send(message: _Message) -> None:
        sent.append(message)

    scope: _Message = {"type": "http", "method": "GET", "path": "/a.TOL", "headers": []}
    asyncio.run(TablesMiddleware(app)(scope, receive, send))
    assert heard == [(path, kind) for path in ("/a", "/a.TOL") for kind in ("http.request", "http.disconnect")]
    assert sent[0]["status"] == 404


def test_other_protocols_are_left_alone() -> None:
    seen: list[_Message] = []

    async def app(scope: _Message, receive: object, send: object) -> None:
        seen.append(scope)

    async def nothing(*_: object) -> Any:
        raise AssertionError

    scope: _Message = {"type": "lifespan"}
    asyncio.run(TablesMiddleware(app)(scope, nothing, nothing))
    assert seen == [scope]


def test_answers_that_are_no_pages_begin_at_once() -> None:
    """A stream of events may say nothing for hours, and its visitor waits for the headers."""
    sent: list[str] = []
    seen: list[list[str]] = []

    async def app(scope: _Message, receive: object, send: Callable[[_Message], Awaitable[None]]) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        seen.append(list(sent))
        await send({"type": "http.response.body", "body": b"data: 1"})

    async def receive() -> _Message:
        raise AssertionError

    async def send(message: _Message) -> None:
        sent.append(message["type"])

    asyncio.run(TablesMiddleware(app)({"type": "http", "method": "GET", "path": "/events", "headers": []}, receive, send))
    assert seen == [["http.response.start"]]
    assert sent == ["http.response.start", "http.response.body"]
