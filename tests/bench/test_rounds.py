"""Turns, and what becomes of a disturbed crawl."""

from __future__ import annotations

from bench.rounds import Outcome, settle, turns
from tests.bench.outcomes import contender, outcome


def _settle(others: list[float], repeats: int) -> tuple[Outcome, int]:
    crawls = iter([outcome("a", 1, seconds=10.0, others=cores) for cores in others])
    reported: list[Outcome] = []
    return settle(lambda: next(crawls), repeats, reported.append), len(reported)


def test_a_quiet_crawl_counts_at_once() -> None:
    kept, crawls = _settle([0.0, 0.5], 3)
    assert (kept.usage.other_cores, crawls) == (0.0, 1)


def test_a_disturbed_crawl_is_repeated_until_one_is_quiet() -> None:
    kept, crawls = _settle([0.5, 0.9, 0.05, 0.0], 3)
    assert (kept.usage.other_cores, crawls) == (0.05, 3)
    assert not kept.disturbed


def test_if_all_are_disturbed_the_least_disturbed_is_kept_and_says_so() -> None:
    kept, crawls = _settle([0.5, 0.3, 0.9, 0.4], 3)
    assert (kept.usage.other_cores, crawls) == (0.3, 4)
    assert kept.disturbed


def test_the_order_turns_from_round_to_round_and_slow_ones_crawl_once() -> None:
    contenders = [contender("a"), contender("b", slow=True), contender("c")]
    names = [[one.name for one in turns(contenders, number)] for number in (1, 2, 3, 4)]
    assert names == [["a", "b", "c"], ["c", "a"], ["c", "a"], ["a", "c"]]
