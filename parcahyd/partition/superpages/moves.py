"""Which sites a new layout moves (statement C24): hosts, and parts of hosts, whose owner is another than before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from parcahyd.core.partitions import SiteMove
from parcahyd.partition.superpages.layout import Layout
from parcahyd.partition.superpages.tokens import site_of, tokens_of

__all__ = ["moves"]


def moves(before: Layout, after: Layout, known: Iterable[str], home: Callable[[str], int]) -> tuple[SiteMove, ...]:
    """A move for each known host, and for each known path below it that goes elsewhere than what is above it.

    What lies in an interval has no name of its own: those of its tokens that are known are named. Others follow the layout.
    """
    found: list[SiteMove] = []
    now: dict[tuple[str, ...], int] = {}
    for tokens in _places(before, after, known):
        host = tokens[: _names(tokens)]
        base = home(site_of(host))
        old, new = (base if owner is None else owner for owner in (before.owner(tokens), after.owner(tokens)))
        above = next(
            (now[tokens[:length]] for length in range(len(tokens) - 1, len(host) - 1, -1) if tokens[:length] in now), old
        )
        if new != above:
            found.append(SiteMove(site_of(tokens), new))
            now[tokens] = new
    return tuple(found)


def _names(tokens: tuple[str, ...]) -> int:
    return sum(token[:1] not in ("/", "?") for token in tokens)


def _places(before: Layout, after: Layout, known: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Hosts, and the beginnings of paths at which one of the layouts divides a host; what is above comes first."""
    places: set[tuple[str, ...]] = set()
    hosts: set[tuple[str, ...]] = set()
    for key in known:
        tokens = tokens_of(key)
        names = _names(tokens)
        if names < len(tokens):
            hosts.add(tokens[:names])
        for layout in (before, after):
            depth = layout.expansion.place(tokens)[1] + 1
            if names < depth <= len(tokens) and tokens[depth - 1] != "/" and tokens[depth - 1][:1] != "?":
                places.add(tokens[:depth])
    for layout in (before, after):
        for path, _ in layout.expansion.branches():
            if path and _names(path) < len(path) and path[-1] != "/" and path[-1][:1] != "?":
                places.add(path)
                hosts.add(path[: _names(path)])
    yield from sorted(hosts | places)
