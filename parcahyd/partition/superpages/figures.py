"""What is known of the superpages, as it travels from the pipelines to the plan and from a plan to the next (C25 to C27, C32).

Figures of several pipelines are laid side by side and cut by an order that looks at each entry by itself. So it does not matter
who merges whose, and in which order; only who reads them sums up.
"""

# Annotations are not postponed here: msgspec would compile each annotation of a record from its text.

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from parcahyd.partition.superpages.cool_sample import Drawn

__all__ = ["MOST_SUPERPAGES", "SHARED", "Figures", "Room", "merged", "read", "renumbered", "written"]

_Entry = TypeVar("_Entry")


class Room(NamedTuple):
    """How many KiB there are for what."""

    hot: int
    cool: int
    links: int
    rates: int


MOST_SUPERPAGES = 2048
"""With three numbers each, their figures are at most 48 KiB."""
SHARED = Room(hot=352, cool=176, links=384, rates=48)
"""With the figures of superpages, less than MAX_SHARED."""
_HIGHEST = (1 << 53) - 1


class Figures(msgspec.Struct, frozen=True, array_like=True):
    """All figures are of one version of the routing: superpages are numbered by its expansion."""

    version: int
    pages: list[tuple[int, int, int]] = []
    """Superpage, URLs met, URLs asked for: what was met is visited or to be visited."""
    hot: list[tuple[str, int, int]] = []
    """Prefix below a superpage, URLs met, URLs asked for."""
    cool: list[Drawn] = []
    """The sample of visits."""
    links: list[tuple[str, str, int]] = []
    """From, to, how many: a prefix, or # and the number of a superpage."""
    rates: list[tuple[str, int, int]] = []
    """Host, thousandths of pages a second, summed, and how many rates that is the sum of."""

    def __bool__(self) -> bool:
        return bool(self.pages or self.hot or self.cool or self.links or self.rates)


def merged(several: Iterable[Figures], room: Room = SHARED) -> Figures:
    """Side by side, cut to what may be shared. Figures of an older version than the newest count no more."""
    found = [figures for figures in several if figures]
    version = max((figures.version for figures in found), default=0)
    found = [figures for figures in found if figures.version == version]
    return Figures(
        version,
        _summed_pages(found),
        _cut((entry for figures in found for entry in figures.hot), room.hot, lambda entry: (-entry[1], entry)),
        _cut((entry for figures in found for entry in figures.cool), room.cool, lambda entry: entry),
        _cut((entry for figures in found for entry in figures.links), room.links, lambda entry: (-entry[2], entry)),
        _cut((entry for figures in found for entry in figures.rates), room.rates, lambda entry: entry),
    )


def renumbered(figures: Figures, into: Sequence[int]) -> Figures:
    """The figures of superpages that have other numbers now, several of them perhaps the same."""
    pages = _summed_pages(
        [msgspec.structs.replace(figures, pages=[(into[page], one, other) for page, one, other in figures.pages])]
    )
    links: Counter[tuple[str, str]] = Counter()
    for source, target, count in figures.links:
        links[_renamed(source, into), _renamed(target, into)] += count
    joined = [(source, target, count) for (source, target), count in links.items()]
    return msgspec.structs.replace(figures, pages=pages, links=joined)


def _renamed(end: str, into: Sequence[int]) -> str:
    return f"#{into[int(end[1:])]}" if end[:1] == "#" else end


def _summed_pages(found: Iterable[Figures]) -> list[tuple[int, int, int]]:
    met: Counter[int] = Counter()
    fetched: Counter[int] = Counter()
    for figures in found:
        for number, one, other in figures.pages:
            if 0 <= number < MOST_SUPERPAGES:
                met[number] += one
                fetched[number] += other
    return [(number, min(met[number], _HIGHEST), min(fetched[number], _HIGHEST)) for number in sorted(met)]


def _cut(entries: Iterable[_Entry], most: int, order: Callable[[_Entry], Any]) -> list[_Entry]:
    """The first entries in this order that have no more bytes together. What is cut from a part is cut from the whole, too."""
    kept: list[_Entry] = []
    most *= 1024
    for entry in sorted(entries, key=order):
        most -= len(msgspec.msgpack.encode(entry))
        if most < 0:
            break
        kept.append(entry)
    return kept


_DECODER = msgspec.msgpack.Decoder(Figures)


def written(figures: Figures) -> bytes:
    """As bytes; none where there are no figures."""
    return msgspec.msgpack.encode(figures) if figures else b""


def read(shared: bytes) -> Figures:
    """Figures from bytes. ValueError: `written` never gave these bytes."""
    if not shared:
        return Figures(0)
    try:
        return _DECODER.decode(shared)
    except msgspec.DecodeError as error:
        raise ValueError(f"these bytes are no figures of superpages: {error}") from error
