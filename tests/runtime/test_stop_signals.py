"""Requests to stop: raised as an interrupt, held back or ignored, and everything is as before afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from parcahyd.runtime.stop_signals import STOP_SIGNALS, handled_signals, hold_back, ignore_from_now_on, interrupt_on_signals


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_each_signal_is_an_interrupt_in_the_block_and_no_longer(number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in STOP_SIGNALS]
    with interrupt_on_signals(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    assert [signal.getsignal(each) for each in STOP_SIGNALS] == before


def test_a_sighup_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert signal.SIGHUP not in handled_signals()
    with interrupt_on_signals():
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def test_a_signal_that_is_held_back_arrives_afterwards() -> None:
    arrived: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: arrived.append(number))
    with hold_back():
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)  # Another thread would take one to the process.
        assert arrived == []
    assert arrived == [signal.SIGTERM]


def test_signals_that_were_held_back_are_ignored_with_those_to_come() -> None:
    with hold_back():
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)  # Another thread would take one to the process.
        ignore_from_now_on()
    for number in STOP_SIGNALS:
        signal.raise_signal(number)
