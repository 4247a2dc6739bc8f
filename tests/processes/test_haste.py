"""Haste: how many pages arrived in this moment or the one before."""

from __future__ import annotations

from parcahyd.processes.haste import Haste


def test_a_few_pages_at_a_time_are_no_haste() -> None:
    haste = Haste()
    assert not any(haste.is_in(10, now) for now in (100.0, 100.3, 100.6, 100.9))


def test_many_pages_in_a_moment_are_haste() -> None:
    haste = Haste()
    assert [haste.is_in(25, now) for now in (100.0, 100.1, 100.2)] == [False, False, True]


def test_haste_lasts_for_the_moment_after_and_no_longer() -> None:
    haste = Haste()
    assert haste.is_in(60, 100.0)
    assert haste.is_in(1, 100.3)
    assert not haste.is_in(1, 100.6)


def test_after_a_pause_haste_is_forgotten() -> None:
    haste = Haste()
    assert haste.is_in(60, 100.0)
    assert not haste.is_in(1, 110.0)
