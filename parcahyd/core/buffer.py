"""What passes between the Document and URL Buffer and Update Database: queues, records with their cost, credit."""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

import msgspec

__all__ = ["BufferQueue", "BufferedRecord", "Written", "charge"]

_RECORD_CHARGE = 256

Item = TypeVar("Item")


class BufferQueue(Enum):
    """The three queues, in the order in which Update Database empties them (P19)."""

    EXTERN = "ExternLQ"
    DOC = "DocURLQ"
    BAD = "BadURLQ"


class BufferedRecord(msgspec.Struct, Generic[Item], frozen=True, gc=False):
    """A record in the buffer: what it is, what it costs, and whose credit that is."""

    item: Item
    cost: int
    sender: int
    visit: int


class Written(msgspec.Struct):
    """What a batch came to."""

    stored: int = 0
    """Pages that brought a document or a redirect that the URL did not have."""
    unchanged: int = 0
    """Pages whose bytes or server say that nothing changed."""
    received: int = 0
    """Bytes of documents, decoded."""
    found: int = 0
    """URLs that nobody had seen before."""
    woken: bool = False
    """A site that nobody visits may have something to do."""
    late: int = 0
    """Records that changed nothing, since their visit is no longer open."""


def charge(size: int) -> int:
    """What a record of `size` encoded bytes costs in credit: its bytes, and a fixed amount that bounds their number."""
    return size + _RECORD_CHARGE
