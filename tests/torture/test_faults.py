"""Every fallible call fails once, and every commit is a place where processes are killed: the end is always the same.

Without PARCAHYD_TORTURE a sample runs; with it, call after call, until a run has no more of them (`make torture`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from tests.torture.outcomes import WRONG, Tried, write
from tests.torture.small_crawl import BROKEN_ANSWERS, Outcome, SmallCrawl, small_crawl

_ALL = bool(os.environ.get("PARCAHYD_TORTURE"))
_MOST = 400
_SHORT = 3
"""Runs come to a call more often or less, as their batches fall: so many in a row that do not come so far, and it is over."""

# By role and point: the class of the call, and the calls that the sample takes.
_POINTS: dict[tuple[str, str], tuple[str, tuple[int, ...]]] = {
    ("update-database", "connect"): ("database", (1,)),
    ("update-database", "statement"): ("database", (1, 30)),
    ("update-database", "commit"): ("database", (1, 5)),
    ("update-database", "open"): ("disk", (1, 2)),
    ("update-database", "folder"): ("disk", (1,)),
    ("update-database", "channel"): ("processes", (1, 4)),
    ("crawl-worker", "open"): ("disk", (1,)),
    ("crawl-worker", "channel"): ("processes", (1, 3)),
    ("crawl-worker", "join"): ("processes", (1,)),
    ("coordinator", "open"): ("disk", (1,)),
    ("coordinator", "spawn"): ("processes", (1, 2)),
    ("coordinator", "channel"): ("processes", (1, 6)),
    ("coordinator", "resolve"): ("DNS", (1,)),
}
_CRASHES = ("kill-before", "kill-after", "kill-all-before", "kill-all-after")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCrawl]:
    with small_crawl(tmp_path_factory.mktemp("faults")) as made:
        yield made


def _each(kind: str, call: str, how: str, sample: tuple[int, ...], attempt: Callable[[int], Outcome]) -> None:
    """Tries one call after the other. A wrong end is told when all were tried."""
    wrong: list[str] = []
    tried = short = 0
    for number in range(1, _MOST) if _ALL else sample:
        try:
            outcome = attempt(number)
        except AssertionError as error:
            wrong.append(str(error))
            outcome = Outcome(struck=True, kind=WRONG)
        short = 0 if outcome.struck else short + 1
        if outcome.struck:
            tried += 1
            write(Tried(kind, call, how, number, outcome.kind))
        elif short == _SHORT:
            break
    else:
        assert not _ALL, f"a run comes to {call} more than {_MOST} times"
    assert tried, f"no run comes to {call}"
    assert not wrong, "\n\n".join(wrong)


def _each_fault(small: SmallCrawl, kind: str, role: str, point: str, how: str, sample: tuple[int, ...]) -> None:
    _each(kind, f"{point} in {role}", how, sample, lambda number: small.with_fault(f"{role} {point} {number} {how}"))


@pytest.mark.parametrize(("role", "point"), _POINTS, ids=lambda word: word)
def test_each_call_may_fail_once(small: SmallCrawl, role: str, point: str) -> None:
    kind, sample = _POINTS[role, point]
    _each_fault(small, kind, role, point, "fail", sample)


def test_the_answer_to_each_commit_may_be_lost(small: SmallCrawl) -> None:
    """The database has committed, and nobody knows."""
    _each_fault(small, "database", "update-database", "commit", "lost", (2, 6))


@pytest.mark.parametrize("kind", BROKEN_ANSWERS)
def test_each_answer_may_break_once(small: SmallCrawl, kind: str) -> None:
    sample = (1, 5) if kind == "reset" else (5,)  # The first is that of a robots.txt, whose retry takes longer.
    _each("network", "answer of a server", kind, sample, lambda number: small.with_broken_answer(number, kind))


@pytest.mark.parametrize("how", _CRASHES)
def test_each_commit_may_be_the_last_moment(small: SmallCrawl, how: str) -> None:
    _each_fault(small, "crash", "update-database", "commit", how, (3, 7))
