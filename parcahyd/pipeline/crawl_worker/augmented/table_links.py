"""Reads tables of links: the targets of each page's links, before the page arrives.

Nothing here changes the visit, so that a bundle can be read in a thread.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple

from parcahyd.augment.bundle import BundleReader
from parcahyd.augment.refusal import Refusal, RefusalReason
from parcahyd.augment.sidecars import is_of_document, resolve
from parcahyd.augment.site_offer import Declaration
from parcahyd.augment.tol import Tol, read_tol
from parcahyd.rules.html.links import PageLinks
from parcahyd.rules.urls.canonical_url import Joiner, key_of
from parcahyd.rules.urls.parameters import Canon, joining

__all__ = ["PageTable", "TableLinks", "TableReader", "compare", "sample_of"]

_MOST_COMPARED = 500
"""Links of one table that are compared with its document."""


class PageTable(NamedTuple):
    """The targets of the links of one page; URLs are canonical."""

    inside: list[str]
    """Paths of this site."""
    outside: list[str]


class TableLinks(NamedTuple):
    """The links that one answer names, by page."""

    pages: dict[str, PageTable]
    """By path, with the name of the index document."""
    index_name: str
    refusal: Refusal | None = None
    """Why the rest of the answer was refused; the tables before that are valid."""

    def take(self, path: str) -> PageTable | None:
        """Remove and return the table of a page."""
        return self.pages.pop(_with_index(path, self.index_name), None)


class TableReader:
    """Reads tables of one site. `may_follow` says whether the robots directives of a table's head let its links be followed."""

    def __init__(self, origin: str, canon: Canon | None, embedded: bool, may_follow: Callable[[str], bool]) -> None:
        self._origin = origin
        self._prefix = origin + "/"
        self._canon = canon
        self._embedded = embedded
        self._may_follow = may_follow
        self._targets: dict[str, dict[str, str]] = {}
        """By directory and reference: where it leads. Nearly every reference was on an earlier page of its directory."""

    def read_table(self, data: bytes, path: str, page: str, index: str) -> TableLinks:
        """The table of links of one page."""
        links = TableLinks({}, index)
        table = read_tol(data)
        if isinstance(table, Refusal):
            return links._replace(refusal=table)
        if not is_of_document(self._origin + path, table.head.document, self._origin + page, index):
            return links._replace(refusal=Refusal(RefusalReason.DOCUMENT))
        self._add(page, table, links)
        return links

    def read_bundle(self, data: bytes, path: str, declaration: Declaration) -> TableLinks:
        """The tables of a bundle whose documents its declaration covers."""
        links = TableLinks({}, declaration.index)
        reader = BundleReader()
        for table in reader.feed(data):
            self._add_covered(table, path, declaration, links)
        last = reader.finish()
        if isinstance(last, Tol):
            self._add_covered(last, path, declaration, links)
        return links._replace(refusal=last) if isinstance(last, Refusal) else links

    def _add_covered(self, table: Tol, path: str, declaration: Declaration, links: TableLinks) -> None:
        url = resolve(self._origin + path, table.head.document)
        if url is not None and declaration.covers(url):
            self._add(url[len(self._origin) :], table, links)

    def _add(self, page: str, table: Tol, links: TableLinks) -> None:
        page = _with_index(page, links.index_name)
        if page not in links.pages and self._may_follow(table.head.robots):
            links.pages[page] = self._page_table(page, table)

    def _page_table(self, page: str, table: Tol) -> PageTable:
        url = self._origin + page
        base = (Joiner(url).join(table.head.base) or url) if table.head.base else url
        join = joining(base, self._canon)
        known = self._targets.setdefault(base.partition("?")[0].rpartition("/")[0], {})
        targets: dict[str, None] = {}
        for reference in (*table.follow, *table.embedded) if self._embedded else table.follow:
            target = known.get(reference)
            if target is None:
                target = self._shortened(join(reference) or "")
                if reference[:1] != "?":
                    known[reference] = target
            targets[target] = None
        targets.pop("", None)
        return PageTable([target for target in targets if target[0] == "/"], [target for target in targets if target[0] != "/"])

    def _shortened(self, url: str) -> str:
        """The path of a URL of this site; other URLs unchanged."""
        return url[len(self._prefix) - 1 :] if url.startswith(self._prefix) else url


def sample_of(table: PageTable, origin: str) -> array[int]:
    """The keys of a table's links, to be compared with its document."""
    urls = [*(origin + path for path in table.inside[:_MOST_COMPARED]), *table.outside[:_MOST_COMPARED]]
    return array("q", map(key_of, urls[:_MOST_COMPARED]))


def compare(sample: array[int], url: str, links: PageLinks, canon: Canon | None) -> tuple[int, int]:
    """How many links of a table its document has, and how many it has not."""
    base = (Joiner(url).join(links.base) or url) if links.base else url
    join = joining(base, canon)
    references = {line.split("\t", 2)[1] for line in links.lines}
    had = {key_of(found) for reference in references if (found := join(reference)) is not None}
    confirmed = sum(map(had.__contains__, sample))
    return confirmed, len(sample) - confirmed


def _with_index(path: str, index: str) -> str:
    return path + index if path.endswith("/") and "?" not in path else path
