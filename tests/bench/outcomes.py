"""Crawls that never took place, for tables and rules."""

from __future__ import annotations

from bench.contenders.contender import Contender
from bench.coverage import Coverage
from bench.measuring import Usage
from bench.rounds import Outcome

__all__ = ["contender", "outcome"]


def outcome(
    name: str,
    number: int,
    *,
    pages: int = 100,
    seconds: float = 1.0,
    missing: int = 0,
    others: float = 0.0,
    steady: float | None = None,
) -> Outcome:
    usage = Usage(0, seconds, 2 * seconds, 50_000_000, others, 0.0, timed_out=False)
    gone = tuple(f"/{page}.html" for page in range(missing))
    return Outcome(name, number, pages + 1, Coverage(pages + missing, pages, gone, ()), usage, 1_000_000, steady)


def contender(name: str, *, slow: bool = False) -> Contender:
    return Contender(name, "1.0", "nothing", lambda _task: [], slow=slow)
