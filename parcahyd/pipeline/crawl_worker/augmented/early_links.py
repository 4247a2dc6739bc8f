"""Early links: paths that tables of links name before the documents arrive that have the links.

They wait in LocalQ like others, and the same URL filter judges them, but they do not count as known. The record of the document
still has the link, and both are committed together. So early links that are lost when a worker is killed are found again in
that document.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import DueUrl
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.augmented.table_links import TableLinks
from parcahyd.pipeline.crawl_worker.augmented.table_requests import TableRequests
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.local_q import LocalQ
from parcahyd.pipeline.crawl_worker.record_writer import RecordWriter
from parcahyd.rules.urls.canonical_url import key_of

__all__ = ["EarlyLinks", "WaitingPages"]

_MOST_EXTERNAL = 10_000
"""URLs of other sites that are taken from one table or bundle; the others are found in their documents."""


class WaitingPages(Protocol):
    """The pages that a visit has still to request."""

    @property
    def local_q(self) -> LocalQ: ...

    @property
    def pages(self) -> list[DueUrl]:
        """All pages that wait, the next one first."""
        ...

    @property
    def pages_left(self) -> int:
        """How many pages the visit may still request."""
        ...


class EarlyLinks:
    """The early links of one visit; each uses one place of `Room.keys`."""

    __slots__ = ("_allows", "_judge", "_known", "_longest", "_origin", "_room", "_tables", "_waiting", "_writer", "keys")

    def __init__(
        self,
        origin: str,
        work: WorkConf,
        tables: TableRequests,
        allows: Callable[[str], bool],
        judge: Callable[[str], Reason | None],
        known: KnownUrls,
        room: Room,
        waiting: WaitingPages,
        writer: RecordWriter,
    ) -> None:
        self.keys: set[int] = set()
        """Keys of all paths that were put into LocalQ because a table names them."""
        self._origin = origin
        self._longest = work.MaxUrlLength
        self._tables = tables
        self._allows = allows
        self._judge = judge
        self._known = known
        self._room = room
        self._waiting = waiting
        self._writer = writer

    def take(self, links: TableLinks) -> None:
        """Put the links of this site into LocalQ, and send those of other sites to ExternLQ.

        They are taken breadth first, from pages that wait or are on the wire, and from the pages found there. So each gets the
        depth that a crawl without tables gives it, and links of a refused page are not taken.
        """
        local_q, most = self._waiting.local_q, self._waiting.pages_left
        roots = deque([(page.path, page.depth) for page in (*self._tables.on_the_wire.values(), *self._waiting.pages)])
        seen: set[str] = set()
        outside: dict[int, dict[str, None]] = {}
        while roots and links.pages:
            path, depth = roots.popleft()
            table = links.take(path)
            if table is None or not self._allows(path):
                continue
            self._tables.expect(path, table)
            fresh = [target for target in table.inside if target not in seen]
            seen.update(fresh)
            found = self._admitted(fresh, most - len(local_q))
            local_q.extend(found, depth + 1, len(found))
            roots.extend([(target, depth + 1) for _, target in found])
            outside.setdefault(depth + 1, {}).update(dict.fromkeys(table.outside))
        self._send_external(outside)

    def _send_external(self, outside: dict[int, dict[str, None]]) -> None:
        sent: set[str] = set()
        for depth, urls in outside.items():
            fresh = [url for url in urls if len(url) <= self._longest and url not in sent][: _MOST_EXTERNAL - len(sent)]
            sent.update(fresh)
            if fresh:
                self._writer.extern(depth, tuple(fresh))

    def _admitted(self, paths: Iterable[str], most: int) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        longest = self._longest - len(self._origin)
        most = min(most, self._room.urls) if self._known.is_complete else 0
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

    def take_back(self) -> None:
        """The tables are not trusted any more: remove the early links that no document has confirmed."""
        dropped = self._waiting.local_q.drop(lambda url: url.key in self.keys and url.key not in self._known)
        self.keys.difference_update(dropped)
        self._room.keys += len(dropped)

    def forget(self) -> None:
        """Give the room back: the visit is over."""
        self._room.keys += len(self.keys)
        self.keys.clear()
