"""A count on the terminal that is written over itself, where standard error is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_line"]

_EVERY = 0.1


@contextmanager
def progress_line(noun: str, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """A function that shows how many of how many are done; None where nobody would see it. The line is gone afterwards."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    last = 0.0

    def show(done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last > _EVERY:
            last = time.monotonic()
            sys.stderr.write(f"\r{done:,} of {total:,} {noun}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
