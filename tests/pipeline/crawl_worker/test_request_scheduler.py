"""The request scheduler on a simulated clock: every delay is kept, never more under way than allowed, no visit forgotten."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.pipeline.crawl_worker.request_scheduler import LONGEST_CONNECTING, RequestScheduler


class Visit:
    def __init__(self, host: str, address: str, requests: int, host_rule: tuple[float, int] = (0.0, 1)) -> None:
        self.host_rule = host_rule
        self.host = host
        self.address = address
        self.left = requests


Event = tuple[float, int, Visit]


def simulate(
    visits: list[Visit], rule: tuple[float, int, float, int], durations: list[float]
) -> dict[str, list[tuple[float, float]]]:
    """Let every visit make its requests; returns the start and end of each, by host and by address."""
    scheduler: RequestScheduler[Visit] = RequestScheduler(*rule[2:])
    log: dict[str, list[tuple[float, float]]] = {}
    ends: list[Event] = []
    now = 0.0
    started = 0
    for visit in visits:
        visit.host_rule = rule[:2]
        scheduler.open(visit, 0.0, 0.0)
        scheduler.enqueue(visit)
    for _ in range(100_000):
        while (visit_or_none := scheduler.next_ready(now)) is not None:
            visit = visit_or_none
            duration = durations[started % len(durations)]
            started += 1
            log.setdefault("host " + visit.host, []).append((now, now + duration))
            log.setdefault("address " + visit.address, []).append((now, now + duration))
            heappush(ends, (now + duration, started, visit))
            visit.left -= 1
            if visit.left:
                scheduler.enqueue(visit)
        following = min(scheduler.next_at(), ends[0][0] if ends else inf)
        if following == inf:
            break
        now = max(now, following)
        while ends and ends[0][0] <= now:
            scheduler.finished(None, heappop(ends)[2], now)
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
    visits = [Visit(f"h{host}", f"a{address}", requests) for host, address, requests in plan]
    log = simulate(visits, rule, durations)
    for subject, requests in log.items():
        delay, connections = rule[:2] if subject.startswith("host") else rule[2:]
        check(requests, delay, connections)
    assert sum(visit.left for visit in visits) == 0


def test_not_before_times_hold() -> None:
    scheduler: RequestScheduler[Visit] = RequestScheduler(0.0, 1)
    visit = Visit("h", "a", 1)
    scheduler.open(visit, 5.0, 7.0)
    scheduler.enqueue(visit)
    assert scheduler.next_ready(6.0) is None
    assert scheduler.next_at() == 7.0
    assert scheduler.next_ready(7.0) is visit


def test_closing_tells_until_when_to_rest() -> None:
    scheduler: RequestScheduler[Visit] = RequestScheduler(0.1, 8)
    visit = Visit("h", "a", 1, (1.0, 1))
    scheduler.open(visit, 0.0, 0.0)
    scheduler.enqueue(visit)
    assert scheduler.next_ready(10.0) is visit
    scheduler.finished(None, visit, 12.0)
    assert scheduler.close(visit) == (13.0, 10.1)


def test_a_visit_that_withdraws_lets_the_next_of_its_host_pass() -> None:
    scheduler: RequestScheduler[Visit] = RequestScheduler(0.0, 1)
    first, second = Visit("h", "a", 1), Visit("h", "b", 1)
    for visit in (first, second):
        scheduler.open(visit, 0.0, 5.0 if visit is first else 0.0)
        scheduler.enqueue(visit)
    assert scheduler.next_ready(0.0) is None  # The first stands in line at its address and holds its host's turn.
    scheduler.withdraw(first)
    assert scheduler.next_ready(0.0) is second


def test_of_two_visits_to_a_host_the_slower_rule_counts_whichever_came_first() -> None:
    for rules in (((1.0, 8), (30.0, 2)), ((30.0, 2), (1.0, 8))):
        scheduler: RequestScheduler[Visit] = RequestScheduler(0.0, 100)
        visits = [Visit("h", address, 1, rule) for address, rule in zip("ab", rules, strict=True)]
        for visit in visits:
            scheduler.open(visit, 0.0, 0.0)
            scheduler.enqueue(visit)
        assert scheduler.next_ready(100.0) is visits[0]
        assert scheduler.next_ready(129.0) is None
        assert scheduler.next_ready(130.0) is visits[1]
        scheduler.enqueue(visits[0])
        assert scheduler.next_ready(1000.0) is None, "two are under way"
        scheduler.finished(None, visits[1], 1000.0)
        assert scheduler.next_ready(1000.0) is visits[0]


def test_a_slower_visit_that_joins_slows_the_next_request() -> None:
    scheduler: RequestScheduler[Visit] = RequestScheduler(0.0, 100)
    first, second = Visit("h", "a", 1, (1.0, 1)), Visit("h", "b", 1, (30.0, 1))
    scheduler.open(first, 0.0, 0.0)
    scheduler.enqueue(first)
    assert scheduler.next_ready(100.0) is first
    scheduler.finished(None, first, 101.0)
    scheduler.open(second, 0.0, 0.0)
    scheduler.enqueue(second)
    assert scheduler.next_ready(130.0) is None
    assert scheduler.next_ready(131.0) is second


def _two_hosts_of_an_address() -> tuple[RequestScheduler[Visit], Visit, Visit]:
    scheduler: RequestScheduler[Visit] = RequestScheduler(1.0, 8)
    first, second = Visit("h", "a", 1), Visit("i", "a", 1)
    for visit in (first, second):
        scheduler.open(visit, 0.0, 0.0)
        scheduler.enqueue(visit)
    assert scheduler.next_ready(10.0) is first
    assert scheduler.connecting("request", first, 10.0)
    return scheduler, first, second


def test_the_delay_counts_from_the_moment_of_sending() -> None:
    scheduler, first, second = _two_hosts_of_an_address()
    assert scheduler.next_ready(12.0) is None, "the first is not sent yet"
    scheduler.sent("request", first, 12.5)
    assert scheduler.next_ready(13.4) is None
    assert scheduler.next_at() == 13.5
    assert scheduler.next_ready(13.5) is second


def test_a_request_that_is_never_sent_lets_others_pass_when_it_ends() -> None:
    scheduler, first, second = _two_hosts_of_an_address()
    assert scheduler.next_ready(12.0) is None
    scheduler.finished("request", first, 12.5)
    assert scheduler.next_ready(12.5) is second


def test_others_do_not_wait_for_long_for_a_connection_that_hangs() -> None:
    scheduler, first, second = _two_hosts_of_an_address()
    late = 10.0 + LONGEST_CONNECTING
    assert scheduler.next_ready(late - 0.1) is None
    assert scheduler.next_at() == late
    assert scheduler.next_ready(late) is second
    assert scheduler.connecting("other", second, late)
    scheduler.sent("other", second, late)
    scheduler.enqueue(second)
    scheduler.finished("other", second, late)
    scheduler.sent("request", first, late + 0.5)
    assert scheduler.next_ready(late + 1.4) is None, "the late one counts too"
    assert scheduler.next_ready(late + 1.5) is second


def test_without_a_delay_or_with_one_connection_nothing_waits_for_sending() -> None:
    for rule in ((0.0, 8), (1.0, 1)):
        scheduler: RequestScheduler[Visit] = RequestScheduler(*rule)
        visit = Visit("h", "a", 1)
        scheduler.open(visit, 0.0, 0.0)
        scheduler.enqueue(visit)
        assert scheduler.next_ready(0.0) is visit
        assert not scheduler.connecting("request", visit, 0.0)
