"""The gopher protocol as far as a crawler needs it (RFC 1436, RFC 4266): what a URL asks for, and the links of a menu.

A line of a menu is `type and text TAB selector TAB host TAB port`. Its link is `gopher://host:port/` with the type and the
selector; an item of the type `h` may name any URL, as `URL:http://...`. Text, errors, searches, telnet and phone books are no
links. What is in a menu is the author's: a selector with a control character is no link, because it would become a second line
of the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote, unquote_to_bytes

from parcahyd.rules.html.link_tags import MAX_LINKS

__all__ = ["GOPHER_MENU", "gopher_media_type", "gopher_references", "is_gopher_error", "is_one_line"]

GOPHER_MENU = "application/gopher-menu"

_LINE = re.compile(rb"(?m)^([^\t\r\n])[^\t\r\n]*+\t([^\t\r\n]*+)\t([^\t\r\n]*+)\t([0-9]{1,5})(?=[\t\r\n]|\Z)")
_HOST = re.compile(rb"[A-Za-z0-9._-]++|\[[0-9A-Fa-f:.]++\]").fullmatch
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]").search
_LONGEST_SELECTOR = 4000
_NO_LINKS = b"i3278T+"
"""Types: text, errors, phone books, searches, telnet (two), and another server of the item before."""
_TYPES = {"0": "text/plain", "1": GOPHER_MENU, "h": "text/html"}
_ERROR = re.compile(rb"3[^\t\r\n]*+\t[^\t\r\n]*+\terror\.host\t")


def gopher_media_type(path: str) -> str:
    """The media type that the type in a URL's path stands for; empty where the content has to tell. No type is a menu's."""
    return _TYPES.get(path[1:2] or "1", "")


def is_one_line(path: str) -> bool:
    """Whether a request for the path is one line: a selector cannot hold line breaks and other control characters."""
    return not _CONTROL(unquote_to_bytes(path))


def is_gopher_error(path: str, body: bytes) -> bool:
    """Whether the answer says that there is no such item. The protocol has no status: an error is an item of a menu."""
    return body[:1] == b"3" if gopher_media_type(path) == GOPHER_MENU else _ERROR.match(body) is not None


def gopher_references(body: bytes) -> list[str]:
    """The URLs that a menu leads to, at most as many as a document has links."""
    return list(islice(_references(body), MAX_LINKS))


def _references(body: bytes) -> Iterator[str]:
    for kind, selector, host, port in map(re.Match.groups, _LINE.finditer(body)):
        if kind in _NO_LINKS or len(selector) > _LONGEST_SELECTOR or _CONTROL(selector) or _CONTROL(kind):
            continue
        if kind == b"h" and selector[:4].upper() == b"URL:":
            yield selector[4:].decode("utf-8", "replace")
        elif _HOST(host):
            place = host.decode() if int(port) in (0, 70) else f"{host.decode()}:{int(port)}"
            yield f"gopher://{place}/{quote(kind)}{quote(selector, safe='/!$&()*+,;=:@~')}"
