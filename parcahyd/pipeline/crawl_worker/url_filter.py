"""Decides which URLs of its site a visit requests: by the patterns of the scope, the trap guards, and the pages per site.

Seeds are never refused. A stored URL is checked against the patterns only: its document was worth a request before, and its
next document corrects a guard that was wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import DueUrl, SiteLease
from parcahyd.core.states import Reason, State
from parcahyd.rules.html.fingerprints import similarity
from parcahyd.rules.traps.budgets import MemoryBudget
from parcahyd.rules.traps.guards import Guards, mark_of_bytes
from parcahyd.rules.urls.url_patterns import UrlPatterns

__all__ = ["UrlFilter"]

_ALL_OBSERVED = 32
_ONE_IN = 16


class UrlFilter:
    """Judges the paths of one visit: each when it is first seen, and again before its request."""

    __slots__ = ("_guards", "_has_limit", "_observed", "_on_the_wire", "_origin", "_pages_left", "_patterns", "_roots", "judge")

    def __init__(self, lease: SiteLease, work: WorkConf, memory: MemoryBudget, now: float) -> None:
        self._origin = lease.origin
        self._observed = 0
        self._patterns = UrlPatterns.of(work.Include, work.Exclude)
        self._guards = Guards(work, now, lease.guards, memory)
        self._has_limit = work.MaxPagesPerSite > 0
        self._pages_left = work.MaxPagesPerSite - lease.site_pages
        self._on_the_wire: set[int] = set()
        """Keys of requests that may give no page; kept only where there is a limit."""
        # Files are read within the folders of seeds. Without any, none is read.
        self._roots = lease.roots if lease.scheme == "file" else None
        is_free = self._patterns is None and not self._has_limit and self._roots is None
        self.judge: Callable[[str], Reason | None] = self._guards.judge if is_free else self._judge
        """Returns why a path that is new to the visit is refused, or None."""

    def _judge(self, path: str) -> Reason | None:
        if self._roots is not None and not path.startswith(self._roots):
            return Reason.LOCAL
        if self._patterns is not None and not self._patterns.admits(self._origin + path):
            return Reason.EXCLUDED
        if self._has_limit and self._pages_left <= 0 and not self._on_the_wire:
            return Reason.SITE_PAGES
        return self._guards.judge(path)

    def judge_all(self, urls: Iterable[DueUrl]) -> Iterator[tuple[DueUrl, Reason | None]]:
        """The URLs that came with the set, each with the reason why the settings refuse it now, or None."""
        for url in urls:
            reason = self._guards.look_at(url.path)
            if url.seed or url.state == State.STORED:
                reason = None
            if self._patterns is not None and not url.seed and not self._patterns.admits(self._origin + url.path):
                reason = Reason.EXCLUDED
            if self._roots is not None and not url.path.startswith(self._roots):
                reason = Reason.LOCAL
            yield url, reason

    def judge_request(self, url: DueUrl) -> Reason | None:
        """Why a URL that was admitted is not requested now, or None."""
        if url.seed or url.state == State.STORED:
            return None
        if self._has_limit and self._pages_left <= 0 and _is_new(url):
            return Reason.SITE_PAGES
        return self._guards.judge_ask(url.path)

    def requested(self, url: DueUrl) -> None:
        """A request is sent; if the site has no page of its URL yet, it counts for the limit."""
        if self._has_limit and _is_new(url):
            self._pages_left -= 1
            self._on_the_wire.add(url.key)

    def gave_page(self, url: DueUrl) -> None:
        """The request gave a page."""
        self._on_the_wire.discard(url.key)

    def gave_no_page(self, url: DueUrl) -> None:
        """The request gave no page, and does not count for the limit."""
        if self._has_limit and _is_new(url):
            self._pages_left += 1
            self._on_the_wire.discard(url.key)

    def observe(self, path: str, body: bytes, status: int) -> None:
        """Show the guards a body (see `Guards.observe`). After the first, one in sixteen is shown, and counts for sixteen."""
        self._observed += 1
        if self._observed <= _ALL_OBSERVED:
            weight = 1
        elif self._observed % _ONE_IN == 0:
            weight = _ONE_IN
        else:
            return
        self._guards.observe(path, similarity(body) or mark_of_bytes(body), status, weight)

    def encode(self) -> bytes:
        return self._guards.encode()

    def forget(self) -> None:
        """Give the room back: the visit is over."""
        self._guards.forget()


def _is_new(url: DueUrl) -> bool:
    """Whether the site has no page of this URL yet."""
    return url.state != State.STORED and not url.has_page
