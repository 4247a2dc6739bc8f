"""BLAKE2b for the keys of URLs without the rest of `hashlib`, which loads OpenSSL and keeps the first request waiting."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # The interpreter keeps it elsewhere, or has only that of OpenSSL.
    from hashlib import blake2b

__all__ = ["blake2b"]
