"""Paths that are too deep, and paths that repeat themselves.

A page that is served at every depth and links to `b/` relative to itself makes `/a/b/b/b/...`; two of them make every mixture
of their names. What counts is therefore how many segments have occurred in the path before, wherever they stand. Numbers do
not: `/1/1/1/1/11.png` is how files are spread over folders.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["repeats"]


def repeats(pieces: Sequence[str]) -> int:
    """How many of the segments, or parameters, have occurred before."""
    words = [piece for piece in pieces if not piece.isdecimal()]
    return len(words) - len(set(words))
