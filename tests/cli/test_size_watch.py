"""The estimate that a run shows: asked for seldom, and never in the way."""

from __future__ import annotations

import msgspec

from parcahyd.cli.size_watch import SizeWatch
from parcahyd.core.errors import DatabaseUnusable
from parcahyd.core.progress import Progress, RunSummary, SizeEstimate

SNAPSHOT = Progress(0.0, 0, 0, 0, 0, 0, 0, {}, 0.0, 0, 0, 0, 0, 0, ())
SUMMARY = RunSummary("done", 1.0, 0, 0, 0, 0, 0, 0, 0, {}, {}, None)


class Watched:
    """A run that is watched, with a database that takes its time."""

    def __init__(self, takes: float = 0.0) -> None:
        self.shown: list[int | None] = []
        self.heard: list[str] = []
        self.asked = 0
        self.is_broken = False
        self._takes = takes
        self._now = 0.0
        self.watch = SizeWatch(self, self._ask, lambda: self._now)

    def _ask(self) -> SizeEstimate | None:
        self._now += self._takes
        self.asked += 1
        if self.is_broken:
            raise DatabaseUnusable("it is damaged", "restore it")
        return SizeEstimate(1, 1, self.asked, None)

    def progress(self, snapshot: Progress) -> None:
        self.shown.append(snapshot.in_the_end.likely if snapshot.in_the_end is not None else None)

    def finished(self, summary: RunSummary) -> None:
        self.heard.append(summary.outcome)

    def close(self) -> None:
        self.heard.append("closed")

    def run(self, *seconds: float, phase: str = "crawling") -> list[int | None]:
        before = len(self.shown)
        for second in seconds:
            self.watch.progress(msgspec.structs.replace(SNAPSHOT, seconds=second, phase=phase))
        return self.shown[before:]


def test_it_asks_every_ten_seconds_and_shows_the_last_answer() -> None:
    assert Watched().run(1, 9.9, 10, 15, 20, 21) == [None, None, 1, 1, 2, 2]


def test_a_large_database_is_asked_so_seldom_that_it_takes_a_twentieth_of_the_time() -> None:
    watched = Watched(takes=10.0)
    assert watched.run(*range(10, 411, 10))[-1] == 3
    assert watched.asked == 3, "at 10, 210 and 410"


def test_a_run_that_is_not_crawling_is_not_estimated_anew() -> None:
    watched = Watched()
    assert watched.run(10, phase="starting") == [None]
    assert watched.run(11) == [1]
    assert watched.run(30, phase="stopping") == [1]


def test_a_database_that_cannot_be_read_gives_no_estimate() -> None:
    watched = Watched()
    assert watched.run(10) == [1]
    watched.is_broken = True
    assert watched.run(20) == [None]
    watched.is_broken = False
    assert watched.run(30) == [3]


def test_the_rest_passes() -> None:
    watched = Watched()
    watched.watch.finished(SUMMARY)
    watched.watch.close()
    assert watched.heard == ["done", "closed"]
