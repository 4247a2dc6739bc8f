r"""Bytes within a line of text: `\\`, `\t`, `\n`, `\r`, and `\xhh` for other control bytes and for bytes that are not UTF-8."""

from __future__ import annotations

import re

__all__ = ["ESCAPE", "escaped", "unescaped"]

ESCAPE = rb"\\(?:[\\tnr]|x[0-9a-f]{2})"
"""The pattern of one escape."""

_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}

_WRITTEN_OUT = re.compile("[\x00-\x1f\x7f\\\\\udc80-\udcff]")
_ALL = re.compile(rb"[^\\\x00-\x1f\x7f]*+(?:" + ESCAPE + rb"[^\\\x00-\x1f\x7f]*+)*+")


def escaped(content: bytes) -> bytes:
    """Any bytes as UTF-8 text without control bytes; text that has neither those nor backslashes stays as it is."""
    # "surrogateescape" turns each byte that is not UTF-8 into a character from U+DC80, 0xDC00 above the byte.
    return _WRITTEN_OUT.sub(_escape, content.decode("utf-8", "surrogateescape")).encode()


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return _SHORT.get(character) or f"\\x{ord(character) & 0xFF:02x}"


def unescaped(text: bytes) -> bytes | None:
    """The bytes that a field means; None where a backslash begins no escape or a control byte stands."""
    if not _ALL.fullmatch(text):
        return None
    # Of what this codec would undo, the pattern lets nothing pass but escapes of ours; bytes are Latin-1 to it.
    return text.decode("unicode_escape").encode("latin-1") if b"\\" in text else text
