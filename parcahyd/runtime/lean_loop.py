"""The event loop of our own processes: files, times and callbacks, and nothing else.

asyncio does far more, which takes longer to load than a small site takes to crawl, and makes an object and a context of every
callback. See docs/decisions/0019-a-loop-of-our-own.md.
"""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any

from parcahyd.runtime.file_watch import FileWatch

__all__ = ["LeanLoop", "LeanTimer"]

_Callback = Callable[..., object]
_Handler = Callable[["LeanLoop", dict[str, Any]], object]

_LONGEST_SLEEP = 3600.0
_MANY_CANCELLED = 100
"""Cancelled timers that are kept until their time comes, before it is asked whether they are the greater part."""
_READ = ~select.POLLOUT
_WRITE = ~select.POLLIN
"""Whoever waits for a file is woken by its errors and its end as well."""


class LeanTimer:
    """A callback that waits for its time."""

    __slots__ = ("_loop", "_when", "arguments", "callback")

    def __init__(self, loop: LeanLoop, when: float, callback: _Callback, arguments: tuple[Any, ...]) -> None:
        self._loop = loop
        self._when = when
        self.callback: _Callback | None = callback
        self.arguments = arguments

    def cancel(self) -> None:
        if self.callback is not None:
            self.callback = None
            self.arguments = ()
            self._loop.timer_cancelled()

    def cancelled(self) -> bool:
        """Whether it will not be called: it was cancelled, or has been called."""
        return self.callback is None

    def when(self) -> float:
        return self._when


