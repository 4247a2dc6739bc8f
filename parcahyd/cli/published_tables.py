"""What a crawler finds of the tables of a page that is published: `parcahyd augment check URL`.

The page, robots.txt and the tables are requested in the order of a crawl, and read by the same readers. Every request is
bounded, and goes to the page's own site.

Tested in tests/cli/test_augment_check_url.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from parcahyd.augment.bundle import read_bundle
from parcahyd.augment.document_tables import describe
from parcahyd.augment.refusal import MAX_TABLE_BYTES, Refusal
from parcahyd.augment.sidecars import is_of_document
from parcahyd.augment.site_offer import Declaration, choose, write_declaration
from parcahyd.augment.skeleton import Parted, part, part_with_tvi
from parcahyd.augment.tol import Tol, read_tol
from parcahyd.augment.tvi import read_tvi
from parcahyd.cli.wording import plural, size
from parcahyd.core.errors import RunFailure
from parcahyd.core.ports import DownloadResult
from parcahyd.pipeline.crawl_worker.augmented.offers import Offers
from parcahyd.pipeline.crawl_worker.augmented.table_requests import MAX_BUNDLE
from parcahyd.pipeline.crawl_worker.document_reader import is_xml
from parcahyd.rules.html.link_header import add_header_links, read_link_headers
from parcahyd.rules.html.links import PageLinks, read_links
from parcahyd.rules.media_types.media_type import is_html, recognise
from parcahyd.rules.politeness.backoff import REDIRECTS
from parcahyd.rules.robots.robots_file import Robots
from parcahyd.rules.urls.canonical_url import Joiner, split

__all__ = ["FOUND", "WOULD", "WRONG", "Finding", "check_published"]

FOUND, WRONG, WOULD = "found", "wrong", "crawler"
"""The kinds of findings: what is there, what is wrong with it, and what a crawler does with it."""

_MAX_ROBOTS = 500 * 1024
_MAX_PAGE = 8 * 1024 * 1024
_HOPS = 5
_MAX_FILE = 64 * 1024
_NAMED = 10
"""Regions and errors that are named, at most."""
_ANOTHER_VERSION = "describes another version of the page: it is older or newer, or the page differs at each request"

Get = Callable[[str, int, bool], DownloadResult]
"""Requests a URL. The number is the most bytes that its body may have; where the last is true, a longer body is cut there."""


class Finding(NamedTuple):
    """A sentence for the site's author."""

    kind: str
    sentence: str


class _Page(NamedTuple):
    """The page that is checked."""

    body: bytes
    is_html: bool
    links: PageLinks
    parted: Parted
    has_more: bool
    """Its headers or meta tags hold links or directives, which no table of variable information has."""


def check_published(url: str, get: Get, user_agent: str) -> list[Finding]:
    """What is found at a canonical URL, in the order in which a crawler comes upon it. No answer at all is a RunFailure."""
    return _Check(url, get, user_agent).run()


