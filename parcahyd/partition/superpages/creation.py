"""Superpage Creation (statement C33): divides superpages that are too heavy, by hot tokens and by samples of the others.

A token that had at least `delta` visits becomes a singleton, and is divided in turn as far as its own tokens are known. What
visits are left at a node are divided into intervals of about `delta`, whose limits are evenly spaced tokens of the sample.
Weights of new superpages are estimates from hot tokens and sample. They sum to the visits of the superpage that was divided.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from parcahyd.partition.superpages.expansion import Expansion, Superpage
from parcahyd.partition.superpages.tokens import key_of, order_of, tokens_of

__all__ = ["Divided", "Known", "Share", "create"]


class Known(NamedTuple):
    """What Creation goes by."""

    weights: Sequence[int]
    """Visits by superpage."""
    hot: Mapping[str, int]
    """Visits by prefix below a superpage."""
    sample: Sequence[str]
    """Keys of visits, drawn at random."""


class Share(NamedTuple):
    """A new superpage's share of an old one."""

    old: int
    weight: int
    """Of the old one's visits."""
    prefix: str
    """The key of the node that it belongs to."""


class Divided(NamedTuple):
    """A finer expansion, with what each of its superpages had in the former one."""

    expansion: Expansion
    shares: tuple[Share, ...]
    """By number of the new superpage."""


class _Creation:
    """One run over the frontier. `parts` are what old superpages were divided into, by node, in the order of its intervals."""

    def __init__(self, known: Known, delta: int) -> None:
        self._delta = delta
        self._children: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for key, visits in known.hot.items():
            *above, token = tokens_of(key) or ("",)
            if visits >= delta:
                self._children[key_of(above)].append((token, visits))
        self._sample: dict[str, Counter[str]] = defaultdict(Counter)
        for key in known.sample:
            tokens = tokens_of(key)
            for depth, token in enumerate(tokens):
                self._sample[key_of(tokens[:depth])][token] += 1
        self.parts: dict[tuple[str, ...], list[tuple[str, int, int]]] = defaultdict(list)

    def divide(self, page: Superpage, old: int, weight: int) -> None:
        """Divides what this superpage weighs."""
        key = page.key
        singles, left = self._singletons(page, key, weight)
        cool = {
            order_of(token): count
            for token, count in sorted(self._sample.get(key, {}).items())
            if token not in singles and _within(page, token)
        }
        starts = [page.start, *self._starts(cool, left)]
        weights = _apportioned(
            left, [sum(_between(cool, start, end)) for start, end in zip(starts, [*starts[1:], None], strict=True)]
        )
        self.parts[page.path] += [(start, old, share) for start, share in zip(starts, weights, strict=True)]
        for token, visits in singles.items():
            self.divide(Superpage((*page.path, token), "", None), old, visits)

    def _singletons(self, page: Superpage, key: str, weight: int) -> tuple[dict[str, int], int]:
        """The hot tokens with their visits, and what visits are left."""
        singles: dict[str, int] = {}
        for token, visits in sorted(self._children.get(key, ()), key=lambda child: (-child[1], child[0])):
            if _within(page, token) and min(visits, weight) >= self._delta:
                singles[token] = min(visits, weight)
                weight -= singles[token]
        return singles, weight

    def _starts(self, cool: Mapping[str, int], left: int) -> list[str]:
        """Evenly spaced tokens of the sample, as many as there are `delta` in the visits that are left."""
        wanted, total = left // self._delta, sum(cool.values())
        starts: list[str] = []
        passed = 0
        for token in sorted(cool):
            # A token that begins an interval has passed another wanted + 1st part of the sample.
            if passed * (wanted + 1) >= (len(starts) + 1) * total and len(starts) < wanted and token:
                starts.append(token)
            passed += cool[token]
        return starts


def _within(page: Superpage, token: str) -> bool:
    ordered = order_of(token)
    return page.start <= ordered and (page.end is None or ordered < page.end)


def _between(cool: Mapping[str, int], start: str, end: str | None) -> list[int]:
    return [count for token, count in cool.items() if start <= token and (end is None or token < end)]


def _apportioned(total: int, parts: Sequence[int]) -> list[int]:
    """Whole numbers that sum to the total, in the proportion of the parts; where there are none, the first has all."""
    whole = sum(parts)
    if not whole:
        return [total, *[0] * (len(parts) - 1)]
    shares = [total * part // whole for part in parts]
    shares[0] += total - sum(shares)
    return shares


def create(expansion: Expansion, known: Known, delta: int) -> Divided:
    """A new expansion in which no superpage is known to be larger than about `delta`. The given one stays as it is."""
    creation = _Creation(known, max(1, delta))
    for number, page in enumerate(expansion.superpages):
        creation.divide(page, number, known.weights[number])
    made = Expansion()
    for path, parts in creation.parts.items():
        made.divide(path, [start for start, _, _ in parts])
    made.number()
    shares = [
        Share(old, weight, key_of(path))
        for path, _ in made.branches()
        for _, old, weight in sorted(creation.parts.get(path, [("", 0, 0)]))
    ]
    return Divided(made, tuple(shares))
