"""A gate counts from end to start with one connection, from start to start with more."""

from __future__ import annotations

from math import inf

from parcahyd.rules.politeness.rate_limit import RateLimit, Shares


def test_with_one_connection_the_delay_runs_from_the_end() -> None:
    gate = RateLimit(2.0, 1)
    assert gate.opens_at() == 0.0
    gate.enter(10.0)
    assert gate.opens_at() == inf
    gate.leave(15.0)
    assert gate.opens_at() == 17.0


def test_with_more_connections_the_delay_runs_from_the_start() -> None:
    gate = RateLimit(2.0, 2)
    gate.enter(10.0)
    assert gate.opens_at() == 12.0
    gate.enter(12.0)
    assert gate.opens_at() == inf
    gate.leave(20.0)
    assert gate.opens_at() == 14.0


def _crawl(shares: Shares, hosts: int, requests: int, now: float) -> None:
    for number in range(hosts):
        shares.count(f"h{number}.example", requests, now)


def test_a_host_that_takes_much_more_than_others_has_exceeded_its_share() -> None:
    shares = Shares(0.002)
    _crawl(shares, 2000, 1, 0.0)
    shares.count("greedy.example", 100, 1.0)
    assert shares.is_exceeded_by("greedy.example")
    assert not shares.is_exceeded_by("h1.example")
    assert not shares.is_exceeded_by("new.example")


def test_few_hosts_share_evenly_however_small_the_share_is() -> None:
    shares = Shares(0.002)
    _crawl(shares, 4, 1000, 0.0)
    assert not any(shares.is_exceeded_by(f"h{number}.example") for number in range(4))
    alone = Shares(0.002)
    alone.count("only.example", 100_000, 0.0)
    assert not alone.is_exceeded_by("only.example")


def test_what_was_asked_long_ago_does_not_count() -> None:
    shares = Shares(0.002)
    shares.count("greedy.example", 5000, 0.0)
    for hour in (1, 2):
        _crawl(shares, 2000, 1, hour * 3600.0)
    assert not shares.is_exceeded_by("greedy.example")


def test_a_share_of_zero_means_that_nobody_waits() -> None:
    shares = Shares(0.0)
    _crawl(shares, 2000, 1, 0.0)
    shares.count("greedy.example", 5000, 0.0)
    assert not shares.is_exceeded_by("greedy.example")


def test_as_many_requests_may_start_at_once_as_there_are_places() -> None:
    gate = RateLimit(0.0, 3)
    gate.enter(10.0)
    assert gate.places(10.0) == 2
    gate.hold(20.0)
    assert gate.places(10.0) == 0
    delayed = RateLimit(2.0, 3)
    assert delayed.places(10.0) == 1, "the next one has to keep its distance"
    delayed.enter(10.0)
    assert delayed.places(10.0) == 0
