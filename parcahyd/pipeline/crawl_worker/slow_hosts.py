"""The hosts whose answers were so slow that they gave way to others, and how many connections these hosts may take.

While others wait, slow hosts together take a quarter of the connections at most. A host counts as slow until one of its pages
came quickly. Nobody gives way to a slow host: where all are slow, each keeps the connection that it has.
"""

from __future__ import annotations

__all__ = ["SlowHosts"]

_SHARES = 4
_QUICK = 5.0
"""Seconds: a page that came within them shows that its host is not slow any more."""
_PRESSURE = 10.0
"""Seconds for which others count as waiting after they were seen to wait."""
_REMEMBERED = 10_000


class SlowHosts:
    """The slow hosts of one Crawl Worker. Times are monotonic; memory is bounded."""

    __slots__ = ("_pressed_until", "_share", "names", "under_way")

    def __init__(self, connections: int) -> None:
        self.names: set[str] = set()
        """Empty nearly always: then nothing else of this has to be asked."""
        self.under_way: set[object] = set()
        """The requests to slow hosts that have a connection."""
        self._share = max(1, connections // _SHARES)
        self._pressed_until = 0.0

    def others_wait(self, now: float) -> None:
        """All connections are in use, and requests to other hosts wait."""
        self._pressed_until = now + _PRESSURE

    def gave_way(self, host: str) -> None:
        """A transfer from the host was ended for the sake of others."""
        if len(self.names) >= _REMEMBERED:
            self.names.clear()
        self.names.add(host)

    def gave_page(self, host: str, seconds: float) -> None:
        """A page of the host took so long."""
        if seconds < _QUICK:
            self.names.discard(host)

    def must_wait(self, host: str, now: float) -> bool:
        """Whether the host is slow, and the share of slow hosts is in use while others wait."""
        return host in self.names and now < self._pressed_until and len(self.under_way) >= self._share

    def started(self, request: object, host: str) -> None:
        if host in self.names:
            self.under_way.add(request)

    def ended(self, request: object) -> None:
        self.under_way.discard(request)
