"""Tables of pages that an application makes on request: which page a table belongs to, its content, and its HTTP response.

`X.TOL` and `X.TVI` are tables of the page X, and a path that ends with a slash stands for its index document. Paths are
percent-encoded, as requests have them. The application is called for the page each time; only the tables are cached, by the
hash of the page.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from hashlib import sha256
from http import HTTPStatus
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote

from parcahyd.augment.document_tables import describe, tvi_of
from parcahyd.augment.sidecars import INDEX, STEM, WHOLE_PATH, stem
from parcahyd.augment.site_offer import Declaration, write_declaration
from parcahyd.augment.skeleton import part
from parcahyd.augment.tol import write_tol
from parcahyd.core.errors import UserError

__all__ = [
    "CACHE_BYTES",
    "MAX_PAGE",
    "MEDIA_TYPES",
    "REQUEST_HEADERS",
    "LiveTables",
    "PageAnswer",
    "TableAnswer",
    "TableCache",
    "TablePair",
    "TableRequest",
    "error_answer",
    "read_answer",
    "table_answer",
]

MAX_PAGE = 2 * 1024 * 1024
"""Bytes of a page, at most; for larger pages no table is made."""
CACHE_BYTES = 8 * 1024 * 1024

_KINDS = {".TOL": "TOL", ".TVI": "TVI"}
_HTML_ENDING = ".html"
_HTML_SIGNS = (b"data-vol=", b"<!--vol ", b'class="volatile"', b"class=volatile")
_XML_SIGNS = (b"<Vol", b"<!--vol ")
_SAFE = "/!$&'()*+,;=:@~%"


class TableRequest(NamedTuple):
    """A request for a table."""

    kind: str
    pages: tuple[str, ...]
    """Paths of the pages that it may belong to; the first that is a page counts."""


class LiveTables:
    """The tables of one application."""

    def __init__(
        self,
        *,
        scope: str = "/",
        form: str = "path",
        index: str = INDEX,
        max_page: int = MAX_PAGE,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        if form not in ("path", "stem"):
            raise UserError(f"tables have no form {form!r}", "choose 'path' (page.html.TOL) or 'stem' (page.TOL)")
        mark = WHOLE_PATH if form == "path" else STEM
        self.declaration = Declaration(scope, f"{mark}.TOL", f"{mark}.TVI", index)
        text = write_declaration(self.declaration)
        if not isinstance(text, str):
            raise UserError(f"{scope!r} and {index!r} cannot be declared", "give a path like /docs/ and a name like index.html")
        self.robots_line = f"# Augment: {text}"
        """The line for robots.txt."""
        self.max_page = max_page
        self._is_stem = form == "stem"
        self._below = scope if scope.endswith("/") else scope + "/"
        self._cache = TableCache(cache_bytes)

    def table_request(self, path: str) -> TableRequest | None:
        """The table that a request for this path asks for; None where it is not a table."""
        kind = _KINDS.get(path[-4:])
        if kind is None or not path.startswith(self._below):
            return None
        page = path[:-4]
        directory, name = _split(page)
        if not name:
            return None
        index = self.declaration.index
        if name in (index, stem(index)):
            return TableRequest(kind, (directory, page if name == index else directory + index))
        return TableRequest(kind, (page + _HTML_ENDING, page) if self._is_stem else (page,))

    def links(self, path: str, *, has_tol: bool, has_tvi: bool) -> str:
        """The value of the page's `Link` header; empty where there are no tables."""
        if not path.startswith(self._below) or path[-4:] in _KINDS:
            return ""
        name = self._table_name(path)
        found = (
            (name + ending, kind) for ending, kind, is_there in ((".TOL", "tol", has_tol), (".TVI", "tvi", has_tvi)) if is_there
        )
        return ", ".join([f'<{reference}>; rel="{kind}"' for reference, kind in found])

    def shows_markers(self, page: PageAnswer, document: bytes) -> bool:
        """Whether the page seems to have regions. A fast search without parsing, because it runs on every page that is served.

        After a wrong yes, a crawler requests once a table that does not exist; the table of links names only tables that exist.
        """
        if page.is_encoded or len(document) > self.max_page:
            return False
        return any(sign in document for sign in (_XML_SIGNS if page.is_xml else _HTML_SIGNS))

    def table(self, kind: str, path: str, page: PageAnswer, document: bytes) -> bytes | None:
        """The table of a page with this path, answer and body; None where it has none."""
        if page.is_encoded or len(document) > self.max_page:
            return None
        key = sha256(document).digest(), path, page.charset, page.is_xml, page.robots
        tables = self._cache.get(key)
        if tables is None:
            tables = self._make(path, page, document)
            if page.may_be_kept:
                self._cache.put(key, tables)
        return tables.tol if kind == "TOL" else tables.tvi

    def _make(self, path: str, page: PageAnswer, document: bytes) -> TablePair:
        parted = part(document, is_xml=page.is_xml, charset=page.charset)
        name = _reference(_split(path)[1]) or "./"
        tvi = tvi_of(document, name, parted)
        tol = None
        if not page.is_xml:
            its_tvi = f"{self._table_name(path)}.TVI" if isinstance(tvi, bytes) else ""
            described = describe(document, name, parted=parted, header_charset=page.charset, tvi=its_tvi, robots=page.robots)
            tol = write_tol(*described)
        return TablePair(tol if isinstance(tol, bytes) else None, tvi if isinstance(tvi, bytes) else None)

    def _table_name(self, path: str) -> str:
        """The name of the page's tables, as a reference from the page, without its ending."""
        name = _split(path)[1] or self.declaration.index
        return _reference(stem(name) if self._is_stem else name)


