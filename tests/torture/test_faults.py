"""Every fallible call fails once, and every commit is a place where processes are killed: the end is always the same.

Without PARCAHYD_TORTURE a sample runs; with it, call after call, until a run has no more of them (`make torture`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.torture.small_crawl import BROKEN_ANSWERS, SmallCrawl, small_crawl

_ALL = bool(os.environ.get("PARCAHYD_TORTURE"))
_MOST = 400

# By role and point: the calls that the sample takes.
_POINTS = {
    ("update-database", "connect"): (1,),
    ("update-database", "statement"): (1, 30),
    ("update-database", "commit"): (1, 5),
    ("update-database", "open"): (1,),
    ("update-database", "folder"): (1,),
    ("update-database", "channel"): (1, 4),
    ("crawl-worker", "open"): (1,),
    ("crawl-worker", "channel"): (1, 3),
    ("coordinator", "open"): (1,),
    ("coordinator", "spawn"): (1, 2),
    ("coordinator", "channel"): (1, 6),
    ("coordinator", "resolve"): (1,),
}
_CRASHES = ("kill-before", "kill-after", "kill-all-before", "kill-all-after")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCrawl]:
    with small_crawl(tmp_path_factory.mktemp("faults")) as made:
        yield made


def _each(small: SmallCrawl, role: str, point: str, how: str, sample: tuple[int, ...]) -> None:
    outcomes: Counter[str] = Counter()
    for number in range(1, _MOST) if _ALL else sample:
        outcome = small.with_fault(f"{role} {point} {number} {how}")
        if not outcome.struck:
            assert number > 1, f"{role} never comes to {point}"
            break
        outcomes[outcome.kind] += 1
    else:
        assert not _ALL, f"{role} comes to {point} more than {_MOST} times"
    print(f"{role} {point} {how}: {dict(outcomes)}")
    assert outcomes


@pytest.mark.parametrize(("role", "point"), _POINTS, ids=lambda word: word)
def test_each_call_may_fail_once(small: SmallCrawl, role: str, point: str) -> None:
    _each(small, role, point, "fail", _POINTS[role, point])


def test_the_answer_to_each_commit_may_be_lost(small: SmallCrawl) -> None:
    """The database has committed, and nobody knows."""
    _each(small, "update-database", "commit", "lost", (2, 6))


@pytest.mark.parametrize("kind", BROKEN_ANSWERS)
def test_each_answer_may_break_once(small: SmallCrawl, kind: str) -> None:
    sample = (1, 5) if kind == "reset" else (5,)  # The first is that of a robots.txt, whose retry takes longer.
    for number in range(1, _MOST) if _ALL else sample:
        if not small.with_broken_answer(number, kind):
            assert number > 10
            break
    else:
        assert not _ALL


@pytest.mark.parametrize("how", _CRASHES)
def test_each_commit_may_be_the_last_moment(small: SmallCrawl, how: str) -> None:
    _each(small, "update-database", "commit", how, (3, 7))
