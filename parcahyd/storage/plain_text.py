"""Text that strangers wrote, in a form that every database takes."""

from __future__ import annotations

__all__ = ["plain", "validator"]

_DETAIL_LENGTH = 500


def plain(text: str, length: int = _DETAIL_LENGTH) -> str:
    """The text without what UTF-8 or PostgreSQL cannot hold (lone surrogates, NUL), cut to a length."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    if "\0" in text:
        text = text.replace("\0", "")
    return text[:length]


def validator(text: str) -> str:
    """An ETag or date as the server gave it, or nothing: one that had to be changed would not be the server's any more."""
    return text if text == plain(text, 4000) else ""
