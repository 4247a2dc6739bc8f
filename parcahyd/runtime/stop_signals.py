"""The signals that ask a run to stop: Ctrl-C (SIGINT), a service manager (SIGTERM), a terminal that was closed (SIGHUP).

Most senders signal every process of a run: a terminal, `timeout` and systemd do. The coordinator alone answers. Its children
ignore these signals from their first instruction on, and end when the coordinator closes their channels.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["STOP_SIGNALS", "handled_signals", "hold_back", "ignore_from_now_on", "interrupt_on_signals"]

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def handled_signals() -> list[signal.Signals]:
    """Those that the coordinator answers. A SIGHUP that is ignored stays so: this is what `nohup` asks for."""
    return [number for number in STOP_SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]


@contextmanager
def interrupt_on_signals() -> Iterator[None]:
    """Each of these signals raises KeyboardInterrupt in the block, as Ctrl-C does; afterwards everything is as before."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    for number in handled_signals():
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: the handler was not installed by Python, and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def hold_back() -> Iterator[None]:
    """These signals arrive after the block. A process that is started in it never gets them until it asks for them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_from_now_on() -> None:
    """Ignore these signals, also those that were held back, in this process and in the ones that it starts."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
