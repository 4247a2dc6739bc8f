"""What ends a benchmark: one line that says what is wrong and what to do about it."""

from __future__ import annotations

__all__ = ["Complaint"]


class Complaint(Exception):
    """Something that only the person who started the benchmark can put right."""
