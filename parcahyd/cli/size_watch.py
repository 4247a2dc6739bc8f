"""How large the crawl will be, for those who watch a run: the estimate of `parcahyd status`, from the database, now and then.

Tested in tests/cli/test_size_watch.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from parcahyd.cli.reporters import Reporter
from parcahyd.core.errors import DatabaseUnusable
from parcahyd.core.progress import Progress, RunSummary, SizeEstimate

__all__ = ["SizeWatch"]

_EVERY = 10.0
_SHARE = 0.05


class SizeWatch:
    """Adds the newest estimate to each snapshot, on its way to another reporter.

    It asks on the reporter's thread, so the crawl does not wait for it. The larger the database, the longer an answer takes: it
    asks so seldom that it takes a twentieth of the time at most. A database that cannot be read gives no estimate, and the run
    has its own ways to say so.
    """

    def __init__(
        self, reporter: Reporter, ask: Callable[[], SizeEstimate | None], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._reporter = reporter
        self._ask = ask
        self._monotonic = monotonic
        self._next = _EVERY
        """In seconds of the run."""
        self._estimate: SizeEstimate | None = None

    def progress(self, snapshot: Progress) -> None:
        if snapshot.phase == "crawling" and snapshot.seconds >= self._next:
            begin = self._monotonic()
            try:
                self._estimate = self._ask()
            except DatabaseUnusable:
                self._estimate = None
            self._next = snapshot.seconds + max(_EVERY, (self._monotonic() - begin) / _SHARE)
        if self._estimate is not None:
            snapshot = msgspec.structs.replace(snapshot, in_the_end=self._estimate)
        self._reporter.progress(snapshot)

    def finished(self, summary: RunSummary) -> None:
        self._reporter.finished(summary)

    def close(self) -> None:
        self._reporter.close()
