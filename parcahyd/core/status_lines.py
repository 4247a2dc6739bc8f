"""The usual status line of a number, for answers whose own is not there."""

from __future__ import annotations

from http import HTTPStatus

__all__ = ["usual_status_line"]

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def usual_status_line(status: int, protocol: str = "1.1") -> bytes:
    """A status line without its end. The blank behind the number is there also without a phrase (RFC 9112, section 4)."""
    return f"HTTP/{protocol} {status:03d} {_PHRASES.get(status, '')}".encode("latin-1", "replace")
