"""The bytes a second that arrive, from one host or at one worker (statement X19): MaxRate, MaxHostRate.

A transfer is not slowed down while it runs. Instead the next request waits, so the limit bounds the mean over several answers.
"""

from __future__ import annotations

__all__ = ["ByteRate"]


class ByteRate:
    """Says when the next request may start, so that answers bring no more bytes a second than they may.

    An answer of n bytes uses n / rate seconds. They begin with its request, or when the seconds of earlier answers are over.
    Times come from the caller's monotonic clock.
    """

    __slots__ = ("opens_at",)

    def __init__(self) -> None:
        self.opens_at = 0.0

    def received(self, size: int, rate: float, started_at: float) -> None:
        """An answer of `size` bytes has come to a request of that time; `rate` is in bytes a second, and 0 means no limit."""
        if rate:
            self.opens_at = max(self.opens_at, started_at) + size / rate
