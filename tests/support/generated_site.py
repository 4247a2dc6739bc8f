"""Sites of any size with a link graph that is the same every time: a tree that reaches every page, cross links, loops."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tests.support.sites import Answer, Site, html, text, validated

__all__ = ["generated_site", "page_target"]

_WORDS = ("river", "stone", "lantern", "harbour", "quiet", "amber", "meadow", "signal", "winter", "paper", "bridge", "hollow")


def page_target(number: int) -> str:
    """Where a page lies: the root, folders of ten, a query on every seventh, a file that is no page on every eleventh."""
    if number == 0:
        return "/"
    if number % 11 == 0:
        return f"/files/{number}.txt"
    if number % 7 == 0:
        return f"/search?page={number}"
    return f"/part{number // 10}/page{number}.html"


def generated_site(pages: int, *, seed: int = 1, size: int = 600, latency: float = 0.0, abroad: Sequence[str] = ()) -> Site:
    """A site of that many documents, each of about `size` bytes and unlike every other, all reachable from the root.

    `seed` fixes text and cross links, `latency` is the longest delay of an answer (each page has its own), and `abroad`
    are URLs of other sites, one of which stands on every third page.
    """
    chance = random.Random(seed)
    site = Site()
    for number in range(pages):
        delay = chance.random() * latency
        prose = _prose(chance, size)
        foreign = [abroad[number % len(abroad)]] if abroad and number % 3 == 0 else []
        answer = _file(number, prose) if number and number % 11 == 0 else _page(number, pages, chance, prose, foreign)
        site.pages[page_target(number)] = replace(validated(answer), delay=delay)
    return site


def _file(number: int, prose: str) -> Answer:
    return text(f"File {number}\n{prose}\n")


def _page(number: int, pages: int, chance: random.Random, prose: str, foreign: list[str]) -> Answer:
    links = [page_target(child) for child in _children(number, pages)]
    links += [page_target(chance.randrange(pages)) for _ in range(3)]
    links += ["/", "#top", page_target(number), *foreign]
    return html(f"Page {number}", links, extra=f"<p>{prose}</p>\n")


def _children(number: int, pages: int) -> list[int]:
    """A tree with three branches, in which a page adopts the children of the text file after it."""
    parents = [number] if (number + 1) % 11 else [number, number + 1]
    return [child for parent in parents for child in range(3 * parent + 1, 3 * parent + 4) if child < pages]


def _prose(chance: random.Random, size: int) -> str:
    words: list[str] = []
    length = 0
    while length < size:
        word = chance.choice(_WORDS)
        words.append(word)
        length += len(word) + 1
    return " ".join(words) + f" {chance.getrandbits(64):016x}"
