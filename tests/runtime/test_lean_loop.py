"""The event loop of our own: what is called, in which order, and how it ends."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from parcahyd.runtime.file_watch import EpollWatch, FileWatch, PollWatch
from parcahyd.runtime.lean_loop import LeanLoop

WATCHES: list[Callable[[], FileWatch]] = [PollWatch]
if hasattr(select, "epoll"):
    WATCHES.append(EpollWatch)

_PATIENCE = 20.0


class Trial:
    """A loop that is stopped with an exception if nobody else stops it, and what it was told of."""

    def __init__(self, watch: Callable[[], FileWatch]) -> None:
        self.loop = LeanLoop(watch)
        self.seen: list[Any] = []
        self.troubles: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _loop, context: self.troubles.append(context))

    def run(self) -> None:
        late: list[bool] = []

        def too_late() -> None:
            late.append(True)
            self.loop.stop()

        limit = self.loop.call_later(_PATIENCE, too_late)
        self.loop.run_forever()
        limit.cancel()
        assert not late, "nobody stopped the loop"

    def turn(self) -> None:
        """One turn that does not wait."""
        self.loop.call_soon(self.loop.stop)
        self.run()


@pytest.fixture(params=WATCHES)
def trial(request: pytest.FixtureRequest) -> Iterator[Trial]:
    made = Trial(request.param)
    yield made
    made.loop.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    with ours, theirs:
        yield ours, theirs


# --- callbacks and times ---------------------------------------------------------------------------------------------


def test_callbacks_are_called_in_order_and_those_they_ask_for_in_the_next_turn(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen

    def second() -> None:
        seen.append(2)
        loop.call_soon(seen.append, 4)
        loop.call_soon(loop.stop)

    loop.call_soon(seen.append, 1)
    loop.call_soon(second)
    loop.call_soon(seen.append, 3)
    trial.run()
    assert seen == [1, 2, 3, 4]


def test_timers_are_called_when_they_are_due_the_earliest_first_and_equals_in_order(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen
    now = loop.time()
    loop.call_at(now + 0.03, loop.stop)
    loop.call_at(now + 0.02, seen.append, "late")
    for number in range(3):
        loop.call_at(now + 0.01, seen.append, number)
    loop.call_at(now - 5, seen.append, "overdue")
    loop.call_at(now + 0.02, lambda: seen.append(loop.time() >= now + 0.02))
    trial.run()
    assert seen == ["overdue", 0, 1, 2, "late", True]


def test_a_timer_that_sets_itself_again_at_once_does_not_keep_files_waiting(
    trial: Trial, pair: tuple[socket.socket, socket.socket]
) -> None:
    loop = trial.loop
    ours, theirs = pair

    def again() -> None:
        loop.call_later(0, again)

    again()
    loop.add_reader(ours.fileno(), loop.stop)
    theirs.send(b"x")
    trial.run()


def test_a_cancelled_timer_is_never_called(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen
    first = loop.call_later(0.001, seen.append, "first")
    second = loop.call_later(0.002, seen.append, "second")
    assert second.when() > first.when()
    assert not first.cancelled()
    first.cancel()
    first.cancel()
    assert first.cancelled()
    loop.call_later(0.004, loop.stop)
    trial.run()
    assert seen == ["second"]
    second.cancel()  # It is over: nothing happens.


def test_a_timer_can_cancel_another_one_that_is_due_too(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen
    now = loop.time()
    other = loop.call_at(now - 1, seen.append, "other")
    loop.call_at(now - 2, other.cancel)
    loop.call_at(now, loop.stop)
    trial.run()
    assert seen == []


def test_many_cancelled_timers_are_not_kept_and_the_others_stay_in_order(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen
    now = loop.time()
    for number in range(10):
        loop.call_at(now + 0.001 * (10 - number), seen.append, 10 - number)
    for _ in range(10_000):
        loop.call_at(now + 3600, seen.append, "never").cancel()
    assert len(loop._timers) < 1000
    loop.call_at(now + 0.011, loop.stop)
    trial.run()
    assert seen == list(range(1, 11))


def test_timers_thrown_out_while_others_are_called_do_not_bring_these_twice(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen
    now = loop.time()
    cancelled = [loop.call_at(now + 3600, seen.append, "never") for _ in range(1000)]

    def cancel_all() -> None:
        seen.append("cancel")
        for timer in cancelled:
            timer.cancel()

    loop.call_at(now - 3, cancel_all)
    loop.call_at(now - 2, seen.append, "then")
    loop.call_at(now - 1, loop.stop)
    trial.run()
    assert seen == ["cancel", "then"]


def test_another_thread_wakes_the_loop(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen
    count = 2000

    def told(number: int) -> None:
        seen.append(number)
        if number == count - 1:
            loop.stop()

    def tell() -> None:
        for number in range(count):
            loop.call_soon_threadsafe(told, number)

    thread = threading.Thread(target=tell)
    loop.call_later(0.001, thread.start)
    trial.run()
    thread.join()
    assert seen == list(range(count))


def test_each_word_of_another_thread_wakes_a_loop_that_sleeps(trial: Trial) -> None:
    loop = trial.loop
    heard = threading.Semaphore(0)

    def tell() -> None:
        for _ in range(500):
            loop.call_soon_threadsafe(heard.release)
            assert heard.acquire(timeout=_PATIENCE)
        loop.call_soon_threadsafe(loop.stop)

    thread = threading.Thread(target=tell)
    thread.start()
    trial.run()
    thread.join()


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_reader_is_called_while_there_is_something_to_read_and_not_when_it_was_removed(
    trial: Trial, pair: tuple[socket.socket, socket.socket]
) -> None:
    loop, seen = trial.loop, trial.seen
    ours, theirs = pair
    loop.add_reader(ours.fileno(), seen.append, "ready")
    trial.turn()
    assert seen == []
    theirs.send(b"xy")
    trial.turn()
    trial.turn()
    assert seen == ["ready", "ready"]
    ours.recv(2)
    trial.turn()
    assert len(seen) == 2
    theirs.send(b"x")
    assert loop.remove_reader(ours.fileno())
    assert not loop.remove_reader(ours.fileno())
    trial.turn()
    assert len(seen) == 2


def test_reader_and_writer_of_one_file_come_and_go_apart(trial: Trial, pair: tuple[socket.socket, socket.socket]) -> None:
    loop, seen = trial.loop, trial.seen
    ours, theirs = pair
    loop.add_reader(ours.fileno(), seen.append, "read")
    loop.add_writer(ours.fileno(), seen.append, "write")
    trial.turn()
    assert seen == ["write"]
    theirs.send(b"x")
    trial.turn()
    assert seen[1:] == ["read", "write"]
    loop.remove_writer(ours.fileno())
    trial.turn()
    assert seen[3:] == ["read"]
    assert not loop.remove_writer(ours.fileno())


def _fill(end: socket.socket) -> int:
    """The bytes that it took."""
    sent = 0
    while True:
        try:
            sent += end.send(bytes(65536))
        except BlockingIOError:
            return sent


def test_a_writer_waits_for_room(trial: Trial, pair: tuple[socket.socket, socket.socket]) -> None:
    loop, seen = trial.loop, trial.seen
    ours, theirs = pair
    sent = _fill(ours)
    loop.add_writer(ours.fileno(), seen.append, "room")
    trial.turn()
    assert seen == []
    while sent:
        sent -= len(theirs.recv(65536))
    trial.turn()
    assert seen == ["room"]


def test_the_other_end_closing_wakes_reader_and_writer(trial: Trial, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.close()
    trial.loop.add_reader(ours.fileno(), trial.seen.append, "read")
    trial.loop.add_writer(ours.fileno(), trial.seen.append, "write")
    trial.turn()
    assert trial.seen == ["read", "write"]


def test_a_reader_that_another_one_removes_in_the_same_turn_is_not_called(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen
    pairs = [socket.socketpair() for _ in range(2)]

    def only(number: int) -> None:
        seen.append(number)
        loop.remove_reader(pairs[1 - number][0].fileno())

    for number, (ours, theirs) in enumerate(pairs):
        theirs.send(b"x")
        loop.add_reader(ours.fileno(), only, number)
    trial.turn()
    assert len(seen) == 1
    for one in (end for ends in pairs for end in ends):
        one.close()


def test_a_file_that_was_closed_unasked_and_given_out_again_can_be_watched_again(trial: Trial) -> None:
    loop, seen = trial.loop, trial.seen
    ours, theirs = socket.socketpair()
    number = ours.fileno()
    loop.add_reader(number, seen.append, "old")
    ours.close()
    loop.remove_reader(number)
    with theirs, socket.socket() as again:
        assert again.fileno() == number
        loop.add_writer(number, seen.append, "new")
        trial.turn()
        loop.remove_writer(number)
    assert seen == ["new"]


def test_every_one_of_many_files_is_heard(trial: Trial) -> None:
    """More than are told of at once, and all of them stay ready."""
    loop = trial.loop
    pairs = [socket.socketpair() for _ in range(300)]
    heard: set[int] = set()

    def ready(number: int) -> None:
        heard.add(number)
        if len(heard) == len(pairs):
            loop.stop()

    for number, (ours, theirs) in enumerate(pairs):
        loop.add_reader(ours.fileno(), ready, number)
        theirs.send(b"x")
    trial.run()
    assert heard == set(range(300))
    for one in (end for ends in pairs for end in ends):
        one.close()


# --- mistakes and the end --------------------------------------------------------------------------------------------


def _fail(what: str) -> None:
    raise ValueError(what)


def test_what_is_raised_goes_to_the_handler_and_the_rest_goes_on(
    trial: Trial, pair: tuple[socket.socket, socket.socket]
) -> None:
    loop, seen = trial.loop, trial.seen
    ours, theirs = pair
    theirs.send(b"x")

    def read() -> None:
        ours.recv(1)
        _fail("reader")

    loop.add_reader(ours.fileno(), read)
    loop.call_soon(_fail, "soon")
    loop.call_soon(seen.append, "after")
    loop.call_at(loop.time() - 1, _fail, "timer")
    loop.call_later(0.01, loop.stop)
    trial.run()
    assert [str(trouble["exception"]) for trouble in trial.troubles] == ["soon", "reader", "timer"]
    assert seen == ["after"]


def test_an_interrupt_is_no_mistake_and_leaves_the_loop(trial: Trial) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    trial.loop.call_soon(trial.loop.stop)
    trial.loop.call_soon(interrupt)
    with pytest.raises(KeyboardInterrupt):
        trial.loop.run_forever()
    assert trial.troubles == []
    trial.loop.call_soon(trial.seen.append, "again")
    trial.turn()
    assert trial.seen == ["again"]


def test_a_stopped_loop_can_run_again(trial: Trial) -> None:
    for number in range(2):
        trial.loop.call_soon(trial.seen.append, number)
        trial.turn()
    trial.loop.stop()
    trial.loop.call_soon(trial.seen.append, "not yet")
    trial.loop.run_forever()
    assert trial.seen == [0, 1]


def test_a_closed_loop_says_so_to_other_threads(trial: Trial) -> None:
    trial.loop.close()
    trial.loop.close()
    assert trial.loop.is_closed()
    with pytest.raises(RuntimeError, match="closed"):
        trial.loop.call_soon_threadsafe(trial.seen.append, 1)


def test_a_loop_leaves_no_file_open() -> None:
    gc.collect()  # Files that other tests have left.
    before = os.dup(0)
    LeanLoop().close()
    after = os.dup(0)
    os.close(before)
    os.close(after)
    assert after == before + 1


def test_a_signal_calls_back_and_is_as_before_afterwards(trial: Trial) -> None:
    before = signal.getsignal(signal.SIGUSR1)
    trial.loop.add_signal_handler(signal.SIGUSR1, trial.loop.stop)
    timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    trial.run()
    timer.join()
    assert trial.loop.remove_signal_handler(signal.SIGUSR1)
    assert not trial.loop.remove_signal_handler(signal.SIGUSR1)
    assert signal.getsignal(signal.SIGUSR1) == before


def test_who_was_wakened_by_signals_before_is_so_afterwards(trial: Trial, pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _theirs = pair
    before = signal.set_wakeup_fd(ours.fileno())
    try:
        trial.loop.add_signal_handler(signal.SIGUSR1, trial.loop.stop)
        trial.loop.add_signal_handler(signal.SIGUSR2, trial.loop.stop)
        trial.loop.close()
    finally:
        wakened = signal.set_wakeup_fd(before)
    assert wakened == ours.fileno()


SCRIPT = """
    import threading, time
    from parcahyd.runtime.children import end_with_traceback
    from parcahyd.runtime.lean_loop import LeanLoop

    def broken():
        raise ValueError("a bug")

    threading.Thread(target=time.sleep, args=(60,)).start()
    loop = LeanLoop()
    loop.set_exception_handler(end_with_traceback)
    loop.call_soon(broken)
    loop.run_forever()
"""


def test_a_bug_ends_a_child_with_its_traceback_whatever_its_threads_do() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 1
    assert "in broken" in done.stderr
    assert "ValueError: a bug" in done.stderr
