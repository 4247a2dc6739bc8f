"""What only WSGI has: bodies that must be closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

from parcahyd.authoring.wsgi import TablesMiddleware


class _Failing:
    """A body that breaks off, and notes that it was closed."""

    def __init__(self) -> None:
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield b"<p>"
        raise ConnectionError

    def close(self) -> None:
        self.is_closed = True


def test_a_body_that_fails_is_closed() -> None:
    body = _Failing()

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", "10")])
        return body

    environ: dict[str, Any] = {"PATH_INFO": "/"}
    setup_testing_defaults(environ)
    with pytest.raises(ConnectionError):
        list(TablesMiddleware(app)(environ, lambda *_: lambda _: None))
    assert body.is_closed
