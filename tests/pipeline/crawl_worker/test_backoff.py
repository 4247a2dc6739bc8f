"""For how long hosts can have their address left alone, and when an address counts as silent."""

from __future__ import annotations

from parcahyd.pipeline.crawl_worker.backoff import AddressBackoff

ADDRESS = "192.0.2.1"


def test_one_host_binds_its_address_for_a_minute_at_most() -> None:
    backoff = AddressBackoff(20.0)
    assert backoff.asked_to_wait(ADDRESS, "a.example", 1006.0, 1000.0) == 1006.0
    assert backoff.asked_to_wait(ADDRESS, "a.example", 90_000.0, 1000.0) == 1060.0


def test_hosts_of_one_domain_count_once() -> None:
    backoff = AddressBackoff(20.0)
    for number in range(10):
        assert backoff.asked_to_wait(ADDRESS, f"h{number}.a.example", 90_000.0, 1000.0) == 1060.0


def test_three_domains_together_hold_it_as_long_as_all_of_them_ask() -> None:
    backoff = AddressBackoff(20.0)
    backoff.asked_to_wait(ADDRESS, "a.example", 9000.0, 1000.0)
    backoff.asked_to_wait(ADDRESS, "b.example", 5000.0, 1000.0)
    assert backoff.asked_to_wait(ADDRESS, "c.example", 7000.0, 1000.0) == 5000.0
    assert backoff.asked_to_wait(ADDRESS, "d.example", 8000.0, 1000.0) == 7000.0
    assert backoff.asked_to_wait("192.0.2.2", "e.example", 8000.0, 1000.0) == 1060.0


def test_pauses_end() -> None:
    backoff = AddressBackoff(20.0)
    backoff.asked_to_wait(ADDRESS, "a.example", 1100.0, 1000.0)
    backoff.asked_to_wait(ADDRESS, "b.example", 1100.0, 1000.0)
    assert backoff.asked_to_wait(ADDRESS, "c.example", 9000.0, 2000.0) == 2060.0


def test_an_address_is_silent_when_several_sites_get_no_answer_in_a_row() -> None:
    backoff = AddressBackoff(20.0)
    untils = [backoff.silent(ADDRESS, number % 3, 1000.0) for number in range(10)]
    assert untils[:9] == [None] * 9
    first = untils[9]
    assert first is not None
    assert 1020.0 <= first <= 1025.0
    again = [backoff.silent(ADDRESS, number % 3, 2000.0) for number in range(10)][9]
    assert again is not None
    assert again >= 2040.0
    assert backoff.failures(ADDRESS) == 2


def test_one_dead_site_does_not_silence_its_address_and_an_answer_clears_it() -> None:
    backoff = AddressBackoff(20.0)
    assert [backoff.silent(ADDRESS, 1, 1000.0) for _ in range(50)] == [None] * 50
    backoff.opened(ADDRESS, 3)
    backoff.answered(ADDRESS)
    assert backoff.failures(ADDRESS) == 0
    assert [backoff.silent(ADDRESS, number % 3, 1000.0) for number in range(9)] == [None] * 9


def test_no_more_silent_addresses_are_remembered_than_there_is_room_for() -> None:
    backoff = AddressBackoff(20.0)
    for number in range(10_001):
        assert [backoff.silent(f"a{number}", site % 3, 1000.0) for site in range(10)][9] is not None
    assert sum(backoff.failures(f"a{number}") for number in range(10_001)) <= 10_000
    assert backoff.failures("a10000") == 1
