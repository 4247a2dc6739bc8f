"""The ways of finding the nearest machine that `parcahyd lab locate` compares, all with the same three methods.

`Location` asks the strategy of a real cluster, `parcahyd.partition.by_location`. The others are written for the lab alone: the
paper's six steps, and rivals that take the same evidence in simpler ways.

Tested in tests/lab/test_locate.py.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import ClusterNode, ClusterView, Observation, Observed, Routing, Seen, Undecided
from parcahyd.lab.six_steps import SixSteps
from parcahyd.partition.by_location import ByLocation
from parcahyd.partition.locations.hierarchy import NOBODY, Hierarchy
from parcahyd.partition.locations.networks import network_of

__all__ = ["Choice", "Location", "Method", "NearestLandmark", "PaperSteps", "RandomChoice", "Ranking"]

Probe = Callable[[int], float]
"""Measures the seconds from a crawler to the site that is asked about."""


class Choice(NamedTuple):
    """A decision."""

    crawler: int
    step: str
    """What decided."""


class Method(Protocol):
    """Finds the nearest of some crawlers, which are numbered from 0."""

    def begin(self, sites: Sequence[tuple[str, Sequence[float]]]) -> None:
        """Takes in the sites that every crawler has measured: the address, and the seconds from each."""

    def choose(self, address: str, probe: Probe) -> Choice:
        """The crawler of a site. Each call of `probe` is a request to it."""

    def learn(self, address: str, crawler: int) -> None:
        """Takes in what was chosen."""


class _Untaught:
    """A method that needs no example."""

    def begin(self, sites: Sequence[tuple[str, Sequence[float]]]) -> None:
        pass

    def learn(self, address: str, crawler: int) -> None:
        pass


class RandomChoice(_Untaught):
    """Any of them."""

    def __init__(self, crawlers: int, seed: int) -> None:
        self._crawlers = crawlers
        self._chance = random.Random(seed)

    def choose(self, address: str, probe: Probe) -> Choice:  # noqa: ARG002 - the signature of all
        return Choice(self._chance.randrange(self._crawlers), "chance")


class PaperSteps:
    """Paper 002's procedure with its threshold, in seconds."""

    def __init__(self, hierarchy: Hierarchy, threshold: float) -> None:
        self._steps = SixSteps(hierarchy, threshold)

    def begin(self, sites: Sequence[tuple[str, Sequence[float]]]) -> None:
        for address, times in sites:
            self._steps.delegate(address, _nearest(times))

    def choose(self, address: str, probe: Probe) -> Choice:
        found = self._steps.choose(address, probe)
        return Choice(found.crawler, found.step.value)

    def learn(self, address: str, crawler: int) -> None:
        self._steps.delegate(address, crawler)


class Ranking:
    """Crawlers ranked by how many networks of the same range, holder, block and country they are nearest to.

    Each network votes for its crawler, the more the closer it is related. The first ones in rank that have `share` of the votes
    together are probed, and the nearest of those is taken; if the first one has that share alone, it is taken without a probe.
    """

    _VOTES = (100.0, 30.0, 10.0, 3.0, 0.03)
    """Of the same range, holder, block of 65,536 addresses, country, and of any network."""

    def __init__(self, hierarchy: Hierarchy, crawlers: int, share: float = 0.9) -> None:
        self._hierarchy = hierarchy
        self._crawlers = crawlers
        self._share = share
        self._votes: tuple[dict[object, Counter[int]], ...] = tuple({} for _ in self._VOTES)

    def begin(self, sites: Sequence[tuple[str, Sequence[float]]]) -> None:
        for address, times in sites:
            self.learn(address, _nearest(times))

    def choose(self, address: str, probe: Probe) -> Choice:
        scores = dict.fromkeys(range(self._crawlers), 0.0)
        for votes, of_kin, kin in zip(self._VOTES, self._votes, self._kin(address), strict=True):
            for crawler, count in of_kin.get(kin, Counter[int]()).items():
                scores[crawler] += votes * count
        ranked = sorted(scores, key=lambda crawler: (-scores[crawler], crawler))
        left = sum(scores.values()) * self._share
        first = list[int]()
        while left > 0 and len(first) < len(ranked):
            first.append(ranked[len(first)])
            left -= scores[first[-1]]
        if len(first) < 2:
            return Choice(ranked[0], "0 probes")
        times = [(probe(crawler), crawler) for crawler in first]
        return Choice(min(times)[1], f"{len(first)} probes")

    def learn(self, address: str, crawler: int) -> None:
        for of_kin, kin in zip(self._votes, self._kin(address), strict=True):
            if kin is not None:
                of_kin.setdefault(kin, Counter())[crawler] += 1

    def _kin(self, address: str) -> tuple[object, ...]:
        network = network_of(address) or 0
        number = self._hierarchy.ipv4.find(network << 8)
        place = self._hierarchy.place(network)
        holder = None if place is None or place.holder == NOBODY else place.holder
        return number, holder, network >> 8, None if place is None else place.country, "any"


