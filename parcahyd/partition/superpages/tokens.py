"""The way of a URL down the URL tree: its domain from right to left, then its path from left to right (statements C17, C18).

`gcs.almaden.ibm.com/docs/Slides/Tspaces/index.htm` goes by com, ibm, almaden, gcs, /docs, /Slides, /Tspaces, /index.htm.
Scheme, port and user say nothing. A token of a path keeps its slash, or `www.ibm.com/docs` and `docs.www.ibm.com` would be one.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["MOST_LETTERS", "MOST_TOKENS", "key_of", "order_of", "site_of", "token_path", "tokens_of"]

MOST_TOKENS = 24
"""A URL goes no deeper, however many slashes and dots it has."""
MOST_LETTERS = 48
"""Tokens that begin with so many equal letters are one token."""
_MOST_READ = 2048
"""Letters of a name or path that are looked at: page authors write names of any length."""


def token_path(host: str, path: str = "/") -> tuple[str, ...]:
    """The tokens of a URL, at most MOST_TOKENS; the query is a token of its own."""
    host, path = host[:_MOST_READ], path[:_MOST_READ]
    if not host.isascii() or not path.isascii():
        # A lone surrogate has no bytes, and what is shared is bytes.
        host, path = (text.encode("utf-8", "backslashreplace").decode() for text in (host, path))
    # A name that is empty, in an odd host, would make the key of a node that of the node above it.
    tokens = [host] if _is_address(host) else [name or "." for name in host.split(".")[::-1]]
    if path:
        path, mark, query = path.removeprefix("/").partition("?")
        tokens += [f"/{token}" for token in path.split("/", MOST_TOKENS)]
        if mark:
            tokens.append(f"?{query}")
    return tuple([token[:MOST_LETTERS] for token in tokens[:MOST_TOKENS]])


def _is_address(host: str) -> bool:
    """The parts of a numeric address are no domains of one another."""
    return host[:1] == "[" or host.rpartition(".")[2].isdecimal()


def order_of(token: str) -> str:
    """What tokens are put in order by: capitals count as small letters, as in names of hosts."""
    return token.lower()


def key_of(tokens: Sequence[str]) -> str:
    """One text for the beginning of a token path: `com,ibm,almaden,gcs/docs/Slides`."""
    names = [token for token in tokens if token[:1] not in ("/", "?")]
    return ",".join(names) + "".join(tokens[len(names) :])


def tokens_of(key: str) -> tuple[str, ...]:
    """The tokens that a key was made of."""
    path_begins = min((place for place in (key.find("/"), key.find("?")) if place >= 0), default=len(key))
    names = tuple(key[:path_begins].split(",")) if path_begins else ()
    path, mark, query = key[path_begins:].partition("?")
    return (*names, *(f"/{token}" for token in path.split("/")[1:]), *([f"?{query}"] if mark else []))


def site_of(tokens: Sequence[str]) -> str:
    """As `SiteMove.site` has it: a host, or a host and a path, which stands for the path and for what goes on with / or ?."""
    names = [token for token in tokens if token[:1] not in ("/", "?")]
    return ".".join(names[::-1]) + "".join(tokens[len(names) :])
