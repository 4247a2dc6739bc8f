"""Which links may lead from one site to another, by the schemes of the two.

The author of a page must not make the crawler read this machine: documents of a local scheme (`file:` and those of plugins that
say so) are read because the user named them or because a document of the same scheme links to them, and for no other reason.

A gopher client sends a line that stands in the URL, so on another port than gopher's own that line could be a command of
another protocol. A server there is crawled if the user named it.
"""

from __future__ import annotations

from collections.abc import Collection

from parcahyd.core.states import Reason

__all__ = ["ALWAYS_LOCAL", "OPEN_SCHEMES", "cross_refusal"]

ALWAYS_LOCAL = frozenset(("file",))
"""Local schemes, whatever plugins there are."""
OPEN_SCHEMES = frozenset(("http", "https", "ftp"))
"""Schemes to which every site may link: nearly all links are of these, and nothing has to be looked up for them."""
_GOPHER_PORT = 70


def cross_refusal(asker: str, scheme: str, port: int, local_schemes: Collection[str]) -> Reason | None:
    """Why no link, redirect or robots.txt of a site with the scheme `asker` leads to another site with this scheme and port."""
    if scheme in local_schemes and scheme != asker:
        return Reason.LOCAL
    return Reason.PORT if scheme == "gopher" and port != _GOPHER_PORT else None
