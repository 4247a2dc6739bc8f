"""A deadline counts from before the question, and is never moved once it has passed."""

from __future__ import annotations

import mmap
import time

from parcahyd.cluster.deadline import Deadline, HubTime, boot_time


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_passes_after_nine_tenths_of_a_lease() -> None:
    clock = _Clock()
    deadline = Deadline(clock, 20.0)
    assert deadline.passed(), "nothing was granted yet"
    deadline.start(clock())
    clock.now += 17.9
    assert not deadline.passed()
    clock.now += 0.1
    assert deadline.passed()


def test_it_counts_from_before_the_question() -> None:
    clock = _Clock()
    deadline = Deadline(clock, 20.0)
    deadline.start(clock())
    noted = clock()
    clock.now += 17.0  # the answer takes its time
    assert deadline.move(noted)
    assert deadline.left() == 1.0


def test_one_that_has_passed_is_never_moved() -> None:
    clock = _Clock()
    deadline = Deadline(clock, 20.0)
    deadline.start(clock())
    clock.now += 18.0
    assert not deadline.move(clock())
    assert deadline.passed()


def test_one_that_was_ended_has_passed() -> None:
    clock = _Clock()
    deadline = Deadline(clock, 20.0)
    deadline.start(clock())
    deadline.end()
    assert not deadline.move(clock())
    assert deadline.passed()


def test_processes_share_it_through_eight_bytes() -> None:
    clock = _Clock()
    memory = memoryview(mmap.mmap(-1, 8))
    parent, child = Deadline(clock, 20.0, memory), Deadline(clock, 20.0, memory)
    parent.start(clock())
    assert not child.passed()
    clock.now += 18.0
    assert child.passed()


def test_the_boot_clock_is_not_behind_the_one_that_stops_in_suspend() -> None:
    assert boot_time() >= time.monotonic() - 1.0


def test_hub_time_goes_on_with_the_boot_clock() -> None:
    clock = _Clock()
    hub_time = HubTime(clock)
    hub_time.note(5000.0)
    clock.now += 7.0
    assert hub_time.now() == 5007.0
