"""The limits within which tables are read.

Tested in tests/augment/test_tol.py.
"""

from __future__ import annotations

import msgspec

__all__ = [
    "DEFAULT_LIMITS",
    "MAX_BODY_LINES",
    "MAX_BUNDLE_BYTES",
    "MAX_BUNDLE_LINES",
    "MAX_HEADERS",
    "MAX_HEADER_BYTES",
    "MAX_REFERENCE",
    "MAX_TABLE_BYTES",
    "Limits",
]

MAX_BODY_LINES = 50_000
MAX_TABLE_BYTES = 5 * 1024 * 1024
MAX_REFERENCE = 8 * 1024
"""Bytes of one URL reference, as it stands in the table."""
MAX_BUNDLE_LINES = 5_000_000
MAX_BUNDLE_BYTES = 256 * 1024 * 1024
MAX_HEADERS = 100
"""Headers of one table, unknown ones included."""
MAX_HEADER_BYTES = 64 * 1024
"""First line and headers of one table."""


class Limits(msgspec.Struct, frozen=True):
    """The most that a reader accepts; sizes in bytes, after content codings are removed."""

    body_lines: int = MAX_BODY_LINES
    table_bytes: int = MAX_TABLE_BYTES
    reference: int = MAX_REFERENCE
    bundle_lines: int = MAX_BUNDLE_LINES
    bundle_bytes: int = MAX_BUNDLE_BYTES


DEFAULT_LIMITS = Limits()
