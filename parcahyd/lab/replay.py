"""A recorded crawl taken page by page, breadth first, as a crawler without delays takes it.

Tested in tests/lab/test_progress.py.
"""

from __future__ import annotations

import random

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.lab.recorded_crawls import RecordedCrawl

__all__ = ["Replay", "replay"]

_TRIES = 100


class Replay(msgspec.Struct, frozen=True):
    """What was asked for in which order. Times are numbers of answers: the nth answer is at n."""

    start: str
    """The URL that it began with."""
    found_at: list[int]
    """By URL in the order of asking: when it was found."""
    pages: list[int]
    """By number of answers: how many of them were pages."""
    links_met: list[int]
    """By number of answers: how many links of theirs were met, each page's to one URL once."""


def replay(crawl: RecordedCrawl, seed: int) -> Replay:
    """A walk from a page that chance chooses.

    It is the first of those drawn that leads to half of all URLs; where none of a hundred does, the one that leads to most.
    """
    pages = [number for number in range(len(crawl.urls)) if number not in crawl.missing]
    if not pages:
        raise UserError(f"{crawl.name} has no pages", "name another crawl")
    chance = random.Random(seed)
    best: list[int] = []
    for start in chance.sample(pages, min(_TRIES, len(pages))):
        reached = _reached(crawl, start)
        best = max(best, reached, key=len)
        if 2 * len(best) > len(crawl.urls):
            break
    return _walk(crawl, best)


def _reached(crawl: RecordedCrawl, start: int) -> list[int]:
    """The URLs that a page leads to, in the order in which they are asked for."""
    order, links = [start], crawl.links
    seen = {start}
    for number in order:
        new = [target for target in links[number] if target not in seen]
        seen.update(new)
        order += new
    return order


def _walk(crawl: RecordedCrawl, order: list[int]) -> Replay:
    found = {order[0]: 0}
    pages, links_met = [0], [0]
    for answer, number in enumerate(order, 1):
        for target in crawl.links[number]:
            found.setdefault(target, answer)
        pages.append(pages[-1] + (number not in crawl.missing))
        links_met.append(links_met[-1] + len(crawl.links[number]))
    return Replay(crawl.urls[order[0]], [found[number] for number in order], pages, links_met)
