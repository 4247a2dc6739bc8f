"""An event loop as this program uses one. Those of asyncio are such loops, and so is `parcahyd.runtime.lean_loop.LeanLoop`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["EventLoop", "Timer"]


class Timer(Protocol):
    """A callback that waits for its time."""

    def cancel(self) -> None: ...

    def cancelled(self) -> bool: ...

    def when(self) -> float:
        """The loop's time at which it is called."""
        ...


class EventLoop(Protocol):
    """Calls back when a file is ready, when a time has come, or soon. Every callback runs in the thread that runs the loop.

    Only `call_soon_threadsafe` may be called from other threads. What a callback raises goes to the loop's exception handler.
    """

    def run_forever(self) -> None: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...

    def is_closed(self) -> bool: ...

    def time(self) -> float:
        """The monotonic clock."""
        ...

    def call_soon(self, callback: Callable[..., object], /, *arguments: Any) -> object: ...

    def call_soon_threadsafe(self, callback: Callable[..., object], /, *arguments: Any) -> object:
        """Raises RuntimeError if the loop is closed."""
        ...

    def call_later(self, delay: float, callback: Callable[..., object], /, *arguments: Any) -> Timer: ...

    def call_at(self, when: float, callback: Callable[..., object], /, *arguments: Any) -> Timer: ...

    def add_reader(self, descriptor: int, callback: Callable[..., Any], /, *arguments: Any) -> None: ...

    def remove_reader(self, descriptor: int, /) -> bool: ...

    def add_writer(self, descriptor: int, callback: Callable[..., Any], /, *arguments: Any) -> None: ...

    def remove_writer(self, descriptor: int, /) -> bool: ...

    def call_exception_handler(self, context: dict[str, Any], /) -> None:
        """Tell of a mistake: a `message`, and an `exception` if there is one."""
        ...
