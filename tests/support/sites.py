"""What a test site answers: pages, redirects, robots.txt variants, conditional requests, and protocol violations."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Literal

__all__ = ["Answer", "Page", "Request", "Site", "html", "redirect", "robots", "text", "tree_site", "validated"]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it was read; header names are in lower case."""

    method: str
    target: str
    host: str
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and how it is sent."""

    body: bytes = b""
    status: int = 200
    media_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    etag: str = ""
    modified: str = ""
    coding: Literal["", "gzip"] = ""
    framing: Literal["length", "chunked", "close"] = "length"
    delay: float = 0.0
    """Seconds before the first byte."""
    drip: float = 0.0
    """Seconds between two pieces of the answer."""
    piece: int = 16384
    cut: int | None = None
    """Bytes of the body after which the connection closes although more was announced."""
    silent: bool = False
    """Never answers; the connection stays open until the client has had enough."""
    hang_up: bool = False
    """Closes the connection instead of answering."""
    raw: bytes = b""
    """What is sent instead of all that, before the connection closes, unless it `stays_open`."""
    stays_open: bool = False

    @property
    def closes(self) -> bool:
        return self.cut is not None or self.framing == "close" or (bool(self.raw) and not self.stays_open)

    def pieces(self, *, head_only: bool = False) -> list[bytes]:
        """The message in the pieces in which it is written; at least one."""
        if self.raw:
            return [self.raw]
        coded = gzip.compress(self.body, mtime=0) if self.coding == "gzip" else self.body
        has_body = self.status not in (204, 304) and not head_only
        head = self._head(len(coded), has_body=has_body)
        if not has_body:
            return [head]
        framed = _chunked(coded, self.piece) if self.framing == "chunked" else coded
        sent = framed if self.cut is None else framed[: self.cut]
        message = head + sent
        if not self.drip:
            return [message]
        return [head, *(sent[start : start + self.piece] for start in range(0, len(sent), self.piece))]

    def _head(self, length: int, *, has_body: bool) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {_phrase(self.status)}"]
        if has_body:
            lines.append(f"Content-Type: {self.media_type}")
            if self.coding:
                lines.append(f"Content-Encoding: {self.coding}")
            if self.framing == "length":
                lines.append(f"Content-Length: {length}")
            elif self.framing == "chunked":
                lines.append("Transfer-Encoding: chunked")
        if self.etag:
            lines.append(f"ETag: {self.etag}")
        if self.modified:
            lines.append(f"Last-Modified: {self.modified}")
        if self.closes:
            lines.append("Connection: close")
        lines.extend(f"{name}: {value}" for name, value in self.headers)
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


Page = Answer | Callable[[Request], Answer]

_MISSING = Answer(b"<p>There is no such page.</p>", status=404)


@dataclass
class Site:
    """Pages by target (path and query). What is missing is a 404; so is robots.txt unless it is given."""

    pages: dict[str, Page] = field(default_factory=dict)
    otherwise: Page = _MISSING

    def answer(self, request: Request) -> Answer:
        page = self.pages.get(request.target, self.otherwise)
        answer = page if isinstance(page, Answer) else page(request)
        return replace(answer, status=304, body=b"") if _is_current(answer, request) else answer

    def bodies(self) -> dict[str, bytes]:
        """What each fixed page with status 200 gives, robots.txt aside."""
        return {
            target: page.body
            for target, page in self.pages.items()
            if isinstance(page, Answer) and page.status == 200 and target != "/robots.txt"
        }


def _is_current(answer: Answer, request: Request) -> bool:
    """RFC 9110, section 13.2.2: If-None-Match decides alone where it is given."""
    if answer.status != 200:
        return False
    if "if-none-match" in request.headers:
        return bool(answer.etag) and answer.etag in request.headers["if-none-match"]
    return bool(answer.modified) and request.headers.get("if-modified-since") == answer.modified


def html(title: str, links: Iterable[str] = (), *, extra: str = "") -> Answer:
    """A small page that links to the given references."""
    anchors = "\n".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    page = f"<!DOCTYPE html>\n<title>{title}</title>\n<h1>{title}</h1>\n<ul>\n{anchors}\n</ul>\n{extra}"
    return Answer(page.encode())


def text(content: str | bytes, media_type: str = "text/plain; charset=utf-8") -> Answer:
    return Answer(content.encode() if isinstance(content, str) else content, media_type=media_type)


def redirect(target: str, status: int = 302) -> Answer:
    return Answer(b"", status=status, headers=(("Location", target),))


def robots(rules: str = "") -> Answer:
    return text(rules, "text/plain")


def validated(answer: Answer) -> Answer:
    """The answer with an ETag of its bytes and a Last-Modified."""
    tag = hashlib.sha256(answer.body).hexdigest()[:16]
    return replace(answer, etag=f'"{tag}"', modified="Tue, 02 Jan 2024 03:04:05 GMT")


_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".css": "text/css",
    ".js": "text/javascript",
}


def tree_site(folder: Path) -> Site:
    """The files of a folder, `index.html` also as its folder's page."""
    pages: dict[str, Page] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        target = "/" + file.relative_to(folder).as_posix()
        answer = validated(Answer(file.read_bytes(), media_type=_MEDIA_TYPES.get(file.suffix, "application/octet-stream")))
        pages[target] = answer
        if file.name == "index.html":
            pages[target.removesuffix("index.html")] = answer
    return Site(pages)


def _chunked(body: bytes, piece: int) -> bytes:
    pieces = [body[start : start + piece] for start in range(0, len(body), piece)]
    return b"".join(b"%x\r\n%s\r\n" % (len(data), data) for data in pieces) + b"0\r\n\r\n"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unassigned"
