"""What kind of document an answer is: by its Content-Type where that says something, else by its first bytes.

In the spirit of the WHATWG's MIME sniffing standard, reduced to what a crawler asks. A declared type is believed even where the
bytes look different, unless it is one that servers send when they know nothing. `text/plain` is never raised to HTML: what its
author wants shown as text has no links; only where its bytes cannot be text is it recognised anew.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["is_html", "recognise"]

_OCTETS = "application/octet-stream"
_HTML = frozenset(("text/html", "application/xhtml+xml"))
_SAYS_NOTHING = frozenset((_OCTETS, "binary/octet-stream", "application/unknown", "unknown/unknown", "*/*"))

_LONGEST_HEADER = 1024
_FIRST_BYTES = 1445  # the "resource header" of the MIME sniffing standard, section 5.2

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"  # RFC 9110, section 5.6.2
_MEMBER = re.compile(r"(?:[^,\"]|\"(?:[^\"\\]|\\.)*+(?:\"|$))++")
_ESSENCE = re.compile(rf"[\t ]*({_WORD}/{_WORD})[\t ]*(?:;|$)")
_PARAMETER = re.compile(r";[\t ]*+([^;=]*+)(?:=[\t ]*+(?:\"((?:[^\"\\]|\\.)*+)[^;]*+|([^;]*+)))?+")

_BLANK = rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*+"
_HTML_START = (
    rb"(?:<!--.*?-->[\t\n\f\r ]*+)*+<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta"
    rb"|link|base|frameset|noscript)[\t\n\f\r />]"
)
# In order: the first that matches decides.
_SIGNATURES = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), media_type)
    for pattern, media_type in (
        (_BLANK + _HTML_START, "text/html"),
        (_BLANK + rb"<\?xml[\t\n\f\r ].*?<html[\t\n\f\r >]", "application/xhtml+xml"),
        (_BLANK + rb"<\?xml[\t\n\f\r ]", "text/xml"),
        (_BLANK + rb"<!--", "text/html"),
    )
)
# These are exact bytes, letters included.
_MAGIC = tuple(
    (re.compile(pattern, re.DOTALL), media_type)
    for pattern, media_type in (
        (rb"%PDF-", "application/pdf"),
        (rb"\x89PNG\r\n\x1a\n", "image/png"),
        (rb"\xff\xd8\xff", "image/jpeg"),
        (rb"GIF8[79]a", "image/gif"),
        (rb"RIFF.{4}WEBPVP", "image/webp"),
        (rb"PK\x03\x04", "application/zip"),
        (rb"\x1f\x8b\x08", "application/gzip"),
    )
)
_UTF_16_MARKS = (b"\xfe\xff", b"\xff\xfe")
_NEVER_IN_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # "binary data bytes", section 3


def recognise(content_type: str, body: bytes) -> tuple[str, str]:
    """The media type (lower case, without parameters) and the charset that the header names (lower case, or empty)."""
    media_type, charset = _declared(content_type[:_LONGEST_HEADER])
    if not media_type or media_type in _SAYS_NOTHING:
        return _recognised(body[:_FIRST_BYTES], scripts=True), charset
    if media_type == "text/plain" and not charset.startswith("utf-16") and _is_binary(body[:_FIRST_BYTES]):
        return _recognised(body[:_FIRST_BYTES], scripts=False), charset
    return media_type, charset


def is_html(media_type: str) -> bool:
    """Whether documents of this type are read for links."""
    return media_type in _HTML


@lru_cache(maxsize=256)  # a site's pages mostly share one header
def _declared(header: str) -> tuple[str, str]:
    """The last usable type of the header; a charset holds on while the type stays the same (Fetch, "extract a MIME type")."""
    media_type = charset = ""
    for member in _MEMBER.findall(header):
        named = _charset(member)
        essence = _ESSENCE.match(member)
        if essence is not None and essence[1].lower() != media_type:
            media_type, charset = essence[1].lower(), named
        else:
            charset = named or charset
    return media_type, charset


def _charset(member: str) -> str:
    for name, quoted, plain in _PARAMETER.findall(member):
        if name.rstrip("\t ").lower() == "charset" and (value := (quoted or plain).strip("\t \"'").lower()):
            return str(value)
    return ""


def _is_binary(first: bytes) -> bool:
    return not first.startswith(_UTF_16_MARKS) and _NEVER_IN_TEXT.search(first) is not None


def _recognised(first: bytes, *, scripts: bool) -> str:
    """The type that the first bytes show; without `scripts`, none that could be HTML or XML."""
    for pattern, media_type in (*_SIGNATURES, *_MAGIC) if scripts else _MAGIC:
        if pattern.match(first):
            return media_type
    return _OCTETS if _is_binary(first) else "text/plain"
