"""Tables that were made a short while ago, by what they were made of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import NamedTuple

__all__ = ["TableCache", "TablePair"]

_OVERHEAD = 500
"""Bytes that an entry takes besides its tables, roughly."""


class TablePair(NamedTuple):
    """The two tables of one page; None where it has none."""

    tol: bytes | None
    tvi: bytes | None


class TableCache:
    """The tables used last, up to so many bytes. Any thread may ask."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, TablePair] = OrderedDict()
        self._lock = Lock()
        self.size = 0

    def get(self, key: Hashable) -> TablePair | None:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def put(self, key: Hashable, tables: TablePair) -> None:
        """Keeps the tables, and lets go of those that were not asked for the longest."""
        weight = _weight(tables)
        with self._lock:
            before = self._entries.pop(key, None)
            self.size -= 0 if before is None else _weight(before)
            if weight > self._capacity:
                return
            self._entries[key] = tables
            self.size += weight
            while self.size > self._capacity:
                self.size -= _weight(self._entries.popitem(last=False)[1])


def _weight(tables: TablePair) -> int:
    return _OVERHEAD + len(tables.tol or b"") + len(tables.tvi or b"")
