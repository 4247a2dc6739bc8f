"""A record of an archive as its reader hands it over, whatever the form of the archive.

Tested in tests/importing/test_warc_reader.py.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import NamedTuple

import msgspec

__all__ = ["MOST_HEADER", "Damaged", "Limits", "RawRecord", "TooManyDamages", "states_its_digest"]

MOST_HEADER = 64 * 1024
"""Bytes that the header of a record may have, and the head of the answer in it."""

Damaged = Callable[[int, str], None]
"""Is told where a damaged record begins, in bytes from the beginning of the file, and what is wrong with it."""

_LENGTHS = {"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}


class Limits(NamedTuple):
    """What a reader takes."""

    most: int
    """Bytes of a block; a larger one is passed over."""
    ignores_digests: bool = False
    """Records whose bytes do not have the digest that they state are taken, too."""


class TooManyDamages(Exception):
    """So much of a file is damaged that the rest of it is not read."""


class RawRecord(msgspec.Struct, frozen=True, gc=False):
    """A record as it stands in an archive."""

    offset: int
    """Of the record in its file, or of the gzip member that it is in."""
    kind: str
    """As WARC-Type has it."""
    fields: dict[str, str]
    """By name, in lower case."""
    block: bytes
    is_too_large: bool = False
    """The block is larger than is read; then it is empty."""


def states_its_digest(stated: str, block: bytes) -> bool | None:
    """Whether bytes have the digest that a field states; None where it states none that can be compared."""
    algorithm, _, text = stated.strip().partition(":")
    algorithm = algorithm.lower().replace("-", "")
    length = _LENGTHS.get(algorithm)
    if length is None:
        return None
    try:
        digest = bytes.fromhex(text) if len(text) == 2 * length else base64.b32decode(text, casefold=True)
    except (ValueError, binascii.Error):
        return None
    return hashlib.new(algorithm, block, usedforsecurity=False).digest() == digest if len(digest) == length else None
