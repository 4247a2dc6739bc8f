"""The document fingerprint DF: a small number that finds documents which are probably equal.

Two documents with different DF are different. Two different documents have one DF with a probability of 2^-64 per pair: the
paper's statement P23 gives (1/256)^16 for a 64-bit fingerprint, which takes each of its 16 hexadecimal digits for a byte; it is
(1/16)^16. Among the paper's 16,544 files any collision has a probability of 7.4e-12, among a thousand million documents 0.027.
Therefore DF only finds the candidate, and SHA-256 confirms before two URLs share a document.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

__all__ = ["Fingerprint", "df_text", "fingerprint"]


class Fingerprint(NamedTuple):
    """What identifies a document's bytes."""

    df: int
    """The first eight bytes of the SHA-256, big-endian, signed as databases have it."""
    sha256: bytes


def fingerprint(skeleton: bytes | memoryview) -> Fingerprint:
    """The fingerprint of a document without its volatile regions (of the whole document where it has none)."""
    digest = sha256(skeleton).digest()
    return Fingerprint(int.from_bytes(digest[:8], "big", signed=True), digest)


def df_text(df: int) -> str:
    """DF as tables of links write it: `df64=` and 16 hexadecimal digits."""
    return f"df64={df & 0xFFFFFFFFFFFFFFFF:016x}"
