"""The line of a page in a WACZ file: URL, time, title, and the text that a reader of the page sees."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from uuid import NAMESPACE_URL, uuid5

import msgspec
import pcre2

from parcahyd.export.exchanges import Exchange, Kind
from parcahyd.export.warc_records import safe_url
from parcahyd.rules.html.encodings import decode
from parcahyd.rules.html.title_and_language import title_and_language
from parcahyd.rules.media_types.media_type import is_html

__all__ = ["PAGES_HEADER", "page_line"]

_READ = 512 * 1024
_MOST_TEXT = 100_000
_HIDDEN = "audio|canvas|iframe|math|noembed|noframes|object|script|select|style|svg|template|textarea|title|video"
# Comments, elements that show no text, and tags. What has no end goes on to the end of the page, so each byte is read once.
_NO_TEXT = pcre2.compile(
    rf"(?is)<!--.*?(?:-->|\z)|<({_HIDDEN})(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*+>|\z)|<[!/?a-z][^>]*+(?:>|\z)"
)
# Its numbers are short: Python refuses to read long ones.
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_encode = msgspec.json.Encoder().encode

PAGES_HEADER = _encode({"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": True}) + b"\n"
"""The first line of the list."""


def page_line(exchange: Exchange, date: str) -> bytes | None:
    """The line of an HTML page that was found; None for everything else."""
    capture = exchange.capture
    if capture.status != 200 or not is_html(capture.media_type) or exchange.kind is not Kind.RESPONSE:
        return None
    title = capture.title or title_and_language(exchange.document, capture.charset)[0]
    url = safe_url(capture.url)
    page = {
        "id": str(uuid5(NAMESPACE_URL, f"{date} {url}")),
        "url": url,
        "ts": date,
        "title": title or url,
        "text": _text(exchange.document, capture.charset),
    }
    return _encode(page) + b"\n"


def _text(body: bytes, charset: str) -> str:
    """The words of a page, for a search. They are found by its tags alone: a tree takes twice as long."""
    text = " ".join(_NO_TEXT.sub(" ", decode(body[:_READ], charset)).split())[:_MOST_TEXT]
    return _REFERENCE.sub(lambda found: _resolved(found[0]), text) if "&" in text else text


_resolved = lru_cache(maxsize=1024)(unescape)
