"""A document in hand: which of its links are new, split into this site's and others'.

Nearly every tag of a page was on the page before it, so tags are remembered as they stand, per directory: the same tag in the
same directory leads to the same URL, unless its reference is empty or begins with a query. All that is remembered is bounded by
`Room`; what is forgotten is only looked at once more.
"""

from __future__ import annotations

from itertools import filterfalse

from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.rules.canonical_url import Joiner, key_of
from parcahyd.rules.links import PageLinks

__all__ = ["LinkReader"]

_REMEMBERED = 50_000
"""Links of one visit: more of them hardly come again."""


class LinkReader:
    """Reads the links of one visit's documents. `read` gives new paths with their keys, and new external URLs."""

    __slots__ = ("_directories", "_known", "_max_length", "_origin", "_prefix", "_remembered", "_room", "_targets")

    def __init__(self, origin: str, known: KnownUrls, room: Room, max_url_length: int) -> None:
        self._origin = len(origin)
        self._prefix = origin + "/"
        self._known = known
        self._room = room
        self._max_length = max_url_length
        self._directories: dict[str, set[bytes]] = {}
        self._remembered = 0
        self._targets: set[str] = set()

    def read(self, url: str, links: PageLinks, embedded: bool) -> tuple[list[tuple[int, str]], list[str]]:
        base = Joiner(url).join(links.base) or url if links.base else url
        seen = self._seen_in(base)
        internal: list[tuple[int, str]] = []
        external: list[str] = []
        unseen = [*filterfalse(seen.__contains__, links.tags)]
        if not unseen:
            return internal, external
        join = Joiner(base).join
        before = len(seen) + len(self._targets)
        for tag in unseen:
            found = links.tags[tag]
            if not found.hangs_on_page:
                seen.add(tag)
            for href in (*found.follow, *found.embedded) if embedded else found.follow:
                target = join(href) if href or links.base else None
                if target is not None and target not in self._targets:
                    self._targets.add(target)
                    if len(target) <= self._max_length:
                        self._sort(target, internal, external)
        self._remember(len(seen) + len(self._targets) - before)
        return internal, external

    def is_new_path(self, path: str) -> int | None:
        """The key of a path of this site that was not seen before, else None."""
        key = key_of(path)
        return key if self._known.add(key) else None

    def _sort(self, target: str, internal: list[tuple[int, str]], external: list[str]) -> None:
        if target.startswith(self._prefix):
            path = target[self._origin :]
            key = key_of(path)
            if self._known.add(key):
                internal.append((key, path))
        else:
            external.append(target)

    def _seen_in(self, base: str) -> set[bytes]:
        path = base.partition("?")[0]
        return self._directories.setdefault(path[: path.rfind("/") + 1], set())

    def _remember(self, more: int) -> None:
        self._remembered += more
        self._room.links -= more
        if self._remembered > _REMEMBERED or self._room.links < 0:
            self.forget()

    def forget(self) -> None:
        """Give the room back: it is used up, or the visit is over."""
        self._room.links += self._remembered
        self._remembered = 0
        self._directories.clear()
        self._targets.clear()
