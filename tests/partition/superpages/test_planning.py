from __future__ import annotations

from collections import Counter

from parcahyd.core.partitions import ClusterNode, ClusterView, Routing
from parcahyd.partition.superpages.counters import Counters
from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.planning import decide
from parcahyd.partition.superpages.tokens import token_path

VIEW = ClusterView(Routing(4), (ClusterNode("a", 1.0),), ())


def _counters(visits: int) -> Counters:
    counters = Counters(Expansion(), b"")
    for number in range(visits):
        counters.visit(f"www.example.org/{number % 40}/{number}", 1)
    return counters


def test_with_little_known_nothing_is_decided() -> None:
    assert decide(VIEW, [], lambda _: 0, b"") is None
    assert decide(VIEW, [_counters(500).figures(0)], lambda _: 0, b"") is None
    # Figures of another routing are of no use.
    assert decide(VIEW, [_counters(4000).figures(5)], lambda _: 0, b"") is None


def test_urls_that_wait_are_divided_and_those_that_were_visited_hardly_count() -> None:
    counters = _counters(4000)
    for number in range(4000):
        if number % 40 < 20:
            counters.fetch(f"www.example.org/{number % 40}/{number}", 1)
    decision = decide(VIEW, [counters.figures(0)], lambda _: 0, b"")
    assert decision is not None
    waiting = Counter(
        decision.after.owner(token_path("www.example.org", f"/{number % 40}/{number}"))
        for number in range(4000)
        if number % 40 >= 20
    )
    assert set(waiting) == {0, 1, 2, 3}
    assert max(waiting.values()) <= 1200


def test_a_plan_for_one_partition_decides_nothing() -> None:
    one = ClusterView(Routing(1), (ClusterNode("a", 1.0),), ())
    assert decide(one, [_counters(4000).figures(0)], lambda _: 0, b"") is None
