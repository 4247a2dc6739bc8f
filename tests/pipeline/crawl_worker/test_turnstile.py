"""The turnstile on a simulated clock: no gap shorter than its delay, never more under way than allowed, nobody forgotten."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.pipeline.crawl_worker.turnstile import Turnstile


class Traveller:
    def __init__(self, host: str, address: str, requests: int, host_rule: tuple[float, int] = (0.0, 1)) -> None:
        self.host_rule = host_rule
        self.host = host
        self.address = address
        self.left = requests


Event = tuple[float, int, Traveller]


def simulate(
    travellers: list[Traveller], rule: tuple[float, int, float, int], durations: list[float]
) -> dict[str, list[tuple[float, float]]]:
    """Let every traveller make its requests; returns the start and end of each, by host and by address."""
    turnstile: Turnstile[Traveller] = Turnstile(*rule[2:])
    log: dict[str, list[tuple[float, float]]] = {}
    ends: list[Event] = []
    now = 0.0
    started = 0
    for traveller in travellers:
        traveller.host_rule = rule[:2]
        turnstile.open(traveller, 0.0, 0.0)
        turnstile.ask(traveller)
    for _ in range(100_000):
        while (traveller_or_none := turnstile.pass_one(now)) is not None:
            traveller = traveller_or_none
            duration = durations[started % len(durations)]
            started += 1
            log.setdefault("host " + traveller.host, []).append((now, now + duration))
            log.setdefault("address " + traveller.address, []).append((now, now + duration))
            heappush(ends, (now + duration, started, traveller))
            traveller.left -= 1
            if traveller.left:
                turnstile.ask(traveller)
        following = min(turnstile.next_at(), ends[0][0] if ends else inf)
        if following == inf:
            break
        now = max(now, following)
        while ends and ends[0][0] <= now:
            turnstile.leave(heappop(ends)[2], now)
    return log


def check(requests: list[tuple[float, float]], delay: float, connections: int) -> None:
    for at, (start, _) in enumerate(requests):
        under_way = [other for other in requests[:at] if other[1] > start]
        assert len(under_way) < connections
        if at:
            since = requests[at - 1][1] if connections == 1 else requests[at - 1][0]
            assert start >= since + delay - 1e-9


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(1, 6)), min_size=1, max_size=8),
    st.tuples(st.sampled_from([0.0, 0.3, 1.0]), st.integers(1, 3), st.sampled_from([0.0, 0.1, 0.5]), st.integers(1, 4)),
    st.lists(st.sampled_from([0.01, 0.2, 2.5]), min_size=1, max_size=5),
)
def test_no_host_and_no_address_is_asked_too_soon_or_too_often(
    plan: list[tuple[int, int, int]], rule: tuple[float, int, float, int], durations: list[float]
) -> None:
    travellers = [Traveller(f"h{host}", f"a{address}", requests) for host, address, requests in plan]
    log = simulate(travellers, rule, durations)
    for subject, requests in log.items():
        delay, connections = rule[:2] if subject.startswith("host") else rule[2:]
        check(requests, delay, connections)
    assert sum(traveller.left for traveller in travellers) == 0


def test_not_before_times_hold() -> None:
    turnstile: Turnstile[Traveller] = Turnstile(0.0, 1)
    traveller = Traveller("h", "a", 1)
    turnstile.open(traveller, 5.0, 7.0)
    turnstile.ask(traveller)
    assert turnstile.pass_one(6.0) is None
    assert turnstile.next_at() == 7.0
    assert turnstile.pass_one(7.0) is traveller


def test_closing_tells_until_when_to_rest() -> None:
    turnstile: Turnstile[Traveller] = Turnstile(0.1, 8)
    traveller = Traveller("h", "a", 1, (1.0, 1))
    turnstile.open(traveller, 0.0, 0.0)
    turnstile.ask(traveller)
    assert turnstile.pass_one(10.0) is traveller
    turnstile.leave(traveller, 12.0)
    assert turnstile.close(traveller) == (13.0, 10.1)


def test_a_visit_that_withdraws_lets_the_next_of_its_host_pass() -> None:
    turnstile: Turnstile[Traveller] = Turnstile(0.0, 1)
    first, second = Traveller("h", "a", 1), Traveller("h", "b", 1)
    for traveller in (first, second):
        turnstile.open(traveller, 0.0, 5.0 if traveller is first else 0.0)
        turnstile.ask(traveller)
    assert turnstile.pass_one(0.0) is None  # The first stands in line at its address and holds its host's turn.
    turnstile.withdraw(first)
    assert turnstile.pass_one(0.0) is second


def test_of_two_visits_to_a_host_the_slower_rule_counts_whichever_came_first() -> None:
    for rules in (((1.0, 8), (30.0, 2)), ((30.0, 2), (1.0, 8))):
        turnstile: Turnstile[Traveller] = Turnstile(0.0, 100)
        travellers = [Traveller("h", address, 1, rule) for address, rule in zip("ab", rules, strict=True)]
        for traveller in travellers:
            turnstile.open(traveller, 0.0, 0.0)
            turnstile.ask(traveller)
        assert turnstile.pass_one(100.0) is travellers[0]
        assert turnstile.pass_one(129.0) is None
        assert turnstile.pass_one(130.0) is travellers[1]
        turnstile.ask(travellers[0])
        assert turnstile.pass_one(1000.0) is None, "two are under way"
        turnstile.leave(travellers[1], 1000.0)
        assert turnstile.pass_one(1000.0) is travellers[0]


def test_a_slower_visit_that_joins_slows_the_next_request() -> None:
    turnstile: Turnstile[Traveller] = Turnstile(0.0, 100)
    first, second = Traveller("h", "a", 1, (1.0, 1)), Traveller("h", "b", 1, (30.0, 1))
    turnstile.open(first, 0.0, 0.0)
    turnstile.ask(first)
    assert turnstile.pass_one(100.0) is first
    turnstile.leave(first, 101.0)
    turnstile.open(second, 0.0, 0.0)
    turnstile.ask(second)
    assert turnstile.pass_one(130.0) is None
    assert turnstile.pass_one(131.0) is second
