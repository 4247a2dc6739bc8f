"""What was changed to bring a URL into its canonical form, in words for people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.rules.urls.parameters import Canon

__all__ = ["spelling_changes"]

_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):[/\\]*(?:(?P<user>[^/?#\\]*)@)?(?P<host>\[[^\]]*\]|[^/?#:\\]*)(?::(?P<port>[0-9]*))?"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?",
    re.DOTALL,
).fullmatch
_DOTS = re.compile(r"(?:^|[/\\])(?:\.|%2e){1,2}(?:$|[/\\])", re.IGNORECASE)
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")


def spelling_changes(given: str, url: str, canon: Canon | None = None) -> list[str]:
    """What makes the canonical `url` differ from what was given; empty where nothing does."""
    if given == url:
        return []
    if canon is not None:
        plain = canonical(given)
        if plain is not None and plain != url:
            return [*spelling_changes(given, plain), "parameters left out or sorted, as StripParameters and SortParameters say"]
    before, after = _PARTS(given.strip()), _PARTS(url)
    if before is None or after is None:
        return ["written as the URL standard does"]
    return list(_changes(given, before, after)) or ["written as the URL standard does"]


def _changes(given: str, before: re.Match[str], after: re.Match[str]) -> Iterator[str]:
    if given != given.strip():
        yield "blanks around it dropped"
    if before["scheme"] != after["scheme"]:
        yield "scheme in lower case"
    if before["user"] is not None:
        yield "credentials dropped"
    yield from _host_changes(before["host"], after["host"])
    if before["port"] is not None and after["port"] is None:
        yield "default port dropped"
    yield from _path_changes(before["path"], after["path"])
    if before["query"] == "":
        yield "empty query dropped"
    elif before["query"] != after["query"] and before["query"] is not None:
        yield "escapes of the query in their usual spelling"
    if before["fragment"] is not None:
        yield "fragment dropped"


def _host_changes(before: str, after: str) -> Iterator[str]:
    if not before.isascii():
        yield "host in its ASCII form"
    elif before != after:
        known = {after: "host in lower case", f"{after}.": "dot after the host dropped"}
        yield known.get(before.lower(), "host resolved")


def _path_changes(before: str, after: str) -> Iterator[str]:
    if _DOTS.search(before):
        yield "dot segments resolved"
    elif "\\" in before:
        yield "backslashes turned"
    elif (before or "/") != after:
        same = unquote_to_bytes(before or "/") == unquote_to_bytes(after)
        yield "escapes in their usual spelling" if same and _ESCAPE.search(before) else "characters escaped"
