"""How close together requests may come: one gate per host and one per address (architecture, *Delay*)."""

from __future__ import annotations

from math import inf

__all__ = ["Gate"]


class Gate:
    """Lets requests through one at a time or several at once, never closer together than its delay.

    With one connection the delay runs from the end of one answer to the start of the next request; with more, from start
    to start. Times come from the caller's monotonic clock.
    """

    __slots__ = ("connections", "delay", "next_at", "under_way")

    def __init__(self, delay: float, connections: int, not_before: float = 0.0) -> None:
        self.delay = delay
        self.connections = connections
        self.next_at = not_before
        self.under_way = 0

    def opens_at(self) -> float:
        """When the next request may start; infinity while as many as allowed are under way."""
        return inf if self.under_way >= self.connections else self.next_at

    def enter(self, now: float) -> None:
        """A request starts. The caller has seen that the gate is open."""
        self.under_way += 1
        if self.connections > 1:
            self.next_at = now + self.delay

    def leave(self, now: float) -> None:
        """A request has ended."""
        self.under_way -= 1
        if self.connections == 1:
            self.next_at = now + self.delay
