"""LocalQ: the URLs of its site that a visit has to request, bounded by the worker's `Room`.

Filled with the URLs of the lease and with those that documents, sitemaps and tables link to; emptied by the visit. A URL for
which there is no room stays `known` in the database, or becomes known with the document that links to it. A later visit gets
it.

URLs that are *later* (`topics.focus`) wait behind all others. One of them moves forward when a page leads there whose links are
followed in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from parcahyd.core.records import DueUrl
from parcahyd.pipeline.crawl_worker.known_urls import Room

__all__ = ["LocalQ"]


class LocalQ:
    """The queue of one visit; each of its URLs uses one place of `Room.urls`."""

    __slots__ = ("_later", "_room", "_urls", "later_taken")

    def __init__(self, urls: Iterable[DueUrl], room: Room, by_depth: bool = True) -> None:
        ordered = sorted(urls, key=lambda url: url.depth) if by_depth else list(urls)
        self._urls = deque([url for url in ordered if not url.is_later])
        self._later = {url.key: url for url in ordered if url.is_later}
        self._room = room
        self.later_taken: Callable[[int], object] = lambda _: None
        """Gets the key of each later URL that is requested."""
        room.urls -= len(self)

    def __len__(self) -> int:
        return len(self._urls) + len(self._later)

    @property
    def in_order(self) -> int:
        """How many of them are not later."""
        return len(self._urls)

    def __iter__(self) -> Iterator[DueUrl]:
        return chain(self._urls, self._later.values())

    @property
    def first(self) -> DueUrl:
        """The URL that `pop` returns next; the queue must not be empty."""
        return self._urls[0] if self._urls else next(iter(self._later.values()))

    def pop(self) -> DueUrl:
        self._room.urls += 1
        if self._urls:
            return self._urls.popleft()
        key = next(iter(self._later))
        self.later_taken(key)
        return self._later.pop(key)

    def put_back(self, url: DueUrl) -> None:
        """Return a URL that was just taken to the head."""
        self._room.urls -= 1
        self._urls.appendleft(url)

    def put(self, url: DueUrl, first: bool = False) -> None:
        """Add a URL at the end, or at the head, if there is room."""
        if self._room.urls > 0:
            self._room.urls -= 1
            if first:
                self._urls.appendleft(url)
            else:
                self._urls.append(url)

    def sort(self, key: Callable[[DueUrl], bool]) -> None:
        """Move the URLs for which the key is False to the head; else the order stays."""
        self._urls = deque(sorted(self._urls, key=key))

    def extend(self, found: list[tuple[int, str]], depth: int, most: int, is_later: bool = False) -> int:
        """Add keys and paths at the end, as far as there is room, and at most so many; returns how many were added."""
        if self._later:
            found = [link for link in found if link[0] not in self._later] if is_later else self._move_forward(found)
        if not is_later:
            self._make_room(min(len(found), most))
        count = min(len(found), self._room.urls, most)
        if count <= 0:
            return 0
        self._room.urls -= count
        if is_later:
            self._later.update({key: DueUrl(key, path, depth, is_later=True) for key, path in found[:count]})
        else:
            self._urls.extend([DueUrl(key, path, depth) for key, path in found[:count]])
        return count

    def _make_room(self, count: int) -> None:
        """Leave later URLs to another visit, where others need their places."""
        while self._later and self._room.urls < count:
            self._later.popitem()
            self._room.urls += 1

    def _move_forward(self, found: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Those that do not wait here yet; those that are later wait behind all that are not, from now on."""
        later = self._later
        moved = {key for key, _ in found if key in later}
        self._urls.extend([later.pop(key) for key, _ in found if key in moved])
        return [link for link in found if link[0] not in moved] if moved else found

    def drop(self, is_unwanted: Callable[[DueUrl], bool]) -> list[int]:
        """Remove the URLs that are not wanted any more; returns their keys."""
        dropped = [url.key for url in self if is_unwanted(url)]
        if dropped:
            gone = set(dropped)
            self._urls = deque([url for url in self._urls if url.key not in gone])
            self._later = {key: url for key, url in self._later.items() if key not in gone}
            self._room.urls += len(dropped)
        return dropped

    def clear(self) -> None:
        self._room.urls += len(self)
        self._urls.clear()
        self._later.clear()
