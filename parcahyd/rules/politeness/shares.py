"""How much of the crawl each host takes, over about an hour, and whether that is more than its share (statement X16)."""

from __future__ import annotations

__all__ = ["Shares"]

_HALF = 1800.0
"""Seconds: what was asked in this half hour and in the one before counts."""
_TOO_FEW = 1000
"""Requests: with fewer in all, no host counts as having exceeded its share."""
_TWICE = 2.0
_KEPT = 100_000


class Shares:
    """Counts requests by host. A share is `host_share` of all, and never less than twice an equal part."""

    __slots__ = ("_before", "_host_share", "_now", "_since", "_total")

    def __init__(self, host_share: float) -> None:
        self._host_share = host_share
        self._now: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._total = 0
        self._since = 0.0

    def count(self, host: str, requests: int, now: float) -> None:
        """Requests that a visit made."""
        if now - self._since > _HALF or len(self._now) > _KEPT:
            self._before, self._now, self._since = self._now, {}, now
            self._total = sum(self._before.values())
        self._now[host] = self._now.get(host, 0) + requests
        self._total += requests

    def is_exceeded_by(self, host: str) -> bool:
        """Whether the host had more than its share, so that other hosts come first."""
        if not self._host_share or self._total < _TOO_FEW:
            return False
        hosts = max(len(self._now), len(self._before), 1)
        share = max(self._host_share, _TWICE / hosts)
        return self._now.get(host, 0) + self._before.get(host, 0) > share * self._total