class LeanLoop:
    """An event loop; see `parcahyd.core.event_loop.EventLoop` for the contract.

    In a turn, the callbacks that wait are called in their order, then those of the files that are ready, then the timers that
    are due, the earliest first. What a callback asks for *soon* waits for the next turn, so nobody starves the files.
    """

    time = staticmethod(time.monotonic)

    def __init__(self, watch: Callable[[], FileWatch] = FileWatch.quickest) -> None:
        self._watch = watch()
        self._soon: deque[tuple[_Callback, tuple[Any, ...]]] = deque()
        self._timers: list[tuple[float, int, LeanTimer]] = []
        self._made = 0
        self._cancelled = 0
        self._readers: dict[int, tuple[_Callback, tuple[Any, ...]]] = {}
        self._writers: dict[int, tuple[_Callback, tuple[Any, ...]]] = {}
        self._handler: _Handler | None = None
        self._stopping = False
        self._closed = False
        self._sleeping = False
        self._signals: dict[int, Any] = {}
        self._wakened_before = -1
        self._wakened, self._waker = socket.socketpair()
        for end in (self._wakened, self._waker):
            end.setblocking(False)
        self.add_reader(self._wakened.fileno(), self._drain)

    def run_forever(self) -> None:
        try:
            while not self._stopping:
                try:
                    while not self._stopping:
                        self._turn()
                except Exception as error:
                    # What else was ready is so in the next turn.
                    self.call_exception_handler({"message": "an exception in a callback of the event loop", "exception": error})
        finally:
            self._stopping = self._sleeping = False

    def stop(self) -> None:
        """Return from `run_forever` at the end of this turn."""
        self._stopping = True

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            for number in list(self._signals):
                self.remove_signal_handler(number)
            self._soon.clear()
            self._timers.clear()
            self._watch.close()
            self._wakened.close()
            self._waker.close()

    def is_closed(self) -> bool:
        return self._closed

    # --- callbacks -----------------------------------------------------------------------------------------------------

    def call_soon(self, callback: _Callback, /, *arguments: Any) -> None:
        self._soon.append((callback, arguments))

    def call_soon_threadsafe(self, callback: _Callback, /, *arguments: Any) -> None:
        if self._closed:
            raise RuntimeError("the event loop is closed")
        self._soon.append((callback, arguments))
        # The loop says that it sleeps before it looks for the last time, so one of the two sees the other.
        if self._sleeping:
            with contextlib.suppress(OSError):  # Full: it will wake. Closed since: nobody sleeps.
                self._waker.send(b"\0")

    def call_later(self, delay: float, callback: _Callback, /, *arguments: Any) -> LeanTimer:
        return self.call_at(time.monotonic() + delay, callback, *arguments)

    def call_at(self, when: float, callback: _Callback, /, *arguments: Any) -> LeanTimer:
        timer = LeanTimer(self, when, callback, arguments)
        self._made += 1
        heappush(self._timers, (when, self._made, timer))
        return timer

    def timer_cancelled(self) -> None:
        """A timer of this loop will not be called; many such are thrown out together."""
        self._cancelled += 1
        if self._cancelled > _MANY_CANCELLED and 2 * self._cancelled > len(self._timers):
            self._timers = [entry for entry in self._timers if entry[2].callback is not None]
            heapify(self._timers)
            self._cancelled = 0

    # --- files ---------------------------------------------------------------------------------------------------------

    def add_reader(self, descriptor: int, callback: _Callback, /, *arguments: Any) -> None:
        self._readers[descriptor] = (callback, arguments)
        self._follow(descriptor)

    def remove_reader(self, descriptor: int, /) -> bool:
        if self._readers.pop(descriptor, None) is None:
            return False
        self._follow(descriptor)
        return True

    def add_writer(self, descriptor: int, callback: _Callback, /, *arguments: Any) -> None:
        self._writers[descriptor] = (callback, arguments)
        self._follow(descriptor)

    def remove_writer(self, descriptor: int, /) -> bool:
        if self._writers.pop(descriptor, None) is None:
            return False
        self._follow(descriptor)
        return True

    def _follow(self, descriptor: int) -> None:
        wanted = select.POLLIN if descriptor in self._readers else 0
        if descriptor in self._writers:
            wanted |= select.POLLOUT
        self._watch.follow(descriptor, wanted)

    # --- signals -------------------------------------------------------------------------------------------------------

    def add_signal_handler(self, number: int, callback: _Callback, /, *arguments: Any) -> None:
        """Have a signal call back on the loop. In the main thread only."""

        def caught(_number: int, _frame: object) -> None:
            self.call_soon_threadsafe(callback, *arguments)

        # A signal that comes just before the loop sleeps must wake it, which only the interpreter's own handler can.
        wakened_before = signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        if not self._signals:
            self._wakened_before = wakened_before
        before = signal.signal(number, caught)
        signal.siginterrupt(number, False)  # Libraries that wait for the system are not disturbed.
        # None: it was not Python's, and cannot be put back.
        self._signals.setdefault(number, signal.SIG_DFL if before is None else before)

    def remove_signal_handler(self, number: int, /) -> bool:
        """Have it as it was before."""
        if number not in self._signals:
            return False
        signal.signal(number, self._signals.pop(number))
        if not self._signals:
            signal.set_wakeup_fd(self._wakened_before)
        return True

    # --- mistakes ------------------------------------------------------------------------------------------------------

    def set_exception_handler(self, handler: _Handler | None) -> None:
        self._handler = handler

    def call_exception_handler(self, context: dict[str, Any], /) -> None:
        (self._handler or LeanLoop.default_exception_handler)(self, context)

    def default_exception_handler(self, context: dict[str, Any], /) -> None:
        """Write the message and the traceback to standard error."""
        import traceback  # Seldom needed, and it would be loaded before the first request.

        print(context.get("message", ""), file=sys.stderr)
        error = context.get("exception")
        if isinstance(error, BaseException):
            traceback.print_exception(error)
        sys.stderr.flush()

    # --- a turn --------------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        soon, readers, writers = self._soon, self._readers, self._writers
        for _ in range(len(soon)):
            callback, arguments = soon.popleft()
            callback(*arguments)
        self._sleeping = True
        ready = self._watch.poll(0.0 if soon or self._stopping else self._patience())
        self._sleeping = False
        for descriptor, mask in ready:
            # Asked for only now: the callback before may have removed it.
            if mask & _READ and (reader := readers.get(descriptor)) is not None:
                reader[0](*reader[1])
            if mask & _WRITE and (writer := writers.get(descriptor)) is not None:
                writer[0](*writer[1])
        if self._timers:
            self._call_timers()

    def _patience(self) -> float:
        """Seconds until the next timer."""
        if not self._timers:
            return _LONGEST_SLEEP
        return min(max(0.0, self._timers[0][0] - time.monotonic()), _LONGEST_SLEEP)

    def _call_timers(self) -> None:
        timers, now, last = self._timers, time.monotonic(), self._made
        while timers and timers[0][0] <= now:
            if timers[0][1] > last:  # Made meanwhile: it waits for the next turn.
                break
            timer = heappop(timers)[2]
            callback, arguments = timer.callback, timer.arguments
            if callback is None:
                self._cancelled -= 1
            else:
                timer.callback = None
                callback(*arguments)
                timers = self._timers

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._wakened.recv(4096)
