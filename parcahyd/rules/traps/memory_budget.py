"""How much guards remember: bounded for each visit, and for all visits of a worker together."""

from __future__ import annotations

__all__ = ["MemoryBudget", "VisitMemory"]

_OF_ONE_VISIT = 5000


class MemoryBudget:
    """The number of facts that the guards of all visits of a worker may still remember together."""

    __slots__ = ("left",)

    def __init__(self, facts: int) -> None:
        self.left = facts


class VisitMemory:
    """One visit's part of the memory. A guard that gets no room for a fact goes on without it."""

    __slots__ = ("_budget", "_held", "_most")

    def __init__(self, budget: MemoryBudget, most: int = _OF_ONE_VISIT) -> None:
        self._budget = budget
        self._most = most
        self._held = 0

    def take(self) -> bool:
        """Whether there was room for one more fact."""
        if self._held >= self._most or self._budget.left <= 0:
            return False
        self._held += 1
        self._budget.left -= 1
        return True

    def release(self) -> None:
        """Returns the visit's part to the worker's budget, at the end of the visit."""
        self._budget.left += self._held
        self._held = 0
