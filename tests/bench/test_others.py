"""When others used too much of the machine."""

from __future__ import annotations

import pytest

from bench.others import Busy, is_disturbed, others_between


def test_others_are_what_neither_we_nor_the_kernel_used() -> None:
    others = others_between(Busy(100.0, 5.0, 10.0), Busy(112.0, 6.0, 11.0), our_seconds=8.0, seconds=4.0)
    assert others.cores == pytest.approx(0.75)
    assert others.stolen_cores == pytest.approx(0.25)


def test_an_account_that_comes_out_below_nothing_is_nothing() -> None:
    assert others_between(Busy(0, 0, 0), Busy(1.0, 0, 0), our_seconds=1.1, seconds=1.0).cores == 0


@pytest.mark.parametrize(
    ("cores", "seconds", "disturbed"),
    [(0.09, 100.0, False), (0.11, 100.0, True), (0.3, 0.2, False), (0.5, 0.2, True), (1.0, 10.0, True)],
)
def test_more_than_a_tenth_of_a_core_disturbs_unless_the_crawl_was_too_short_to_tell(
    cores: float, seconds: float, disturbed: bool
) -> None:
    assert is_disturbed(cores, seconds) is disturbed


def test_this_machine_can_be_read() -> None:
    busy = Busy.now()
    assert busy.working > 0
    assert 0 <= busy.kernel_threads <= busy.working
