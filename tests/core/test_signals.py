"""Signals wake whoever was wired, in order, as often as they are raised."""

from __future__ import annotations

from parcahyd.core.signals import Signal, SignalBoard


def test_a_signal_wakes_only_its_own() -> None:
    board = SignalBoard()
    woken: list[str] = []
    board.wire(Signal.HUNGRY, lambda: woken.append("first"))
    board.wire(Signal.HUNGRY, lambda: woken.append("second"))
    board.wire(Signal.SOMETHING_TO_MAP, lambda: woken.append("other"))
    board.raise_(Signal.HUNGRY)
    board.raise_(Signal.HUNGRY)
    assert woken == ["first", "second", "first", "second"]


def test_there_are_the_five_of_the_paper() -> None:
    assert [signal.value for signal in Signal] == [
        "Something to map",
        "Hungry",
        "Something to crawl",
        "Request processed",
        "Something to update",
    ]
