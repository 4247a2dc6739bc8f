"""What one pipeline counts while it crawls: its own copy of the counters of the expanded tree (statements C25 to C27).

Besides the counters of the superpages, it looks ahead: it counts the prefixes below a superpage, hot ones exactly enough to
become superpages themselves, and keeps a random sample of visits, from which intervals are made. All tables are bounded.

Tested in tests/partition/superpages/test_figures.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from parcahyd.partition.space_saving import SpaceSaving
from parcahyd.partition.superpages.cool_sample import SAMPLE, CoolSample
from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.figures import Figures
from parcahyd.partition.superpages.tokens import key_of, token_path

__all__ = ["Counters"]

_LOOK_AHEAD = 6
"""So many tokens below a superpage are counted: the next plan can go so much deeper."""
_HOT = 8192
_LINKS = 16384
_RATES = 512
_DIVIDER = 2048
"""A prefix stands for itself as an end of links once it has more than one in so many of all visits."""
_LEAST_VISITS = 8
_MOST = 1 << 40


class Counters:
    """Of one pipeline, for one version of the routing."""

    def __init__(self, expansion: Expansion, secret: bytes) -> None:
        self._expansion = expansion
        self._met = [0] * len(expansion)
        self._fetched = [0] * len(expansion)
        self._visits = 0
        self._hot = SpaceSaving(_HOT)
        self._hot_fetched = SpaceSaving(_HOT)
        self._cool = CoolSample(SAMPLE, secret)
        self._links = SpaceSaving(_LINKS)
        self._rates: dict[str, tuple[int, int]] = {}

    def visit(self, subject: str, value: float) -> None:
        """So many URLs with this path or prefix were met: they are visited, or are to be visited."""
        count, tokens = _whole(value), _tokens(subject)
        if not count:
            return
        number, depth = self._expansion.place(tokens)
        self._met[number] += count
        self._visits += count
        for prefix in _prefixes(tokens, depth, count):
            self._hot.add(prefix, count)
        self._cool.add(key_of(tokens[: depth + _LOOK_AHEAD]), count)

    def fetch(self, subject: str, value: float) -> None:
        """So many of the URLs that were met have been asked for."""
        count, tokens = _whole(value), _tokens(subject)
        if not count:
            return
        number, depth = self._expansion.place(tokens)
        self._fetched[number] += count
        for prefix in _prefixes(tokens, depth, count):
            self._hot_fetched.add(prefix, count)

    def link(self, source: str, target: str, value: float) -> None:
        """So many links lead from the one to the other: a super-hyperlink, as fine as the prefixes are known."""
        count = _whole(value)
        if count:
            self._links.add(f"{self._end(_tokens(source))}\n{self._end(_tokens(target))}", count)

    def rate(self, subject: str, value: float) -> None:
        """So many pages a second came from this host."""
        host = key_of(_tokens(subject.partition("/")[0] + "/")[:-1])
        thousandths = _whole(value * 1000)
        if thousandths and (host in self._rates or len(self._rates) < _RATES):
            total, count = self._rates.get(host, (0, 0))
            self._rates[host] = total + thousandths, count + 1

    def figures(self, version: int) -> Figures:
        """All of it."""
        pages = [
            (number, met, fetched)
            for number, (met, fetched) in enumerate(zip(self._met, self._fetched, strict=True))
            if met or fetched
        ]
        hot = [(one.name, one.least, self._hot_fetched.least(one.name)) for one in self._hot if one.least > 1]
        links = [(*_ends(one.name), one.least) for one in self._links]
        rates = [(host, total, count) for host, (total, count) in self._rates.items()]
        return Figures(version, pages, hot, self._cool.drawn(), links, rates)

    def _end(self, tokens: Sequence[str]) -> str:
        """How an end of links is named: by the longest prefix that is known, or by the superpage's number."""
        if tokens[-1] == "/":
            # A folder, or a host: all that lies below.
            tokens = tokens[:-1]
            if self._expansion.place(tokens)[1] == len(tokens):
                return key_of(tokens)
            tokens = (*tokens, "")
        number, depth = self._expansion.place(tokens)
        enough = max(_LEAST_VISITS, self._visits // _DIVIDER)
        for prefix in reversed(_prefixes(tokens, depth, 1)):
            if self._hot.least(prefix) >= enough:
                return prefix
        return f"#{number}"


def _tokens(subject: str) -> tuple[str, ...]:
    host, slash, path = subject.partition("/")
    return token_path(host, slash + path)


def _whole(value: float) -> int:
    """A count that is not a number, or none, is 0."""
    return min(int(value), _MOST) if 0 < value < float("inf") else 0


def _prefixes(tokens: Sequence[str], depth: int, count: int) -> list[str]:
    """The prefixes below a superpage at this depth, the shortest one first. A single URL is no prefix of others."""
    longest = min(depth + _LOOK_AHEAD, len(tokens) - (count == 1))
    found: list[str] = []
    prefix = key_of(tokens[:depth])
    for token in tokens[depth:longest]:
        # As `key_of` puts them together, a token at a time.
        prefix += token if token[:1] in ("/", "?") or not prefix else f",{token}"
        found.append(prefix)
    return found


def _ends(pair: str) -> tuple[str, str]:
    source, _, target = pair.partition("\n")
    return source, target
