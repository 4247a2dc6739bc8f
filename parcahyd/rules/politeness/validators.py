"""Validators: what a server gives with a document (ETag, Last-Modified) and gets back to be asked whether it has changed.

One rule decides what is stored and what is sent. A validator goes back as it came or not at all, because a changed one would
not be the server's any more. It is accepted when it is safe in a request: printable ASCII, bounded, without quotation marks in
odd places. That is wider than RFC 9110, section 8.8.3: real servers send entity tags without quotes and with spaces, and they
understand them when they come back. It is narrower in that bytes beyond ASCII are refused, since a client, a
proxy and a server may each decode them differently. `*` is refused: as If-None-Match it means every version (section 13.1.2).
"""

from __future__ import annotations

import re

__all__ = ["MAX_VALIDATOR", "conditional_headers", "validator"]

MAX_VALIDATOR = 1_000
"""Characters of a validator; a longer one is not worth its room in every request."""

# An entity tag in quotes, perhaps weak; or text without quotes, such as a date, which no space begins or ends.
_SAFE = re.compile(r'(?:[Ww]/)?+"[ !#-~]*+"|(?!\*$)[!#-~](?:[ !#-~]*[!#-~])?').fullmatch


def validator(value: str) -> str:
    """A value of ETag or Last-Modified, if it can be stored and sent back; else nothing."""
    return value if len(value) <= MAX_VALIDATOR and _SAFE(value) else ""


def conditional_headers(etag: str, modified: str) -> tuple[tuple[str, str], ...]:
    """The headers of a request for a document, to be answered with 304 if these validators still fit it."""
    pairs = ("If-None-Match", validator(etag)), ("If-Modified-Since", validator(modified))
    return tuple(pair for pair in pairs if pair[1])
