"""The ways of dividing sites among agents that `parcahyd lab balance` compares: how each divides and hands out a draw.

`dynamic_size` and `hash` are the crawler's own classes. Paper 001 names four ways; bounded-load hash (Mirrokni, Thorup and
Zadimoghaddam, "Consistent hashing with bounded loads", 2018) is what others use where a hash balances too little.

Tested in tests/lab/test_balance.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from random import Random

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import Routing, Seen
from parcahyd.lab.simulated_agents import Giver, Site
from parcahyd.lab.site_sizes import Draw
from parcahyd.partition.by_dynamic_size import ByDynamicSize, parts
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.consistent_hash import attraction

__all__ = [
    "BOUNDED_HASH",
    "BOUNDED_SPLIT",
    "DYNAMIC_RANDOM",
    "DYNAMIC_SIZE",
    "HASH",
    "SPLIT",
    "STATIC_RANDOM",
    "STATIC_SIZE",
    "STATIC_SPLIT",
    "UNEVEN_SPLIT",
    "Method",
]

_BOUND = 1.1
"""With bounded-load hash, an agent may have so many times the mean."""
_UNEVEN = (0.5, 1.5)
"""Of the mean size of its host's parts, a part has something between these."""


class Method(msgspec.Struct, frozen=True):
    """One way."""

    name: str
    whose: str
    divide: Callable[[Draw, int], tuple[list[Site], Giver]]
    """For a draw and a number of agents: the sites, and who hands them out."""
    keeps_delay: bool = True
    """A host is at one agent at a time. Where it is not, the time that a crawl takes says nothing."""


class _Homes:
    """A static division: each site has its agent from the beginning."""

    def __init__(self, homes: Mapping[str, int]) -> None:
        self._homes = homes

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:
        return tuple([seen.host for seen in waiting if self._homes[seen.host] == partition][:room])


def _whole(draw: Draw, *, known: bool = True) -> list[Site]:
    return [Site(name, draw.planned[name] if known else None, (pages,)) for name, pages in draw.truth.items()]


def _static_random(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    return _whole(draw), _Homes({name: number % agents for number, name in enumerate(draw.truth)})


def _static_size(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    """The largest first, each to the agent that has fewest pages so far."""
    load = [0] * agents
    homes: dict[str, int] = {}
    for name, pages in sorted(draw.planned.items(), key=lambda item: -(item[1] or 0)):
        homes[name] = load.index(min(load))
        load[homes[name]] += pages or 0
    return _whole(draw), _Homes(homes)


def _hash(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    strategy = ByHash(WorkConf(), Routing(agents, secret=draw.name.encode()))
    homes = {name: strategy.home(Seen(name)) for name in draw.truth}
    return _whole(draw), _Homes({name: home for name, home in homes.items() if isinstance(home, int)})


def _bounded_hash(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    """Each site goes where its hash draws it most of all agents that are not full; where all are, to the emptiest."""
    full = _BOUND * sum(pages or 0 for pages in draw.planned.values()) / agents
    load = [0] * agents
    homes: dict[str, int] = {}
    for name, pages in draw.planned.items():
        room = [number for number in range(agents) if load[number] + (pages or 0) <= full] or [load.index(min(load))]
        homes[name] = max(room, key=lambda number: attraction(f"{draw.name} {number}", name, 1))
        load[homes[name]] += pages or 0
    return _whole(draw), _Homes(homes)


def _strategy(agents: int) -> Giver:
    return ByDynamicSize(WorkConf(), Routing(agents))


def _dynamic_random(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    return _whole(draw, known=False), _strategy(agents)


def _dynamic_size(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    return _whole(draw), _strategy(agents)


def _split(draw: Draw, agents: int, uneven: tuple[float, float] = (1, 1)) -> tuple[list[Site], Giver]:
    return [Site(name, draw.planned[name], pages) for name, pages in _in_parts(draw, agents, uneven).items()], _strategy(agents)


def _uneven_split(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    return _split(draw, agents, _UNEVEN)


def _static_split(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    return _static_size(_parts_as_sites(draw, agents), agents)


def _bounded_split(draw: Draw, agents: int) -> tuple[list[Site], Giver]:
    return _bounded_hash(_parts_as_sites(draw, agents), agents)


def _parts_as_sites(draw: Draw, agents: int) -> Draw:
    planned: dict[str, int | None] = {}
    truth: dict[str, int] = {}
    for name, found in _in_parts(draw, agents).items():
        size = draw.planned[name]
        planned |= {f"{name}/{number}": None if size is None else size // len(found) for number in range(len(found))}
        truth |= {f"{name}/{number}": pages for number, pages in enumerate(found)}
    return Draw(draw.name, planned, truth)


def _in_parts(draw: Draw, agents: int, uneven: tuple[float, float] = (1, 1)) -> dict[str, tuple[int, ...]]:
    """The pages of each part. Parts are made by what is planned; what a site has in truth is in them, equally or not."""
    chance = Random(f"parts {draw.name}")
    numbers = parts(draw.planned, agents)
    return {name: _divided(draw.truth[name], [chance.uniform(*uneven) for _ in range(numbers[name])]) for name in draw.truth}


def _divided(pages: int, weights: Sequence[float]) -> tuple[int, ...]:
    bounds = [round(pages * part / sum(weights)) for part in accumulate(weights, initial=0.0)]
    return tuple(after - before for before, after in pairwise(bounds) if after > before)


STATIC_RANDOM = Method("Static-Random", "paper", _static_random)
STATIC_SIZE = Method("Static-Size", "paper", _static_size)
DYNAMIC_RANDOM = Method("Dynamic-Random", "paper", _dynamic_random)
DYNAMIC_SIZE = Method("Dynamic-Size: dynamic_size", "ours", _dynamic_size)
SPLIT = Method("dynamic_size, split", "ours", _split)
UNEVEN_SPLIT = Method("dynamic_size, split unevenly", "ours", _uneven_split)
HASH = Method("hash of the host", "ours", _hash)
STATIC_SPLIT = Method("Static-Size of the same parts", "rival", _static_split, keeps_delay=False)
BOUNDED_SPLIT = Method("bounded-load hash of the same parts", "rival", _bounded_split, keeps_delay=False)
BOUNDED_HASH = Method(f"bounded-load hash, {_BOUND:g} times the mean", "rival", _bounded_hash)