def _split(path: str) -> tuple[str, str]:
    """The directory, and the name in it."""
    slash = path.rfind("/") + 1
    return path[:slash], path[slash:]


def _reference(name: str) -> str:
    """A name, which came with a request, as a safe relative reference for a header."""
    name = quote(name, safe=_SAFE)
    return f"./{name}" if ":" in name else name


# --- The cache of tables ------------------------------------------------------------------------------------------------


_OVERHEAD = 500
"""Bytes that an entry takes besides its tables, approximately."""


class TablePair(NamedTuple):
    """The two tables of one page; None where it has none."""

    tol: bytes | None
    tvi: bytes | None


class TableCache:
    """The most recently used tables, up to a number of bytes. Safe to use from several threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, TablePair] = OrderedDict()
        self._lock = Lock()
        self.size = 0

    def get(self, key: Hashable) -> TablePair | None:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def put(self, key: Hashable, tables: TablePair) -> None:
        """Stores the tables, and removes those that were not used for the longest time."""
        weight = _weight(tables)
        with self._lock:
            before = self._entries.pop(key, None)
            self.size -= 0 if before is None else _weight(before)
            if weight > self._capacity:
                return
            self._entries[key] = tables
            self.size += weight
            while self.size > self._capacity:
                self.size -= _weight(self._entries.popitem(last=False)[1])


def _weight(tables: TablePair) -> int:
    return _OVERHEAD + len(tables.tol or b"") + len(tables.tvi or b"")


# --- The HTTP of the middlewares: from which responses a table may be made, and the response that carries a table ---------
# A table is public, and caches may store it. So none is made of a response that was meant for one visitor.


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
"""The headers of a request for a table that are passed to the application when it is called for the page: enough for the public
page, and no cookie, no credential, no condition, no range, no content coding."""

_HTML = ("text/html", "application/xhtml+xml")
_XML = ("text/xml", "application/xml")
_COPIED = ("cache-control", "expires", "vary")
"""The caching rules of a page apply to its tables too."""


class PageAnswer(NamedTuple):
    """A response that a table may be made of."""

    charset: str
    is_xml: bool
    is_encoded: bool
    """Whether its body has a content coding, so that it cannot be read."""
    may_be_kept: bool
    robots: str
    """X-Robots-Tag."""
    length: int | None
    """Content-Length."""
    copied: tuple[tuple[str, str], ...]


class TableAnswer(NamedTuple):
    """The response to a request for a table."""

    status: int
    phrase: str
    headers: list[tuple[str, str]]
    body: bytes


def read_answer(status: int, headers: Iterable[tuple[str, str]]) -> PageAnswer | None:
    """The page of a response; None where it is not a page, or is meant for one visitor. Names of headers are in lower case."""
    values: dict[str, str] = {}
    for name, value in headers:
        values[name] = f"{values[name]}, {value}" if name in values else value
    media_type, _, parameters = values.get("content-type", "").partition(";")
    media_type = media_type.strip().lower()
    is_xml = media_type in _XML or (media_type.endswith("+xml") and media_type not in _HTML)
    cache_control = {part.partition("=")[0].strip().lower() for part in values.get("cache-control", "").split(",")}
    if status != 200 or "set-cookie" in values or "private" in cache_control or not (is_xml or media_type in _HTML):
        return None
    length = values.get("content-length", "")
    return PageAnswer(
        _charset(parameters),
        is_xml,
        values.get("content-encoding", "identity").strip().lower() != "identity",
        "no-store" not in cache_control,
        values.get("x-robots-tag", "").strip(),
        int(length) if length.isascii() and length.isdigit() and len(length) <= 15 else None,
        tuple([(name, values[name]) for name in _COPIED if name in values]),
    )


def table_answer(kind: str, table: bytes, page: PageAnswer, if_none_match: str, *, is_head: bool) -> TableAnswer:
    """The response with the table, or 304. It has no Last-Modified: the regions of a page may change without a new date."""
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
    """The response for a table whose page the application cannot make now; None for other statuses.

    Without it, a crawler would take the failure for the absence of a table and remember that.
    """
    if status != 429 and not 500 <= status <= 599:
        return None
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Error"
    retry_after = [(name, value) for name, value in headers if name == "retry-after"]
    return TableAnswer(status, phrase, [*retry_after, ("cache-control", "no-store"), ("content-length", "0")], b"")


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()[:50]
    return ""
