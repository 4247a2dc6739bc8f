"""The coarsened graph of a new expansion, estimated from figures that were counted by the former one (statements C20, C27).

Tested in tests/partition/superpages/test_figures.py.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeVar

from parcahyd.partition.superpages.creation import Divided, Known, create
from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.figures import MOST_SUPERPAGES, Figures
from parcahyd.partition.superpages.tokens import tokens_of

__all__ = ["DELTA", "Estimate", "Summed", "fitted", "summed", "work"]

DELTA = 20
"""Superpages for each part: one weighs about 1 / DELTA of a part at most (the paper's delta, "20 or more")."""
WAITING = 64
"""When superpages are divided, a URL that waits counts as so many that were visited: where much waits, they are finer."""
_LEAST_WAITING = 30
"""A superpage with fewer URLs that wait is not divided: the links of its pieces would be guesses."""
_MOST_DELTA = 1024
"""So many superpages at most, before intervals come on top."""
_End = TypeVar("_End", int, str)
_MOST_ENDS = 40
"""Links of a superpage that was divided into more pieces tell little about them, and are passed over."""


def work(met: int, fetched: int) -> int:
    """What superpages are divided by: URLs that wait, and a little of those that were visited."""
    return WAITING * max(0, met - fetched) + fetched


class Summed:
    """Figures of all pipelines in sums."""

    def __init__(self, pages: int, figures: Iterable[Figures]) -> None:
        self.met, self.fetched = [0] * pages, [0] * pages
        self.hot: Counter[str] = Counter()
        self.hot_fetched: Counter[str] = Counter()
        self.sample: list[tuple[int, str]] = []
        self.links: Counter[tuple[str, str]] = Counter()
        self.rates: list[tuple[str, int, int]] = []
        for one in figures:
            self._add(one)
        self.sample.sort()

    def work(self) -> list[int]:
        """By superpage."""
        return [work(met, fetched) for met, fetched in zip(self.met, self.fetched, strict=True)]

    def delta(self, parts: int) -> int:
        """What a superpage may weigh: the paper's delta = W / (k delta), as long as that is worth counting."""
        return max(_LEAST_WAITING * WAITING, sum(self.work()) // min(parts * DELTA, _MOST_DELTA))

    def _add(self, figures: Figures) -> None:
        for number, met, fetched in figures.pages:
            if 0 <= number < len(self.met):
                self.met[number] += met
                self.fetched[number] += fetched
        for prefix, met, fetched in figures.hot:
            self.hot[prefix] += met
            self.hot_fetched[prefix] += fetched
        for source, target, count in figures.links:
            self.links[source, target] += count
        self.sample += figures.cool
        self.rates += figures.rates


def summed(expansion: Expansion, kept: Figures, shared: Iterable[Figures], version: int) -> Summed:
    """What a plan kept, and what was counted since: figures of another version are in what was kept, or of no use."""
    return Summed(len(expansion), [kept, *(figures for figures in shared if figures.version == version)])


class Estimate:
    """The superpages of a new expansion, with what is known of each."""

    def __init__(self, old: Expansion, known: Summed, parts: int) -> None:
        self.known = known
        divided = self._divided(old, known.delta(parts))
        self.expansion, self.shares = divided.expansion, divided.shares
        self._of_old: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for page, share in enumerate(self.shares):
            self._of_old[f"#{share.old}"].append((page, max(1, share.weight)))
        self.work = [share.weight for share in self.shares]
        """As `work`, by superpage."""
        whole = [sys.maxsize] * len(self.shares)
        self.met = self._apportioned(known.met, known.hot, whole)
        """URLs that were met, by superpage."""
        self.fetched = self._apportioned(known.fetched, known.hot_fetched, self.met)
        """URLs that were visited, by superpage: no more than were met."""

    def _divided(self, old: Expansion, delta: int) -> Divided:
        hot = {prefix: work(met, self.known.hot_fetched[prefix]) for prefix, met in self.known.hot.items()}
        known = Known(self.known.work(), hot, [key for _, key in self.known.sample])
        while True:
            divided = create(old, known, delta)
            if len(divided.expansion) <= MOST_SUPERPAGES or len(divided.expansion) <= len(old):
                return divided
            delta *= 2

    def _apportioned(self, counted: Sequence[int], hot: Mapping[str, int], most: Sequence[int]) -> list[int]:
        """What was counted of the old superpages, on the new ones: as much together, each near what is known of its prefix."""
        pieces: dict[int, list[int]] = defaultdict(list)
        of_prefix: Counter[tuple[int, str]] = Counter()
        of_old: Counter[int] = Counter()
        for page, share in enumerate(self.shares):
            pieces[share.old].append(page)
            of_prefix[share.old, share.prefix] += share.weight
            of_old[share.old] += share.weight
        found = [0] * len(self.shares)
        for old, pages in pieces.items():
            guesses = []
            for share in [self.shares[page] for page in pages]:
                is_hot = share.prefix in hot
                whole = hot[share.prefix] if is_hot else counted[old]
                divider = of_prefix[old, share.prefix] if is_hot else of_old[old]
                guesses.append(whole * share.weight // divider if divider else 0)
            limits = [most[page] for page in pages]
            guesses = [min(guess, limit) for guess, limit in zip(guesses, limits, strict=True)]
            for page, number in zip(pages, fitted(guesses, limits, counted[old]), strict=True):
                found[page] = number
        return found

    def waiting(self) -> list[int]:
        """URLs to be visited, by superpage."""
        return [met - fetched for met, fetched in zip(self.met, self.fetched, strict=True)]

    def links(self) -> list[tuple[int, int, int]]:
        """From, to, how many. Links of what was divided are spread over its pieces by their weight.

        Links within a superpage are among them: they say how much its pieces belong together, once it is divided.
        """
        found: Counter[tuple[int, int]] = Counter()
        for (source, target), count in self._spread(self._pieces).items():
            found[source, target] += count
        return [(page, other, count) for (page, other), count in sorted(found.items())]

    def _spread(self, pieces_of: Callable[[str], list[tuple[_End, int]]]) -> Counter[tuple[_End, _End]]:
        """All links, where each end of a link is spread over its pieces."""
        pieces = cache(pieces_of)
        found: Counter[tuple[_End, _End]] = Counter()
        for (source, target), count in self.known.links.items():
            ones, others = pieces(source), pieces(target)
            if not 0 < len(ones) * len(others) <= _MOST_ENDS * _MOST_ENDS:
                continue
            if len(ones) == len(others) == 1:
                found[ones[0][0], others[0][0]] += count
                continue
            whole = sum(weight for _, weight in ones) * sum(weight for _, weight in others)
            for one, weight in ones:
                for other, other_weight in others:
                    share = count * weight * other_weight // whole
                    if share:
                        found[one, other] += share
        return found

    def _pieces(self, end: str) -> list[tuple[int, int]]:
        """The superpages that the end of a link is in, with their weights."""
        return self._of_old.get(end, []) if end[:1] == "#" else self._below(end)

    def _below(self, prefix: str) -> list[tuple[int, int]]:
        """The superpages that a prefix lies in, or that lie in it."""
        tokens = tokens_of(prefix)
        branch = self.expansion.root
        for token in tokens:
            child = branch.children.get(token)
            if child is None:
                page = self.expansion.find(tokens)
                return [(page, max(1, self.met[page]))]
            branch = child
        found: list[int] = []
        waiting = [branch]
        while waiting and len(found) <= _MOST_ENDS:
            branch = waiting.pop()
            found += branch.pages
            waiting += [branch.children[token] for token in sorted(branch.children)]
        return [(page, max(1, self.met[page])) for page in found]

    def figures(self, version: int) -> Figures:
        """What the next plan needs to know of these superpages."""
        hot = [(prefix, count, count) for prefix, count in self.known.hot_fetched.items() if count and self._is_below(prefix)]
        links = [(source, target, count) for (source, target), count in self._spread(self._finest).items()]
        # URLs that wait are told again, and are counted by the new superpages then.
        pages = [(page, count, count) for page, count in enumerate(self.fetched) if count]
        return Figures(version, pages, hot, [], links, self.known.rates)

    def _finest(self, end: str) -> list[tuple[str, int]]:
        """A prefix says the same in every expansion, and more than a superpage that will be divided."""
        return [(f"#{page}", weight) for page, weight in self._of_old.get(end, [])] if end[:1] == "#" else [(end, 1)]

    def _is_below(self, prefix: str) -> bool:
        tokens = tokens_of(prefix)
        return self.expansion.place(tokens)[1] < len(tokens)


def fitted(guesses: Sequence[int], most: Sequence[int], total: int) -> list[int]:
    """Numbers near the guesses, none above its `most`, that sum to the total, or to all that there is room for."""
    missing = min(total, sum(most)) - sum(guesses)
    room = [high - guess for guess, high in zip(guesses, most, strict=True)] if missing > 0 else list(guesses)
    whole = sum(room)
    steps = [abs(missing) * one // whole if whole else 0 for one in room]
    rest = abs(missing) - sum(steps)
    for place, one in enumerate(room):
        more = min(rest, one - steps[place])
        steps[place] += more
        rest -= more
    return [guess + (step if missing > 0 else -step) for guess, step in zip(guesses, steps, strict=True)]
