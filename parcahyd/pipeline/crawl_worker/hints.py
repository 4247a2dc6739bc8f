"""Hints: paths that tables of links told of before any document did.

They wait in LocalQ like others, judged by the same gate, but they are not *known*: the document that has the link still carries
it in its record, and the two are committed together. What is lost of hints when a worker is killed is found again there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Reason
from parcahyd.core.records import DueUrl
from parcahyd.pipeline.crawl_worker.asks import Ask
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.pipeline.crawl_worker.scribe import Scribe
from parcahyd.pipeline.crawl_worker.tables import Tables
from parcahyd.rules.canonical_url import key_of

if TYPE_CHECKING:
    from parcahyd.pipeline.crawl_worker.table_links import Told
    from parcahyd.rules.links import PageLinks

__all__ = ["Hints"]

_MOST_EXTERNAL = 10_000
"""URLs of other sites that one table or bundle tells early; the others come with their documents."""


class Hints:
    """The hints of one visit; each takes the room of a key."""

    __slots__ = ("_judge", "_known", "_local_q", "_longest", "_room", "_scribe", "_tables", "keys")

    def __init__(
        self,
        tables: Tables,
        known: KnownUrls,
        room: Room,
        local_q: LocalQ,
        judge: Callable[[str], Reason | None],
        scribe: Scribe,
        work: WorkConf,
    ) -> None:
        self.keys: set[int] = set()
        """Of paths that were put into LocalQ because a table told of them, whatever became of them since."""
        self._tables = tables
        self._known = known
        self._room = room
        self._local_q = local_q
        self._judge = judge
        self._scribe = scribe
        self._longest = work.MaxUrlLength

    def table_came(self, ask: Ask, told: Told, waiting: Iterable[DueUrl], pages: int, now: float) -> None:
        """Links before their documents: this site's to LocalQ, up to so many pages, others' to ExternLQ.

        They are taken breadth first from pages that are `waiting` or on the wire, and from what is found there: each gets the
        depth that a crawl without tables gives it, and no page that is refused leads any further.
        """
        if not self._tables.told(ask, told, now):
            return
        roots = deque([(page.path, page.depth) for page in (*self._tables.on_the_wire.values(), *waiting)])
        met: set[str] = set()
        outside: dict[int, dict[str, None]] = {}
        while roots and told.pages:
            path, depth = roots.popleft()
            table = told.take(path)
            if table is None or not self._tables.may_ask(path):
                continue
            self._tables.expect(path, table)
            fresh = [target for target in table.inside if target not in met]
            met.update(fresh)
            found = self._admitted(fresh, pages - len(self._local_q))
            self._local_q.extend(found, depth + 1, len(found))
            roots.extend([(target, depth + 1) for _, target in found])
            outside.setdefault(depth + 1, {}).update(dict.fromkeys(table.outside))
        self._tell_others(outside)

    def _tell_others(self, outside: dict[int, dict[str, None]]) -> None:
        told: set[str] = set()
        for depth, urls in outside.items():
            fresh = [url for url in urls if len(url) <= self._longest and url not in told][: _MOST_EXTERNAL - len(told)]
            told.update(fresh)
            if fresh:
                self._scribe.extern(depth, tuple(fresh))

    def document_came(self, page: DueUrl, links: PageLinks, now: float) -> None:
        """A document names tables, or is to be held against its own."""
        if links.tables:
            self._tables.learn(page.path, links, now)
        if self._tables.expects and self._tables.compare(page, links, now):
            self._take_back()

    def _admitted(self, paths: Iterable[str], most: int) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        longest = self._longest - len(self._tables.origin)
        most = min(most, self._room.urls) if self._known.is_whole else 0
        for path in paths:
            if len(found) >= most or self._room.keys <= 0:
                break
            key = key_of(path)
            if len(path) > longest or key in self.keys or key in self._known or self._judge(path) is not None:
                continue
            self._room.keys -= 1
            self.keys.add(key)
            found.append((key, path))
        return found

    def without(self, found: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Links of a document without those that were hinted at: they are in LocalQ, or were."""
        return [link for link in found if link[0] not in self.keys] if self.keys else found

    def _take_back(self) -> None:
        """The tables are not believed any more: what no document confirmed is not asked for."""
        dropped = self._local_q.drop(lambda url: url.key in self.keys and url.key not in self._known)
        self.keys.difference_update(dropped)
        self._room.keys += len(dropped)

    def forget(self) -> None:
        """Give the room back: the visit is over."""
        self._room.keys += len(self.keys)
        self.keys.clear()
