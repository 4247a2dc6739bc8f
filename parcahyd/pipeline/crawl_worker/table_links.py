"""What tables of links tell: which URLs a crawl is going to meet, before the documents come that link to them.

Nothing here touches the visit, so that a bundle can be read beside the event loop. Links are taken breadth first from pages
that are about to be asked for: each gets the depth that the crawl would give it.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from parcahyd.augment.bundle import BundleReader
from parcahyd.augment.declaration import Declaration
from parcahyd.augment.refusal import Refusal
from parcahyd.augment.sidecars import is_of_document, resolve
from parcahyd.augment.tol import Tol, TolHead, read_tol
from parcahyd.rules.canonical_url import Joiner, key_of
from parcahyd.rules.links import PageLinks
from parcahyd.rules.parameters import Canon, joining

__all__ = ["TableTeller", "Told", "compare"]

_MOST_EXTERNAL = 10_000
"""URLs of other sites that one table or bundle tells early; the others come with their documents."""
_MOST_SAMPLES = 64
"""Tables of one answer that are held against their documents."""
_MOST_COMPARED = 500
"""Links of one table that are held against its document."""


class Told(NamedTuple):
    """What one answer told."""

    internal: list[tuple[int, list[str]]]
    """Depth, and paths of this site."""
    external: list[tuple[int, list[str]]]
    samples: dict[str, array[int]]
    """By path of a document: the keys of the links that its table has."""
    refusal: Refusal | None = None
    """What is wrong with it; what came before stays told."""


class TableTeller:
    """Reads tables of one site. `may_follow` says whether the robots directives of a table's head let its links be followed."""

    def __init__(self, origin: str, canon: Canon | None, embedded: bool, may_follow: Callable[[str], bool], most: int) -> None:
        self._origin = origin
        self._canon = canon
        self._embedded = embedded
        self._may_follow = may_follow
        self._most = most
        """Paths of this site that one answer tells: more are not asked for in a visit."""

    def read_table(self, data: bytes, path: str, page: str, depth: int, index: str) -> Told:
        """The table of links of one page."""
        table = read_tol(data)
        if isinstance(table, Refusal):
            return Told([], [], {}, table)
        if not is_of_document(self._origin + path, table.head.document, self._origin + page, index):
            return Told([], [], {}, _of_another())
        return self._tell({page: table}, [(page, depth)], index)

    def read_bundle(self, data: bytes, path: str, declaration: Declaration, roots: list[tuple[str, int]]) -> Told:
        """A bundle, from the pages that are about to be asked for."""
        reader = BundleReader()
        tables: dict[str, Tol] = {}
        for table in reader.feed(data):
            self._take(table, path, declaration, tables)
        last = reader.finish()
        if isinstance(last, Tol):
            self._take(last, path, declaration, tables)
        told = self._tell(tables, roots, declaration.index)
        return told._replace(refusal=last) if isinstance(last, Refusal) else told

    def _take(self, table: Tol, path: str, declaration: Declaration, tables: dict[str, Tol]) -> None:
        url = resolve(self._origin + path, table.head.document)
        if url is not None and declaration.covers(url):
            tables.setdefault(_with_index(url[len(self._origin) :], declaration.index), table)

    def _tell(self, tables: dict[str, Tol], roots: Iterable[tuple[str, int]], index: str) -> Told:
        told = Told([], [], {})
        met = {path for path, _ in roots}
        waiting = deque(roots)
        internal = external = 0
        seen: dict[str, set[str]] = {}
        while waiting and internal < self._most:
            page, depth = waiting.popleft()
            table = tables.pop(_with_index(page, index), None) or tables.pop(page, None)
            if table is None or not self._may_follow(table.head.robots):
                continue
            inside: list[str] = []
            outside: list[str] = []
            self._sort(page, table, seen, met, inside, outside)
            if inside:
                told.internal.append((depth + 1, inside))
                internal += len(inside)
                waiting.extend([(path, depth + 1) for path in inside])
            if outside and external < _MOST_EXTERNAL:
                told.external.append((depth + 1, outside[: _MOST_EXTERNAL - external]))
                external += len(outside)
            self._sample(page, table, told.samples)
        return told

    def _sort(
        self, page: str, table: Tol, seen: dict[str, set[str]], met: set[str], inside: list[str], outside: list[str]
    ) -> None:
        base = self._base(page, table.head)
        join, start = joining(base, self._canon), len(self._origin)
        prefix = self._origin + "/"
        # Nearly every reference stood on a page of the same directory before.
        of_directory = seen.setdefault(base.partition("?")[0].rpartition("/")[0], set())
        for reference in (*table.follow, *table.embedded) if self._embedded else table.follow:
            if reference in of_directory:
                continue
            if reference[:1] != "?":
                of_directory.add(reference)
            url = join(reference)
            if url is None:
                continue
            target = url[start:] if url.startswith(prefix) else url
            if target not in met:
                met.add(target)
                (inside if target is not url else outside).append(target)

    def _base(self, page: str, head: TolHead) -> str:
        url = self._origin + page
        return (Joiner(url).join(head.base) or url) if head.base else url

    def _sample(self, page: str, table: Tol, samples: dict[str, array[int]]) -> None:
        if len(samples) >= _MOST_SAMPLES:
            return
        join = joining(self._base(page, table.head), self._canon)
        urls = {url for reference in table.follow[:_MOST_COMPARED] if (url := join(reference)) is not None}
        samples[page] = array("q", map(key_of, urls))


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


def _of_another() -> Refusal:
    from parcahyd.augment.refusal import Fault

    return Refusal(Fault.DOCUMENT)
