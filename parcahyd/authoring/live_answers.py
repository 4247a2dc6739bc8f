"""What the answers of an application allow, and the answer that carries a table: the HTTP of the middlewares, without a server.

A table is public, and caches on the way may keep it. So none is made of an answer that was meant for one visitor.

Tested in tests/authoring/test_middlewares.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from http import HTTPStatus
from typing import NamedTuple

__all__ = ["MEDIA_TYPES", "REQUEST_HEADERS", "PageAnswer", "TableAnswer", "error_answer", "read_answer", "table_answer"]

MEDIA_TYPES = {"TOL": "text/vnd.augment.tol; charset=utf-8", "TVI": "text/vnd.augment.tvi; charset=utf-8"}

REQUEST_HEADERS = frozenset(
    (
        "accept-language",
        "forwarded",
        "host",
        "user-agent",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-port",
        "x-forwarded-prefix",
        "x-forwarded-proto",
    )
)
"""What the application hears of a request for a table when it is asked for the page: enough to give the page that anybody gets,
and no cookie, no credential under whatever name, no condition, no range, no content coding."""

_HTML = ("text/html", "application/xhtml+xml")
_XML = ("text/xml", "application/xml")
_COPIED = ("cache-control", "expires", "vary")
"""How long a page may be kept holds for its tables too."""


class PageAnswer(NamedTuple):
    """An answer that a table may be made of."""

    charset: str
    is_xml: bool
    is_encoded: bool
    """Its body is compressed or the like: nothing can be said about it."""
    may_be_kept: bool
    robots: str
    """X-Robots-Tag."""
    length: int | None
    """Content-Length."""
    copied: tuple[tuple[str, str], ...]


class TableAnswer(NamedTuple):
    """What is sent."""

    status: int
    phrase: str
    headers: list[tuple[str, str]]
    body: bytes


def read_answer(status: int, headers: Iterable[tuple[str, str]]) -> PageAnswer | None:
    """What an answer says of its page; None where it is no page, or is meant for one visitor. Names are in lower case."""
    said: dict[str, str] = {}
    for name, value in headers:
        said[name] = f"{said[name]}, {value}" if name in said else value
    media_type, _, parameters = said.get("content-type", "").partition(";")
    media_type = media_type.strip().lower()
    is_xml = media_type in _XML or (media_type.endswith("+xml") and media_type not in _HTML)
    cache_control = {part.partition("=")[0].strip().lower() for part in said.get("cache-control", "").split(",")}
    if status != 200 or "set-cookie" in said or "private" in cache_control or not (is_xml or media_type in _HTML):
        return None
    length = said.get("content-length", "")
    return PageAnswer(
        _charset(parameters),
        is_xml,
        said.get("content-encoding", "identity").strip().lower() != "identity",
        "no-store" not in cache_control,
        said.get("x-robots-tag", "").strip(),
        int(length) if length.isascii() and length.isdigit() and len(length) <= 15 else None,
        tuple([(name, said[name]) for name in _COPIED if name in said]),
    )


def table_answer(kind: str, table: bytes, page: PageAnswer, if_none_match: str, *, is_head: bool) -> TableAnswer:
    """The table, or that it has not changed. There is no Last-Modified: pages change in their regions without telling."""
    tag = f'"{sha256(table).hexdigest()[:32]}"'
    headers = [("etag", tag), *page.copied]
    if if_none_match.strip() == "*" or tag in [part.strip().removeprefix("W/") for part in if_none_match.split(",")]:
        return TableAnswer(304, "Not Modified", headers, b"")
    headers += [
        ("content-type", MEDIA_TYPES[kind]),
        ("content-length", str(len(table))),
        ("x-content-type-options", "nosniff"),
    ]
    return TableAnswer(200, "OK", headers, b"" if is_head else table)


def error_answer(status: int, headers: Iterable[tuple[str, str]]) -> TableAnswer | None:
    """What is said of a table whose page cannot be given now; None where it can, or where there is none.

    A crawler must not take it for the absence of a table, which it would remember.
    """
    if status != 429 and not 500 <= status <= 599:
        return None
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Error"
    later = [(name, value) for name, value in headers if name == "retry-after"]
    return TableAnswer(status, phrase, [*later, ("cache-control", "no-store"), ("content-length", "0")], b"")


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()[:50]
    return ""
