"""LocalQ: the URLs of its site that a visit has to request, bounded by the worker's `Room`.

Filled with what came in the set and with what documents, sitemaps and tables link to; emptied by the visit. What finds no room
stays `known` in the database, or becomes known with the document that links to it, and comes with a later visit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from parcahyd.core.records import DueUrl
from parcahyd.pipeline.crawl_worker.known_urls import Room

__all__ = ["LocalQ"]


class LocalQ:
    """One visit's queue; every URL in it takes one place of the room."""

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
        """The one that `pop` gives next; there must be one."""
        return self._urls[0]

    def pop(self) -> DueUrl:
        self._room.urls += 1
        return self._urls.popleft()

    def put_back(self, url: DueUrl) -> None:
        """One that was just taken comes first again."""
        self._room.urls -= 1
        self._urls.appendleft(url)

    def put(self, url: DueUrl, first: bool = False) -> None:
        """Behind the others, or before them, if there is room."""
        if self._room.urls > 0:
            self._room.urls -= 1
            if first:
                self._urls.appendleft(url)
            else:
                self._urls.append(url)

    def sort(self, key: Callable[[DueUrl], bool]) -> None:
        """Those first for which the key is False; else the order stays."""
        self._urls = deque(sorted(self._urls, key=key))

    def extend(self, found: list[tuple[int, str]], depth: int, most: int) -> int:
        """Keys and paths behind the others, as far as there is room, and at most so many; returns how many that were."""
        count = min(len(found), self._room.urls, most)
        if count <= 0:
            return 0
        self._room.urls -= count
        self._urls.extend([DueUrl(key, path, depth) for key, path in found[:count]])
        return count

    def drop(self, is_unwanted: Callable[[DueUrl], bool]) -> list[int]:
        """Takes out what is not wanted any more; gives its keys."""
        dropped = [url.key for url in self._urls if is_unwanted(url)]
        if dropped:
            gone = set(dropped)
            self._urls = deque([url for url in self._urls if url.key not in gone])
            self._room.urls += len(dropped)
        return dropped

    def clear(self) -> None:
        self._room.urls += len(self._urls)
        self._urls.clear()
