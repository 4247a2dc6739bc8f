"""The template of a URL: what it has in common with other URLs that the same program writes.

Everything from a digit to the end of its word is one and the same (`/item-17.html`, `/2031-05-12/`, `/3fa9c0de`), a query is
its list of names, and a path with repeated segments is the set of its segments, because broken links put them in any order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "names_of",
    "numbered",
    "repeats",
    "template",
]

_NUMBER = re.compile(r"[0-9][\w~%-]*+")


def numbered(text: str) -> str:
    """The text with its numbers, dates and tokens made one."""
    return _NUMBER.sub("0", text)


def names_of(query: str) -> list[str]:
    """A query's parameter names, in their order."""
    return [piece.partition("=")[0] for piece in query.split("&")]


def template(path: str) -> str:
    """The template of a path with its query; the path itself where that is the only one of its kind."""
    plain, mark, query = path.partition("?")
    plain = _NUMBER.sub("0", plain)
    segments = plain.strip("/").split("/")
    distinct = set(segments)
    if len(distinct) < len(segments):
        plain = f"/{'/'.join(sorted(distinct))}"
    return f"{plain}?{_NUMBER.sub('0', '&'.join(names_of(query)))}" if mark else plain


# --- Paths that are too deep, and paths that repeat themselves ----------------------------------------------------------
# A page that is served at every depth and links to `b/` relative to itself makes `/a/b/b/b/...`; two of them make every mixture
# of their names. What counts is therefore how many segments have occurred in the path before, wherever they stand. Numbers do
# not: `/1/1/1/1/11.png` is how files are spread over folders.


def repeats(pieces: Sequence[str]) -> int:
    """How many of the segments, or parameters, have occurred before."""
    words = [piece for piece in pieces if not piece.isdecimal()]
    return len(words) - len(set(words))
