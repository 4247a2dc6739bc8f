"""What a visit takes of its site: the patterns of the scope, the trap guards, and the pages that the site may still have.

What the user asked for himself passes. What is stored is held against the patterns only: it cost its request already, and its
next document is how a guard learns that it was wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import Reason, State
from parcahyd.core.records import DueUrl, Pair
from parcahyd.rules.traps.guards import Guards, mark_of_bytes
from parcahyd.rules.traps.holding import Memory
from parcahyd.rules.url_patterns import UrlPatterns

__all__ = ["Gate"]

_STORED = int(State.STORED)
_LOOKED_AT = 32
_ONE_IN = 16


class Gate:
    """Judges the paths of one visit, each when it is first met and once more when it is to be asked for."""

    __slots__ = ("_guards", "_has_limit", "_met", "_origin", "_pages_left", "_patterns", "_under_way", "judge")

    def __init__(self, pair: Pair, work: WorkConf, memory: Memory, now: float) -> None:
        self._origin = pair.origin
        self._met = 0
        self._patterns = UrlPatterns.of(work.Include, work.Exclude)
        self._guards = Guards(work, now, pair.guards, memory)
        self._has_limit = work.MaxPagesPerSite > 0
        self._pages_left = work.MaxPagesPerSite - pair.site_pages
        self._under_way: set[int] = set()
        """Keys of pages that were asked for and may come to nothing; kept only where there is a limit."""
        is_free = self._patterns is None and not self._has_limit
        self.judge: Callable[[str], Reason | None] = self._guards.judge if is_free else self._judge
        """Why a path that is new to the visit is refused; None where it is not."""

    def _judge(self, path: str) -> Reason | None:
        if self._patterns is not None and not self._patterns.admits(self._origin + path):
            return Reason.EXCLUDED
        if self._has_limit and self._pages_left <= 0 and not self._under_way:
            return Reason.SITE_PAGES
        return self._guards.judge(path)

    def sift(self, urls: Iterable[DueUrl]) -> Iterator[tuple[DueUrl, Reason | None]]:
        """The URLs that came with the set, each with the reason why it is refused by today's settings, if it is."""
        for url in urls:
            reason = self._guards.look_at(url.path)
            if url.seed or url.state == _STORED:
                reason = None
            if self._patterns is not None and not url.seed and not self._patterns.admits(self._origin + url.path):
                reason = Reason.EXCLUDED
            yield url, reason

    def judge_ask(self, url: DueUrl) -> Reason | None:
        """Why a URL that was admitted is not asked for now."""
        if url.seed or url.state == _STORED:
            return None
        if self._has_limit and self._pages_left <= 0 and _is_new(url):
            return Reason.SITE_PAGES
        return self._guards.judge_ask(url.path)

    def asked(self, url: DueUrl) -> None:
        """A request is on its way; if it brings a page that the site did not have, that is one less."""
        if self._has_limit and _is_new(url):
            self._pages_left -= 1
            self._under_way.add(url.key)

    def came(self, url: DueUrl) -> None:
        """The request brought a page."""
        self._under_way.discard(url.key)

    def came_to_nothing(self, url: DueUrl) -> None:
        """The request brought no page."""
        if self._has_limit and _is_new(url):
            self._pages_left += 1
            self._under_way.discard(url.key)

    def observe(self, path: str, body: bytes, status: int) -> None:
        """What was got for a path: see `Guards.observe`. Of many documents one in sixteen is looked at, and counts for all."""
        self._met += 1
        if self._met <= _LOOKED_AT:
            weight = 1
        elif self._met % _ONE_IN == 0:
            weight = _ONE_IN
        else:
            return
        from parcahyd.rules.similarity import similarity  # With the first page: until then everything waits for the start.

        self._guards.observe(path, similarity(body) or mark_of_bytes(body), status, weight)

    def encode(self) -> bytes:
        return self._guards.encode()

    def forget(self) -> None:
        """Give the room back: the visit is over."""
        self._guards.forget()


def _is_new(url: DueUrl) -> bool:
    """Whether the site has no page of this URL yet."""
    return url.state != _STORED and not (url.etag or url.modified)
