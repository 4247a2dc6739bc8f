"""LocalQ: the URLs of its site that a visit has to request, bounded by the worker's `Room`.

Filled with the URLs of the lease and with those that documents, sitemaps and tables link to; emptied by the visit. A URL for
which there is no room stays `known` in the database, or becomes known with the document that links to it. A later visit gets
it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from parcahyd.core.records import DueUrl
from parcahyd.pipeline.crawl_worker.known_urls import Room

__all__ = ["LocalQ"]


class LocalQ:
    """The queue of one visit; each of its URLs uses one place of `Room.urls`."""

    __slots__ = ("_room", "_urls")

    def __init__(self, urls: Iterable[DueUrl], room: Room) -> None:
        self._urls = deque(sorted(urls, key=lambda url: url.depth))
        self._room = room
        room.urls -= len(self._urls)

    def __len__(self) -> int:
        return len(self._urls)

    def __iter__(self) -> Iterator[DueUrl]:
        return iter(self._urls)

    @property
    def first(self) -> DueUrl:
        """The URL that `pop` returns next; the queue must not be empty."""
        return self._urls[0]

    def pop(self) -> DueUrl:
        self._room.urls += 1
        return self._urls.popleft()

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

    def extend(self, found: list[tuple[int, str]], depth: int, most: int) -> int:
        """Add keys and paths at the end, as far as there is room, and at most so many; returns how many were added."""
        count = min(len(found), self._room.urls, most)
        if count <= 0:
            return 0
        self._room.urls -= count
        self._urls.extend([DueUrl(key, path, depth) for key, path in found[:count]])
        return count

    def drop(self, is_unwanted: Callable[[DueUrl], bool]) -> list[int]:
        """Remove the URLs that are not wanted any more; returns their keys."""
        dropped = [url.key for url in self._urls if is_unwanted(url)]
        if dropped:
            gone = set(dropped)
            self._urls = deque([url for url in self._urls if url.key not in gone])
            self._room.urls += len(dropped)
        return dropped

    def clear(self) -> None:
        self._room.urls += len(self._urls)
        self._urls.clear()
