"""What a run reports to its observer: a snapshot at intervals, and a summary at the end.

Tested in tests/cli/test_live_display.py and tests/cli/test_reporters.py.
"""

# Annotations are not postponed here: msgspec reads those of records, and would compile each from its text in every process.

from typing import Protocol

import msgspec

__all__ = ["NullObserver", "Observer", "Progress", "RunSummary", "SiteProgress", "SizeEstimate", "WorkerProgress"]


class SiteProgress(msgspec.Struct, frozen=True):
    """A site that is being visited."""

    site: str
    """scheme://host[:port]."""
    address: str
    worker: int
    pages: int
    """Answers of this visit so far."""
    waiting: int
    """URLs in its LocalQ."""


class WorkerProgress(msgspec.Struct, frozen=True):
    """One Crawl Worker."""

    worker: int
    pid: int
    visits: int
    on_the_wire: int
    """Requests under way."""
    waiting: int
    """URLs in all its LocalQs."""
    requests: int
    """Requests answered since it started."""
    received: int
    """Bytes on the wire since it started."""
    sites: tuple[SiteProgress, ...] = ()
    """Its busiest visits, at most ten."""


class SizeEstimate(msgspec.Struct, frozen=True):
    """How many pages a crawl, or a site of it, will have in the end: `rules.growth` says how it is estimated."""

    pages: int
    """Those that it has."""
    least: int
    """In nine cases of ten the end lies between `least` and `most`."""
    likely: int | None
    """None: no end is in sight, since pages bring new URLs as fast as others are asked for."""
    most: int | None
    """None: no end is in sight if it goes on as badly as it may."""

    @property
    def done(self) -> float | None:
        """Which share of the likely pages is there."""
        return None if self.likely is None else self.pages / max(self.likely, 1)


class Progress(msgspec.Struct, frozen=True):
    """The state of the run; counts are of this run."""

    seconds: float
    stored: int
    """Documents and redirects committed."""
    unchanged: int
    """Documents that the server or the bytes confirmed."""
    failed: int
    refused: int
    gone: int
    received: int
    """Bytes on the wire, heads included, of what is committed."""
    reasons: dict[str, int]
    """How often each Reason's word was the outcome."""
    pages_per_second: float
    """Over the last interval."""
    url_ip_queue: int
    resolved_queue: int
    open_visits: int
    """Sites that are leased, on their way or being visited."""
    buffer_records: int
    buffer_bytes: int
    workers: tuple[WorkerProgress, ...]
    phase: str = "crawling"
    """`starting`, `crawling`, `waiting` (for retries), `stopping`."""
    note: str = ""
    """A sentence for people, such as why the run waits."""
    at: float = 0.0
    """When the snapshot was taken, in seconds since the epoch."""
    waits_until: float | None = None
    """When the next URL falls due, in seconds since the epoch; none where that is not known."""
    unstored: int = 0
    """Answers that wait for a database that takes nothing, which `note` explains; 0 where it takes them."""
    in_the_end: SizeEstimate | None = None
    """How many pages the whole crawl will have; none: not known yet, or not asked for."""


class RunSummary(msgspec.Struct, frozen=True):
    """How the run ended."""

    outcome: str
    """`done`, `interrupted`, `max-pages`, `max-seconds`, or `failed`."""
    seconds: float
    requests: int
    """Requests of visits that came to their end, robots.txt included."""
    stored: int
    unchanged: int
    failed: int
    refused: int
    gone: int
    received: int
    """Bytes on the wire, heads included."""
    reasons: dict[str, int]
    waiting: dict[str, int]
    """What is left to do, by kind: `known` URLs, `failed` ones with a try to come, links `left out` for want of room."""
    next_due: float | None
    """When the next of them falls due, in seconds since the epoch."""
    notes: tuple[str, ...] = ()
    """Sentences for people: plugins that broke their contract, workers that were replaced, a database that was slow."""
    held_back: int = 0
    """URLs that are refused until MaxPagesPerSite is raised."""
    documents: int = 0
    """Those of `stored` and `unchanged` that are no redirects."""
    saved: dict[str, int] = {}
    """Bytes that were not sent, by what saved them: `coding`, `conditional` requests, `tables` of variable information."""


class Observer(Protocol):
    """Watches a run. Called on the coordinator's loop: return quickly."""

    def progress(self, snapshot: Progress) -> None: ...

    def finished(self, summary: RunSummary) -> None: ...


class NullObserver:
    """Takes everything and does nothing."""

    def progress(self, snapshot: Progress) -> None:
        """Nothing."""

    def finished(self, summary: RunSummary) -> None:
        """Nothing."""
