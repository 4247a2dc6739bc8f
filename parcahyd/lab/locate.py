"""How often, and after how many probes, is the nearest machine found? The experiment of paper 002 on recorded round trips.

As in the paper (statement I11), some crawlers are drawn, the first sites are measured by all of them, and each method then
finds the crawler of every later site. This is done for many draws of crawlers.

Tested in tests/lab/test_locate.py.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.lab.latencies import Site, World
from parcahyd.lab.locate_methods import Method

__all__ = ["Experiment", "Make", "Outcome", "Split", "evaluate", "known_cities", "unknown_cities"]

_LAST = 50
"""Sites at the end of a draw whose probes are counted apart, as the paper does."""


class Experiment(msgspec.Struct, frozen=True):
    """What all tables have in common."""

    world: World
    command: str
    seed: int
    draws: int
    crawlers: int
    first: int
    """So many of the sites initialise."""


class Split(msgspec.Struct, frozen=True):
    """One draw: the crawlers, the sites that all of them measured, and those that are asked about."""

    number: int
    crawlers: tuple[int, ...]
    known: tuple[Site, ...]
    asked: tuple[Site, ...]


class Outcome(msgspec.Struct):
    """What became of one method; lists have a figure for each draw."""

    optimal: list[float] = []
    probes: list[float] = []
    last_probes: list[float] = []
    losses: list[float] = []
    """Seconds by which a wrong crawler was farther than the nearest, of all draws."""
    steps: Counter[str] = msgspec.field(default_factory=Counter)
    """Sites by what decided."""
    optimal_steps: Counter[str] = msgspec.field(default_factory=Counter)
    """Of these, the sites whose nearest crawler was found."""

    @property
    def loss(self) -> float:
        """Of a wrong choice, in the mean."""
        return statistics.fmean(self.losses) if self.losses else 0.0


Make = Callable[[Split], Method]
"""A method is made anew for each draw."""


def known_cities(experiment: Experiment) -> Iterable[Split]:
    """The first sites initialise, the others are asked about; most of their cities were among the first."""
    first = set(experiment.world.sites[: experiment.first])
    for number, _, crawlers, sites in _draws(experiment):
        yield Split(
            number, crawlers, tuple(one for one in sites if one in first), tuple(one for one in sites if one not in first)
        )


def unknown_cities(experiment: Experiment) -> Iterable[Split]:
    """As many sites are asked about, and none that initialises is in one of their cities."""
    asked = len(experiment.world.sites) - experiment.first
    for number, chance, crawlers, sites in _draws(experiment):
        cities = sorted({site.city for site in sites})
        chance.shuffle(cities)
        size, held_out = Counter(site.city for site in sites), set[int]()
        while cities and sum(size[city] for city in held_out) < asked:
            held_out.add(cities.pop())
        known = tuple(site for site in sites if site.city not in held_out)
        yield Split(number, crawlers, known, tuple(site for site in sites if site.city in held_out))


def _draws(experiment: Experiment) -> Iterable[tuple[int, random.Random, tuple[int, ...], list[Site]]]:
    """Crawlers with the sites that were measured from all of them."""
    world = experiment.world
    if experiment.crawlers > len(world.machines):
        raise UserError(
            f"there are {len(world.machines)} places for {experiment.crawlers} crawlers", "give a smaller --crawlers"
        )
    for number in range(experiment.draws):
        chance = random.Random(f"{experiment.seed} {number}")
        crawlers = tuple(chance.sample(world.machines, experiment.crawlers))
        sites = [one for one in world.sites if all((crawler, one.city) in world.round_trips for crawler in crawlers)]
        yield number, chance, crawlers, sites


def evaluate(
    experiment: Experiment, splits: Iterable[Split], make: Make, *, learns: bool = True, jitter: bool = False
) -> Outcome:
    """Tries a method on every split. With `jitter`, no probe brings the recorded mean, but a time that is drawn around it."""
    outcome = Outcome()
    for split in splits:
        chance = random.Random(f"{experiment.seed} {split.number} jitter")
        means = [_means(experiment.world, split, site) for site in split.asked]
        method = make(split)
        method.begin([(site.address, _times(experiment.world, split, site, chance, jitter)) for site in split.known])
        used = list[int]()
        right = 0
        for site, truth in zip(split.asked, means, strict=True):
            counted = _Counted(_times(experiment.world, split, site, chance, jitter))
            choice = method.choose(site.address, counted.probe)
            if learns:
                method.learn(site.address, choice.crawler)
            used.append(counted.probes)
            loss = truth[choice.crawler] - min(truth)
            outcome.steps[choice.step] += 1
            right += loss == 0
            outcome.optimal_steps[choice.step] += loss == 0
            if loss > 0:
                outcome.losses.append(loss)
        outcome.optimal.append(right / max(1, len(used)))
        outcome.probes.append(_mean(used))
        outcome.last_probes.append(_mean(used[-_LAST:]))
    return outcome


class _Counted:
    """Answers probes and counts them."""

    def __init__(self, times: Sequence[float]) -> None:
        self._times = times
        self.probes = 0

    def probe(self, crawler: int) -> float:
        self.probes += 1
        return self._times[crawler]


def _means(world: World, split: Split, site: Site) -> list[float]:
    return [world.round_trips[crawler, site.city].mean for crawler in split.crawlers]


def _times(world: World, split: Split, site: Site, chance: random.Random, jitter: bool) -> list[float]:
    """What probes of a site bring: the recorded means, or times of the same mean that begin at the recorded least one."""
    if not jitter:
        return _means(world, split, site)
    trips = [world.round_trips[crawler, site.city] for crawler in split.crawlers]
    return [trip.least + chance.expovariate(1 / max(1e-6, trip.mean - trip.least)) for trip in trips]


def _mean(numbers: Sequence[int]) -> float:
    return statistics.fmean(numbers) if numbers else 0.0
