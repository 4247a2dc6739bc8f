"""The template of a URL: what it has in common with others that one program makes.

Everything from a digit to the end of its word is one and the same (`/item-17.html`, `/2031-05-12/`, `/3fa9c0de`), a query is
its list of names, and a path in which segments come twice is the set of its segments, in whichever order a broken link put
them.
"""

from __future__ import annotations

import re

__all__ = ["names_of", "numbered", "template"]

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
