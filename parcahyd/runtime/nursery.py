"""Children that begin before anybody knows what is to be crawled: they load what is theirs while the configuration is read.

A child that has not been told to begin holds nothing, does nothing, and ends with its channel.
"""

from __future__ import annotations

import socket

import msgspec

from parcahyd.runtime.channel import socket_pair
from parcahyd.runtime.children import Child, can_be_copied

__all__ = ["Newborn", "Nursery"]


class Newborn(msgspec.Struct, frozen=True):
    """A Crawl Worker that was not told to begin yet."""

    child: Child
    buffer: socket.socket
    """The end of its channel to Update Database that is Update Database's."""


class Nursery:
    """Where the coordinator has its children from; filled early, or not at all."""

    def __init__(self) -> None:
        self._update_database: Child | None = None
        self._worker: Newborn | None = None

    def fill(self) -> None:
        """Bear the two children that nearly every crawl needs, if they can be copies of this process."""
        if can_be_copied():
            self._worker = _worker(0)
            self._update_database = Child("update-database", 0)

    def update_database(self) -> Child:
        waiting, self._update_database = self._update_database, None
        return waiting or Child("update-database", 0)

    def worker(self, number: int) -> Newborn:
        """The Crawl Worker that waits here, or one that begins now."""
        waiting, self._worker = self._worker, None
        if waiting is None:
            return _worker(number)
        waiting.child.number = number
        return waiting

    def close(self) -> None:
        """End those that nobody took."""
        if self._worker is not None:
            self._worker.child.kill()
            self._worker.child.end.close()
            self._worker.buffer.close()
        if self._update_database is not None:
            self._update_database.kill()
            self._update_database.end.close()
        self._worker = self._update_database = None


def _worker(number: int) -> Newborn:
    here, there = socket_pair()
    return Newborn(Child("worker", number, [here]), there)
