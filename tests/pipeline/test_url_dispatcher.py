"""The URL Dispatcher: asks while there is room and news, and knows when the run is over."""

from __future__ import annotations

from parcahyd.core.messages import Committed, LeaseRequest, Leases, Signal, SignalBoard
from parcahyd.core.records import DueUrl, SiteLease
from parcahyd.pipeline.url_dispatcher import UrlDispatcher
from parcahyd.pipeline.url_ip_queue import UrlIpQueue


class Clock:
    time = 1000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class Bench:
    def __init__(self, size: int = 10, forever: bool = False) -> None:
        self.clock = Clock()
        self.queue = UrlIpQueue(size)
        self.signals = SignalBoard()
        self.woken = 0
        self.signals.wire(Signal.SOMETHING_TO_MAP, self._wake)
        self.asked: list[LeaseRequest] = []
        self.dispatcher = UrlDispatcher(
            self.queue,
            self.signals,
            self.clock,
            ask=self.asked.append,
            forever=forever,
            wait_for_retries=60.0,
        )

    def _wake(self) -> None:
        self.woken += 1


def lease(visit: int, known: bytes = b"") -> SiteLease:
    return SiteLease(visit, visit, "http", f"h{visit}.example", 80, (DueUrl(1, "/"),), known=known)


def committed(*released: int, new_work: bool = False, rests_until: float = 0.0) -> Committed:
    return Committed(released, new_work, 0, 0, 0, 0, 0, 0, {}, 0, 0, rests_until=rests_until)


def test_asks_once_and_fills_the_queue() -> None:
    bench = Bench()
    bench.dispatcher.dispatch()
    bench.dispatcher.dispatch()
    assert bench.asked == [LeaseRequest(10, None)]
    bench.dispatcher.leases(Leases((lease(1), lease(2)), None))
    assert len(bench.queue) == 2
    assert bench.woken == 1
    assert len(bench.asked) == 1  # Fewer came than were asked for, so there is no more for now.


def test_asks_again_when_the_answer_was_full_and_there_is_room() -> None:
    bench = Bench(size=2)
    bench.dispatcher.dispatch()
    bench.dispatcher.leases(Leases((lease(1), lease(2)), None))
    assert len(bench.asked) == 1  # No room yet.
    bench.queue.take(2)
    bench.dispatcher.dispatch()
    assert len(bench.asked) == 2


def test_a_heavy_load_on_its_way_stops_further_questions() -> None:
    bench = Bench()
    bench.dispatcher.dispatch()
    bench.dispatcher.leases(Leases((lease(1, known=bytes(64 * 1024 * 1024)),), None))
    bench.dispatcher.committed(committed(new_work=True))
    assert len(bench.asked) == 1
    bench.dispatcher.handed_over(1)
    bench.dispatcher.dispatch()
    assert len(bench.asked) == 2


def test_the_run_is_over_when_nothing_is_open_and_nothing_falls_due_soon() -> None:
    bench = Bench()
    bench.dispatcher.dispatch()
    assert not bench.dispatcher.is_over()
    bench.dispatcher.leases(Leases((lease(1),), 1100.0))
    assert not bench.dispatcher.is_over()
    bench.dispatcher.committed(committed(1))
    assert bench.dispatcher.is_over()


def test_a_retry_that_falls_due_soon_is_waited_for() -> None:
    bench = Bench()
    bench.dispatcher.dispatch()
    bench.dispatcher.leases(Leases((), 1030.0))
    assert not bench.dispatcher.is_over()
    assert bench.dispatcher.wakes_at() == 1030.0
    bench.clock.time = 1030.0
    bench.dispatcher.dispatch()
    assert len(bench.asked) == 2


def test_news_that_comes_while_a_question_is_open_is_not_forgotten() -> None:
    bench = Bench()
    bench.dispatcher.dispatch()
    bench.dispatcher.committed(committed(new_work=True))
    bench.dispatcher.leases(Leases((), None))
    assert len(bench.asked) == 2


def test_forever_never_ends_and_looks_at_what_fell_due_meanwhile() -> None:
    bench = Bench(forever=True)
    bench.clock.time = 5000.0
    bench.dispatcher.dispatch()
    assert bench.asked[-1].again_before == 5000.0
    bench.dispatcher.leases(Leases((), None))
    assert not bench.dispatcher.is_over()


def test_stopping_ends_once_everything_is_released() -> None:
    bench = Bench(forever=True)
    bench.dispatcher.dispatch()
    bench.dispatcher.leases(Leases((lease(1),), None))
    bench.dispatcher.stop()
    assert not bench.dispatcher.is_over()
    bench.dispatcher.committed(committed(1))
    assert bench.dispatcher.is_over()


def test_a_host_that_only_keeps_its_delay_is_waited_for() -> None:
    bench = Bench()
    bench.dispatcher.dispatch()
    bench.dispatcher.leases(Leases((lease(1),), None))
    bench.dispatcher.committed(committed(1, new_work=True, rests_until=1090.0))
    bench.dispatcher.leases(Leases((), 1090.0))
    assert not bench.dispatcher.is_over()
    assert bench.dispatcher.wakes_at() == 1090.0
    bench.dispatcher.next_due = 1091.0
    assert bench.dispatcher.is_over(), "a pause of another kind lasts longer"
