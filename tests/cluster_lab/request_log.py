"""What the log of a web says of a crawl: which pages were asked for, how often, and whether delays were kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

import msgspec

from bench.synthetic_server import Request
from bench.synthetic_web import Web

__all__ = ["TOLERANCE", "LogFindings", "ShortGaps", "judge_log", "short_gaps"]

TOLERANCE = 0.01
"""Seconds by which a gap may be shorter than the delay: what two user-space processes and their clocks may differ by."""

Pipeline = Callable[[Request], Hashable]
"""Which pipeline sent a request."""


class ShortGaps(msgspec.Struct, frozen=True):
    """Gaps between requests to one subject that were shorter than its delay."""

    within: int
    """Both requests came from one pipeline."""
    between: int
    shortest: float
    """Of all gaps, in seconds; below zero: a request began before the last one was answered."""

    def __str__(self) -> str:
        return f"{self.within} / {self.between}"


class LogFindings(msgspec.Struct, frozen=True):
    """A crawl as its web saw it."""

    asked: int
    """Different pages that were asked for."""
    missing: tuple[str, ...]
    """URLs of pages that nobody asked for."""
    again: int
    """Requests for a page that had been asked for before."""
    hosts: ShortGaps
    addresses: ShortGaps


def judge_log(
    web: Web, requests: Sequence[Request], host_delay: float, address_delay: float, pipeline: Pipeline | None = None
) -> LogFindings:
    """The findings. `requests` are in the order of their beginnings; without `pipeline` each asker is one."""
    told_by = pipeline or (lambda request: request.asker)
    pages = Counter((request.host, request.page) for request in requests if request.page >= 0)
    every = [(host, page) for host, size in enumerate(web.sizes) for page in range(size)]
    return LogFindings(
        asked=len(pages),
        missing=tuple(web.url(*place) for place in every if place not in pages),
        again=pages.total() - len(pages),
        hosts=short_gaps(_host_gaps(requests, told_by), host_delay),
        addresses=short_gaps(_address_gaps(requests, web.shape.addresses, told_by), address_delay),
    )


def short_gaps(gaps: Iterable[tuple[float, bool]], delay: float) -> ShortGaps:
    """Of gaps, each with whether both its requests came from one pipeline."""
    known = list(gaps)
    short = [is_within for gap, is_within in known if gap < delay - TOLERANCE]
    return ShortGaps(sum(short), len(short) - sum(short), min((gap for gap, _ in known), default=0.0))


def _host_gaps(requests: Sequence[Request], pipeline: Pipeline) -> Iterable[tuple[float, bool]]:
    """From the end of the latest answer to the beginning of the host's next request, robots.txt included."""
    last: dict[int, Request] = {}
    for request in requests:
        before = last.get(request.host)
        if before is not None:
            yield request.began - before.ended, pipeline(before) == pipeline(request)
        if before is None or request.ended > before.ended:
            last[request.host] = request


def _address_gaps(requests: Sequence[Request], addresses: int, pipeline: Pipeline) -> Iterable[tuple[float, bool]]:
    """From the beginning of a request to that of the address's next one, as its delay runs while it has several connections.

    Where the address passes to another pipeline, that one waits from the end of the last answer on.
    """
    last: dict[int, Hashable] = {}
    began: dict[int, float] = {}
    ended: dict[int, dict[Hashable, float]] = {}
    for request in requests:
        address, asker = request.host % addresses, pipeline(request)
        ends = ended.setdefault(address, {})
        if address in last and last[address] == asker:
            yield request.began - began[address], True
        elif address in last:
            yield request.began - max(end for other, end in ends.items() if other != asker), False
        last[address], began[address] = asker, request.began
        ends[asker] = max(request.ended, ends.get(asker, 0.0))
