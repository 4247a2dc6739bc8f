from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Resolution
from parcahyd.core.states import Reason
from parcahyd.net.answer_cache import AnswerCache
from parcahyd.testing import FakeClock, FakeResolver


def _cache(resolver: FakeResolver, clock: FakeClock, capacity: int = 100) -> AnswerCache:
    return AnswerCache(resolver.resolve, 300.0, capacity, clock.monotonic)


def test_an_answer_holds_for_its_ttl_and_says_what_is_left_of_it() -> None:
    clock, resolver = FakeClock(), FakeResolver({"a.test": ["192.0.2.1"]}, ttl=100.0)
    cache = _cache(resolver, clock)
    assert cache.resolve("a.test") == Resolution(("192.0.2.1",), 100.0)
    clock.advance(30)
    assert cache.resolve("a.test") == Resolution(("192.0.2.1",), 70.0)
    clock.advance(70)
    assert cache.resolve("a.test").ttl == 100.0
    assert resolver.asked == ["a.test", "a.test"]


@pytest.mark.parametrize(
    ("reason", "seconds"),
    [(Reason.DNS_NO_NAME, 300), (Reason.DNS_NO_ADDRESS, 300), (Reason.DNS_TIMEOUT, 5), (Reason.DNS_FAILURE, 5)],
)
def test_a_refusal_holds_for_the_negative_ttl_and_an_outage_for_seconds(reason: Reason, seconds: int) -> None:
    clock, resolver = FakeClock(), FakeResolver({"a.test": reason})
    cache = _cache(resolver, clock)
    for advance, questions in ((0, 1), (seconds - 1, 1), (1, 2)):
        clock.advance(advance)
        with pytest.raises(ResolutionFailure) as failure:
            cache.resolve("a.test")
        assert (failure.value.reason, failure.value.detail) == (reason, "a.test")
        assert len(resolver.asked) == questions


def test_the_least_recently_used_host_is_forgotten() -> None:
    resolver = FakeResolver({name: ["192.0.2.1"] for name in "abcd"})
    cache = _cache(resolver, FakeClock(), capacity=3)
    for name in "abc":
        cache.resolve(name)
    cache.resolve("a")
    cache.resolve("d")
    assert len(cache) == 3
    for name in "acd":
        cache.resolve(name)
    assert resolver.asked == ["a", "b", "c", "d"]
    cache.resolve("b")
    assert resolver.asked == ["a", "b", "c", "d", "b"]


def test_threads_that_want_one_host_wait_for_one_question() -> None:
    asked: list[str] = []
    release = threading.Event()

    def ask(host: str) -> Resolution:
        asked.append(host)
        assert release.wait(120)
        return Resolution(("192.0.2.1",), 60.0)

    cache = AnswerCache(ask, 300.0)
    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(cache.resolve, "a.test") for _ in range(8)]
        release.set()
        assert {answer.result(120).addresses for answer in answers} == {("192.0.2.1",)}
    assert asked == ["a.test"]


def test_questions_about_different_hosts_do_not_wait_for_each_other() -> None:
    together = threading.Barrier(4)

    def ask(_host: str) -> Resolution:
        together.wait(120)
        return Resolution(("192.0.2.1",), 60.0)

    cache = AnswerCache(ask, 300.0)
    with ThreadPoolExecutor(4) as threads:
        assert len(list(threads.map(cache.resolve, ["a", "b", "c", "d"]))) == 4


def test_a_resolver_with_a_bug_leaves_no_thread_waiting() -> None:
    started, release = threading.Event(), threading.Event()

    def ask(_host: str) -> Resolution:
        started.set()
        release.wait(120)
        raise RuntimeError("a bug")

    cache = AnswerCache(ask, 300.0)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(cache.resolve, "a.test")
        assert started.wait(120)
        second = threads.submit(cache.resolve, "a.test")
        release.set()
        with pytest.raises(RuntimeError, match="a bug"):
            first.result(120)
        with pytest.raises((ResolutionFailure, RuntimeError)):
            second.result(120)


def test_an_answer_without_a_lifetime_is_not_kept() -> None:
    resolver = FakeResolver({"a.test": ["192.0.2.1"]}, ttl=0.0)
    cache = _cache(resolver, FakeClock())
    cache.resolve("a.test")
    cache.resolve("a.test")
    assert len(resolver.asked) == 2