class NearestLandmark:
    """Some fixed crawlers measure every site; it goes where the known site went whose times from them are the most alike."""

    def __init__(self, crawlers: int, probes: int = 3) -> None:
        self._crawlers = crawlers
        self._probes = probes
        self._probers: list[int] = []
        self._known: list[tuple[tuple[float, ...], int]] = []

    def begin(self, sites: Sequence[tuple[str, Sequence[float]]]) -> None:
        columns = [[times[crawler] for _, times in sites] for crawler in range(self._crawlers)]
        self._probers = [max(range(self._crawlers), key=lambda crawler: _unlikeness(columns[crawler], [0.0] * len(sites)))]
        while len(self._probers) < self._probes:
            self._probers.append(max(range(self._crawlers), key=lambda one: self._apart(columns, one)))
        self._known = [(tuple(times[crawler] for crawler in self._probers), _nearest(times)) for _, times in sites]

    def _apart(self, columns: Sequence[Sequence[float]], crawler: int) -> float:
        return min(_unlikeness(columns[crawler], columns[prober]) for prober in self._probers)

    def choose(self, address: str, probe: Probe) -> Choice:  # noqa: ARG002 - the signature of all
        times = [probe(crawler) for crawler in self._probers]
        return Choice(min(self._known, key=lambda known: _unlikeness(known[0], times))[1], f"{self._probes} probes")

    def learn(self, address: str, crawler: int) -> None:
        pass


class Location:
    """The strategy "location", asked as a pipeline of a cluster asks it: one machine for each crawler."""

    def __init__(self, hierarchy: Hierarchy | None, crawlers: int, conf: WorkConf, teach_every: int = 0) -> None:
        """With `teach_every`, what the pipeline saw becomes part of a new routing after so many sites."""
        self._hierarchy = hierarchy
        self._conf = conf
        self._teach_every = teach_every
        self._asked = 0
        self._nodes = tuple(ClusterNode(f"machine-{number}", 1) for number in range(crawlers))
        self._strategy = self._made(Routing(crawlers, secret=b"lab"))
        wanted = self._plan(())
        self._partitions = [wanted.index(node.name) for node in self._nodes]
        self._crawler_of = {partition: crawler for crawler, partition in enumerate(self._partitions)}

    def _made(self, routing: Routing) -> ByLocation:
        return ByLocation(self._conf, routing, self._hierarchy)

    def _plan(self, shared: tuple[bytes, ...]) -> tuple[str | None, ...]:
        routing = self._strategy.routing
        plan = self._strategy.plan(ClusterView(routing, self._nodes, (None,) * routing.partitions, shared))
        state = routing.state if plan.state is None else plan.state
        self._strategy = self._made(Routing(routing.partitions, routing.version + 1, state, routing.secret))
        return plan.wanted

    def begin(self, sites: Sequence[tuple[str, Sequence[float]]]) -> None:
        for address, times in sites:
            self._strategy.observe(self._seen(address, crawler, seconds) for crawler, seconds in enumerate(times))
        self._plan((self._strategy.share(),))

    def _seen(self, address: str, crawler: int, seconds: float) -> Observation:
        return Observation(Observed.PROBE, address, seconds, str(self._partitions[crawler]))

    def choose(self, address: str, probe: Probe) -> Choice:
        probes = 0
        while True:
            found = self._strategy.home(Seen("www.site.example", address=address))
            if not isinstance(found, Undecided):
                return Choice(self._crawler_of[found or 0], f"{probes} probes" if probes != 1 else "1 probe")
            probes += len(found.probe)
            crawlers = [self._crawler_of[partition] for partition in found.probe]
            self._strategy.observe([self._seen(address, crawler, probe(crawler)) for crawler in crawlers])

    def learn(self, address: str, crawler: int) -> None:  # noqa: ARG002 - what it learns, it was told by the probes
        self._asked += 1
        if self._teach_every and self._asked % self._teach_every == 0:
            self._plan((self._strategy.share(),))


def _nearest(times: Sequence[float]) -> int:
    return min(range(len(times)), key=times.__getitem__)


def _unlikeness(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(abs(here - there) for here, there in zip(one, other, strict=True))
