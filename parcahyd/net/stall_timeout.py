"""When a transfer is too slow: no first byte, no further byte, or too few bytes a second.

The downloader checks its transfers at intervals, so a quick transfer costs nothing. libcurl's own LOW_SPEED_TIME would be
late: it compares a mean over six seconds, in whole seconds.
"""

from __future__ import annotations

import msgspec

__all__ = ["Pace", "StallTimeout"]

# How many checks there are within the shortest limit: a transfer is ended after its limit and at most one interval more.
_CHECKS = 4

_WINDOW = 30.0


class Pace(msgspec.Struct, frozen=True):
    """The progress of a transfer up to the last check."""

    received: int
    since: float
    """When the last byte had come."""
    window_received: int
    window_since: float
    """When the current window for the mean rate began; the first one begins with the first byte."""


class StallTimeout:
    """The limits in seconds, 0 meaning none; `min_rate` is in bytes a second over windows of `idle` seconds (30 without).

    `first_byte` is None where `idle` counts for it as well. `interval` is the time between two checks; 0: no checks.
    """

    def __init__(self, first_byte: float | None, idle: float, min_rate: float) -> None:
        self._first_byte = idle if first_byte is None else first_byte
        self._idle = idle
        self._min_rate = min_rate
        self._window = idle or _WINDOW
        limits = [limit for limit in (self._first_byte, idle, self._window if min_rate else 0.0) if limit]
        self.interval = min(limits) / _CHECKS if limits else 0.0

    def check(self, pace: Pace | None, received: int, now: float) -> tuple[Pace, str]:
        """The new pace, and which limit was passed, else an empty text; `pace` is None at the first check."""
        if pace is None or (received and not pace.received):
            return Pace(received, now, received, now), ""
        if received != pace.received:
            pace = msgspec.structs.replace(pace, received=received, since=now)
        limit = self._idle if received else self._first_byte
        if limit and now - pace.since >= limit:
            return pace, f"no byte for {limit:g} s" if received else f"no answer within {limit:g} s"
        if received and self._min_rate and now - pace.window_since >= self._window:
            rate = (received - pace.window_received) / (now - pace.window_since)
            if rate < self._min_rate:
                return pace, f"{rate:.0f} bytes a second, fewer than {self._min_rate:g}"
            pace = msgspec.structs.replace(pace, window_received=received, window_since=now)
        return pace, ""
