"""What passes between the Document and URL Buffer and Update Database: queues, records with their cost, credit."""

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
    """A record in the buffer, its cost, and the worker (`sender`) and visit whose credit it takes."""

    item: Item
    cost: int
    sender: int
    visit: int


class Written(msgspec.Struct):
    """The outcome of a batch of records."""

    stored: int = 0
    """Pages with a document or a redirect that the URL did not have."""
    unchanged: int = 0
    """Pages that did not change, by their bytes or by the server's answer."""
    received: int = 0
    """Bytes of documents, decoded."""
    found: int = 0
    """URLs that were not known before."""
    woken: bool = False
    """A site that is not being visited may have something to do."""
    late: int = 0
    """Records that changed nothing, since their visit is no longer open."""


def charge(size: int) -> int:
    """What a record of `size` encoded bytes costs in credit: its bytes, and a fixed amount that bounds their number."""
    return size + _RECORD_CHARGE
