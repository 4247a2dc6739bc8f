"""The distance between requests: one limit per host, one per address (architecture, *Delay*); pace and share of a host."""

from __future__ import annotations

from math import inf

__all__ = [
    "Pace",
    "RateLimit",
    "Shares",
]


class RateLimit:
    """Lets requests through one at a time or several at once, never closer together than its delay.

    With one connection the delay runs from the end of one answer to the start of the next request; with more, from the moment
    when one request was sent to the start of the next. Times come from the caller's monotonic clock.
    """

    __slots__ = ("connecting", "connections", "delay", "next_at", "under_way")

    def __init__(self, delay: float, connections: int, not_before: float = 0.0) -> None:
        self.delay = delay
        self.connections = connections
        self.next_at = not_before
        self.under_way = 0
        self.connecting = 0
        """Requests that have started, but have not been sent yet."""

    def opens_at(self) -> float:
        """When the next request may start; infinity while as many as allowed are under way, or one is not sent yet."""
        return inf if self.connecting or self.under_way >= self.connections else self.next_at

    def places(self, now: float) -> int:
        """How many requests may start now, one after the other."""
        if self.opens_at() > now:
            return 0
        return 1 if self.delay > 0.0 else self.connections - self.under_way

    @property
    def counts_from_sending(self) -> bool:
        """Whether the time when a request is sent decides about the next one."""
        return self.connections > 1 and self.delay > 0.0

    def enter(self, now: float) -> None:
        """Counts a request that starts. The caller has checked `opens_at`."""
        self.under_way += 1
        if self.connections > 1:
            self.next_at = now + self.delay

    def sent(self, now: float) -> None:
        """Counts the delay from now: a request was sent, after it had waited for its connection."""
        if self.connections > 1:
            self.next_at = max(self.next_at, now + self.delay)

    def leave(self, now: float) -> None:
        """Counts a request that has ended."""
        self.under_way -= 1
        if self.connections == 1:
            self.next_at = now + self.delay

    def hold(self, until: float) -> None:
        """No request starts before `until`."""
        self.next_at = max(self.next_at, until)

    def set_delay(self, delay: float) -> None:
        """From now on requests keep this distance, the next one included where it becomes longer."""
        self.next_at += max(0.0, delay - self.delay)
        self.delay = delay

    def narrow(self, delay: float, connections: int) -> None:
        """Another visit shares this limit: from now on the longer delay and the fewer connections count."""
        self.connections = min(self.connections, connections)
        if delay > self.delay:
            self.set_delay(delay)


_NEWEST = 0.3
"""The weight of the last answer in the mean; earlier answers fade."""


class Pace:
    """The delay of one host: what is configured, what its robots.txt asks for, and longer while it answers slowly.

    A server that takes longer to answer is busy or far away: the delay is `factor` times the mean time of its answers, up to
    `longest`, where that is more. Where no delay is configured or asked for, answers do not bring one.
    """

    __slots__ = ("_factor", "_least", "_longest", "_mean", "delay", "follows")

    def __init__(self, delay: float, factor: float, longest: float) -> None:
        self.delay = delay
        self._least = delay
        self._factor = factor
        self._longest = longest
        self._mean = 0.0
        self.follows = delay > 0.0 and factor > 0.0
        """Whether the delay follows the time of answers."""

    def ask_for(self, delay: float) -> None:
        """Takes the delay that robots.txt asks for; it never shortens the configured one."""
        self._least = max(self._least, delay)
        self.delay = max(self.delay, self._least)
        self.follows = self._least > 0.0 and self._factor > 0.0

    def answered(self, seconds: float) -> None:
        """Takes the time of an answer into the mean."""
        self._mean = seconds if not self._mean else self._mean + _NEWEST * (seconds - self._mean)
        self.delay = max(self._least, min(self._longest, self._factor * self._mean))


# --- How much of the crawl each host takes, over about an hour, and whether that is more than its share (statement X16).


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
