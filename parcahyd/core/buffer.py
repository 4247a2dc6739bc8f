"""What passes between the Document and URL Buffer and Update Database: queues, records with their cost, credit."""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

__all__ = ["BufferQueue", "BufferedRecord", "charge"]

_RECORD_CHARGE = 256

Item = TypeVar("Item")


class BufferQueue(Enum):
    """The three queues, in the order in which Update Database empties them (P19)."""

    EXTERN = "ExternLQ"
    DOC = "DocURLQ"
    BAD = "BadURLQ"


class BufferedRecord(Generic[Item]):
    """A record in the buffer: what it is, what it costs, and whose credit that is."""

    __slots__ = ("cost", "item", "sender", "visit")

    def __init__(self, item: Item, cost: int, sender: int, visit: int) -> None:
        self.item = item
        self.cost = cost
        self.sender = sender
        self.visit = visit


def charge(size: int) -> int:
    """What a record of `size` encoded bytes costs in credit: its bytes, and a fixed amount that bounds their number."""
    return size + _RECORD_CHARGE