class _Check:
    """Collects what is found of one page and its tables."""

    def __init__(self, url: str, get: Get, user_agent: str) -> None:
        self._url = url
        self._origin = url[: -len(split(url)[3])]
        self._get = get
        self._user_agent = user_agent
        self._rules = Robots.parse(b"", user_agent)
        self._offers = Offers(self._origin, b"")
        self._findings: list[Finding] = []

    def run(self) -> list[Finding]:
        page = self._read_page() if self._read_robots() else None
        if page is not None:
            self._learn(page)
            self._check_tables(page)
        return self._findings

    def _say(self, kind: str, sentence: str) -> None:
        self._findings.append(Finding(kind, sentence))

    # --- the page, and what is declared ----------------------------------------------------------------------------------

    def _read_robots(self) -> bool:
        """Whether the page may be requested."""
        url = f"{self._origin}/robots.txt"
        for _ in range(_HOPS):
            answer = self._get(url, _MAX_ROBOTS, True)
            target = Joiner(url).join(answer.header("location")) if answer.status in REDIRECTS else None
            if target is None or not target.startswith(self._origin + "/"):
                break
            url = target
        if answer.failure is not None:
            why = answer.detail or answer.failure.value
            raise RunFailure(f"nothing answers at {self._origin}/: {why}; is the server running, and is this its address?")
        if answer.status in REDIRECTS:
            self._say(WRONG, "robots.txt leads elsewhere or in a circle, so what it declares is not known here")
        if answer.status == 429 or answer.status >= 500:
            self._say(WRONG, f"robots.txt answers {answer.status}: until it answers otherwise, a crawler requests nothing here")
            return False
        text = answer.body if answer.status == 200 else b""
        self._rules = Robots.parse(text, self._user_agent)
        self._offers.declare(text)
        if not self._rules.allows(self._url):
            self._say(
                WRONG, f"robots.txt forbids this page by {self._rules.line_for(self._url)}: a crawler does not request it"
            )
            return False
        return True

    def _read_page(self) -> _Page | None:
        answer = self._get(self._url, _MAX_PAGE, False)
        if answer.failure is not None:
            self._say(WRONG, f"the page does not come: {answer.detail or answer.failure.value}")
            return None
        if answer.status != 200:
            target = Joiner(self._url).join(answer.header("location")) if answer.status in REDIRECTS else None
            self._say(
                WRONG, f"the page answers {answer.status}" + (f" and leads to {target}: check that one" if target else "")
            )
            return None
        media_type, charset = recognise(answer.header("content-type"), answer.body)
        if not is_html(media_type) and not is_xml(media_type):
            self._say(WRONG, f"this is no page of HTML or XML but {media_type or 'of an unknown type'}, and has no tables")
            return None
        links = read_links(answer.body if is_html(media_type) else b"", charset)
        headers = [value for name, value in answer.headers if name.lower() == "link"]
        has_more = bool(links.robots or answer.header("x-robots-tag") or (headers and read_link_headers(headers).keys))
        add_header_links(links, headers, self._url)
        parted = part(answer.body, is_xml=not is_html(media_type), charset=charset)
        names = ", ".join(region.id for region in parted.regions[:_NAMED])
        marked = f"marks {_parts(len(parted.regions))}: {names}" if parted.regions else "marks no part that changes"
        self._say(FOUND, f"the page has {size(len(answer.body))} and {marked}")
        for error in parted.errors[:_NAMED]:
            self._say(WRONG, f"the page's markers, line {error.line}, column {error.column}: {error.sentence}")
        return _Page(answer.body, is_html(media_type), links, parted, has_more)

    def _learn(self, page: _Page) -> None:
        """Takes the declarations of the page, and of the file that it names."""
        base = (Joiner(self._url).join(page.links.base) or self._url) if page.links.base else self._url
        named: dict[str, str] = {}
        for relation, reference in page.links.tables:
            target = Joiner(base).join(reference)
            if target is not None and target.startswith(self._origin + "/"):
                named.setdefault(relation, target)
        file = named.get("augment", "")
        if file and "?" not in file and (answer := self._table(file, _MAX_FILE, cut=True)) is not None:
            self._offers.declare_by_file(file[len(self._origin) :], answer)
        self._offers.learn(self._url, named.get("tol", ""), named.get("tvi", ""))

    def _check_tables(self, page: _Page) -> None:
        declaration = choose(self._offers.declarations, self._url)
        if declaration is None:
            self._say(
                WRONG, "neither robots.txt nor the page declares tables for this page (`parcahyd augment build` writes them)"
            )
            self._say(WOULD, "it requests this page as any other, and nothing besides")
            return
        self._say(FOUND, f"tables are declared for {declaration.scope}: Augment: {write_declaration(declaration)}")
        if page.is_html:
            self._check_links(page, declaration)
        self._check_changes(page, declaration)

    def _table(self, url: str, most: int, *, cut: bool = False) -> bytes | None:
        """The body of a table; None, with what is wrong, where a crawler gets none."""
        path = url[len(self._origin) :]
        if not self._rules.allows(url):
            self._say(WRONG, f"robots.txt forbids {path} by {self._rules.line_for(url)}")
            return None
        answer = self._get(url, most, cut)
        if answer.failure is not None:
            self._say(WRONG, f"{path} does not come: {answer.detail or answer.failure.value}")
        elif answer.status != 200:
            self._say(WRONG, f"{path} is declared and answers {answer.status}")
        else:
            return answer.body
        return None

    # --- tables of links -------------------------------------------------------------------------------------------------

    def _check_links(self, page: _Page, declaration: Declaration) -> None:
        is_right = False
        bundle, beside = declaration.bundle_of(self._origin), declaration.tol_of(self._url)
        if bundle is not None and (body := self._table(bundle, MAX_BUNDLE, cut=True)) is not None:
            is_right = self._check_bundle(page, declaration, bundle, body)
        if beside is not None and (body := self._table(beside, MAX_TABLE_BYTES, cut=True)) is not None:
            table = read_tol(body)
            if isinstance(table, Refusal):
                self._say(WRONG, f"{self._path(beside)} is not read: {table}")
            elif not is_of_document(beside, table.head.document, self._url, declaration.index):
                self._say(WRONG, f"{self._path(beside)} says that it is the table of another document")
            else:
                is_right |= self._compare(page, table, self._path(beside))
        if is_right:
            self._say(WOULD, "it may know the links of this page before it has the page (where `Eager` lets it ask)")
        elif bundle or beside:
            self._say(WOULD, "it finds links by loading the page: there is no table of links that fits")

    def _check_bundle(self, page: _Page, declaration: Declaration, url: str, body: bytes) -> bool:
        tables, refusal = read_bundle(body)
        if refusal is not None:
            self._say(WRONG, f"{self._path(url)} is read up to an error after {plural(len(tables), 'table')}: {refusal}")
        own = [table for table in tables if is_of_document(url, table.head.document, self._url, declaration.index)]
        if not own:
            self._say(WRONG, f"{self._path(url)} has {plural(len(tables), 'table')}, and none for this page")
            return False
        return self._compare(page, own[0], f"{self._path(url)}, with the links of {plural(len(tables), 'page')},")

    def _compare(self, page: _Page, table: Tol, name: str) -> bool:
        """Whether a table fits the page; says what does not."""
        if not table.is_complete:
            self._say(WRONG, f"{name} is cut")
            return False
        head, body = describe(page.body, table.head.document, parted=page.parted, links=page.links)
        wanted, there = set(Tol(head, body).references), set(table.references)
        phantoms, missing = len(there - wanted), len(wanted - there)
        if phantoms or missing:
            self._say(WRONG, f"{name} has {plural(phantoms, 'link')} that the page has not, and lacks {missing:,} that it has")
            return False
        if table.head.hash != sha256(page.body).digest():
            self._say(WRONG, f"{name} {_ANOTHER_VERSION}")
            return False
        self._say(FOUND, f"{name} fits the page: {plural(len(there), 'link')}")
        return True

    # --- the table of what changes -----------------------------------------------------------------------------------------

    def _check_changes(self, page: _Page, declaration: Declaration) -> None:
        url = declaration.tvi_of(self._url)
        if not page.parted.regions:
            self._say(WOULD, "to refresh the page it asks whether the page has changed, and for the whole page if so")
        elif url is None:
            self._say(WRONG, "the page marks parts that change, and no .TVI is declared for it")
            self._say(WOULD, "to refresh the page it asks for the whole page")
        elif (body := self._table(url, MAX_TABLE_BYTES)) is None or not self._fits(page, declaration, url, body):
            self._say(WOULD, "to refresh the page it asks for the whole page, until the .TVI is right")
        elif len(body) * 2 > len(zlib.compress(page.body, 1)):
            self._say(WOULD, "to refresh the page it asks for the whole page: compressed, that is less than twice its .TVI")
        elif page.has_more:
            self._say(
                WOULD, "to refresh the page it asks for the whole page: its headers or meta tags speak to robots, or link"
            )
        else:
            sizes = f"{size(len(body))} instead of {size(len(page.body))}"
            self._say(WOULD, f"to refresh the page it asks for {self._path(url)}: {sizes}")

    def _fits(self, page: _Page, declaration: Declaration, url: str, body: bytes) -> bool:
        """Whether the page can be refreshed by its table; says what does not fit."""
        name, table = self._path(url), read_tvi(body)
        if isinstance(table, Refusal):
            wrong = f"is not read: {table}"
        elif not is_of_document(url, table.document, self._url, declaration.index):
            wrong = "says that it is the table of another document"
        elif isinstance(parted := part_with_tvi(page.body, table, is_xml=not page.is_html), Refusal):
            wrong = f"does not fit the page: {parted}"
        elif table.hash != sha256(page.body).digest():
            wrong = _ANOTHER_VERSION
        else:
            self._say(FOUND, f"{name} fits the page: {_parts(len(table.regions))}")
            return True
        self._say(WRONG, f"{name} {wrong}")
        return False

    def _path(self, url: str) -> str:
        return url[len(self._origin) :]


def _parts(number: int) -> str:
    return "1 part that changes" if number == 1 else f"{number:,} parts that change"
