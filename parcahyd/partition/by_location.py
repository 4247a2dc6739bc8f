"""By nearness: a host belongs to the machine that reaches its network in the shortest time, with few probes (paper 002)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from math import isnan

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import (
    ClusterView,
    JudgedPage,
    Neighbours,
    Observation,
    Observed,
    Plan,
    Routing,
    Seen,
    Undecided,
)
from parcahyd.partition.address_homes import home_at_address
from parcahyd.partition.consistent_hash import jump, number_of
from parcahyd.partition.locations.hierarchy import Hierarchy
from parcahyd.partition.locations.knowledge import MAX_LANDMARKS, MAX_OTHERS, Knowledge
from parcahyd.partition.locations.landmarks import Landmark, Landmarks
from parcahyd.partition.locations.measurements import MAX_CRAWLERS, Measurements
from parcahyd.partition.locations.networks import network_of
from parcahyd.partition.placement import placement

__all__ = ["LANDMARKS", "ByLocation"]

LANDMARKS = 256
"""As long as fewer networks are known that every machine has measured, a new network is measured by all. More of them would
spare few probes: see docs/lab/locate.md. There may be more all the same: each network that no probe explains becomes one."""
_NOWHERE = -1
"""The crawler of a partition that no machine runs, or one that is not measured from; and the network of such a machine."""
_REMEMBERED = 8192


class _State(msgspec.Struct, frozen=True, array_like=True):
    crawlers: list[tuple[int, int]]
    """Of each machine its number and its own network."""
    of_partitions: list[int]
    """For each partition the place of its machine in `crawlers`."""
    measured: bytes


_NO_STATE = _State([], [], b"")
_read_state = msgspec.msgpack.Decoder(_State).decode


class ByLocation:
    """The strategy "location". A machine that runs partitions is a crawler; a network is given to one as a whole.

    The partition that the hash of its name leads to maps a host. Then, as in the paper: a network that is a crawler's own is
    that crawler's at once (I5), and so is one that is known. Of another, the crawlers measure how near it is, one after the
    other, until the nearest is known well enough (`NearEnough`), which takes two probes in the mean. What their times are
    compared with are those of landmarks: networks that all crawlers have measured.

    Before the first plan nobody knows which machine runs what: until then, hosts stay where their name leads them.
    """

    one_home = True
    """Every host has one."""
    home_may_change = False
    """The partition that maps a host follows from its name; where it is to live is asked once more, with its address."""
    observes = frozenset({Observed.PROBE})
    """Probes."""

    def __init__(self, conf: WorkConf, routing: Routing, hierarchy: Hierarchy | None = None) -> None:
        self.routing = routing
        self._near_enough = conf.NearEnough
        self._hierarchy = hierarchy
        state = _read_state(routing.state) if routing.state else _NO_STATE
        self._crawlers = [number for number, _ in state.crawlers]
        self._place_of = {number: place for place, number in enumerate(self._crawlers)}
        self._own_networks = {network: place for place, (_, network) in enumerate(state.crawlers) if network != _NOWHERE}
        self._of_partitions = (state.of_partitions + [_NOWHERE] * routing.partitions)[: routing.partitions]
        self._members: dict[int, list[int]] = {}
        for partition, crawler in enumerate(self._of_partitions):
            self._members.setdefault(crawler, []).append(partition)
        self._known = Knowledge.decode(state.measured, routing.secret)
        """What the last plan knew."""
        self._seen = Measurements(routing.secret, MAX_OTHERS)
        """What this pipeline was told since."""
        self._new_landmarks = 0
        self._landmarks: Landmarks | None = None
        self._by_name = lru_cache(_REMEMBERED)(self._hashed)

    def _hashed(self, host: str) -> int:
        return jump(number_of(host, self.routing.secret), self.routing.partitions)

    def home(self, seen: Seen) -> int | Undecided | None:
        """Of a mapped host, a partition on the nearest machine, or who is to measure; else the partition of the name."""
        by_name = self._by_name(seen.host)
        if not seen.address:
            return by_name
        network, crawler = network_of(seen.address), self._of_partitions[by_name]
        if network is not None and crawler != _NOWHERE and len(self._crawlers) > 1:
            found = self._nearest(network)
            if isinstance(found, Undecided):
                return found
            crawler = found
        return self._home_at(crawler, by_name, seen)

    def _nearest(self, network: int) -> int | Undecided:
        """The crawler of a network, or the partitions that measure next."""
        if network in self._own_networks:
            return self._own_networks[network]
        measured = self._measured(network)
        if len(measured) < len(self._crawlers) and self._needs_landmarks():
            return self._probe(network, [place for place in range(len(self._crawlers)) if place not in measured])
        place = self._hierarchy.place(network) if self._hierarchy else None
        foreseen = self._compared().foresee(place, measured)
        if foreseen.excess <= self._near_enough or foreseen.next_probe is None:
            return foreseen.nearest
        return self._probe(network, [foreseen.next_probe])

    def _probe(self, network: int, crawlers: Iterable[int]) -> Undecided:
        """One partition of each crawler: the same one for all addresses of a network, which are asked in turns then."""
        return Undecided(tuple(self._drawn_member(crawler, str(network)) for crawler in crawlers))

    def _drawn_member(self, crawler: int, name: str) -> int:
        members = self._members[crawler]
        return members[jump(number_of(name, self.routing.secret), len(members))]

    def _home_at(self, crawler: int, by_name: int, seen: Seen) -> int:
        """A partition of this crawler: that of the name if it is one, and else one that is drawn; or that of the address."""
        # Another hash than that of the name, which has taken the hosts of this crawler's own partitions out of the draw.
        own = by_name if self._of_partitions[by_name] == crawler else self._drawn_member(crawler, f"{crawler} {seen.host}")
        if seen.neighbours is None:
            return own
        here = {one: hosts for one, hosts in seen.neighbours.at_address.items() if one in self._members[crawler]}
        return home_at_address(own, Neighbours(here, seen.neighbours.hosts), self.routing.partitions)

    # --- Landmarks ------------------------------------------------------------------------------------------------------

    def _measured(self, network: int) -> dict[int, float]:
        """Seconds by the crawlers that have measured a network."""
        times = {**self._known.times(network), **self._seen.times(network)}
        return {self._place_of[number]: time for number, time in times.items() if number in self._place_of}

    def _needs_landmarks(self) -> bool:
        """Whether there are too few. No pipeline makes more than its share of them before the next plan."""
        share = -(-LANDMARKS // self.routing.partitions)
        return self._new_landmarks < share and len(self._compared()) < LANDMARKS

    def _compared(self) -> Landmarks:
        """The landmarks, put together anew where one has changed."""
        if self._landmarks is None:
            complete = {one for known in (self._known.landmarks, self._seen) for one in known if self._is_complete(one)}
            chosen = nsmallest(MAX_LANDMARKS, complete, key=self._seen.drawn)
            self._landmarks = Landmarks(len(self._crawlers))
            for network in chosen:
                self._landmarks.add(self._landmark(network))
        return self._landmarks

    def _is_complete(self, network: int) -> bool:
        return len(self._measured(network)) == len(self._crawlers)

    def _landmark(self, network: int) -> Landmark:
        times = self._measured(network)
        place = self._hierarchy.place(network) if self._hierarchy else None
        return Landmark(tuple(times[crawler] for crawler in range(len(self._crawlers))), place)

    # --- What was measured ----------------------------------------------------------------------------------------------

    def observe(self, facts: Iterable[Observation]) -> None:
        """Takes in probes of partitions whose machine is known; others are passed over."""
        for fact in facts:
            network = network_of(fact.subject) if fact.what is Observed.PROBE else None
            crawler = self._crawler_of(fact.target)
            if network is None or crawler == _NOWHERE or fact.value < 0:
                continue
            was_complete = self._is_complete(network)
            self._seen.note(network, self._crawlers[crawler], fact.value)
            if isnan(fact.value):
                self._known.forget(network, self._crawlers[crawler])
            self._note_landmark(network, was_complete)

    def _note_landmark(self, network: int, was_complete: bool) -> None:
        is_complete = self._is_complete(network)
        self._new_landmarks += is_complete - was_complete
        if was_complete:
            self._landmarks = None
        elif is_complete and self._landmarks is not None and len(self._landmarks) < MAX_LANDMARKS:
            self._landmarks.add(self._landmark(network))

    def _crawler_of(self, partition: str) -> int:
        number = int(partition) if partition.isascii() and partition.isdigit() and len(partition) < 10 else -1
        return self._of_partitions[number] if 0 <= number < len(self._of_partitions) else _NOWHERE

    def share(self, others: Sequence[bytes] = ()) -> bytes:
        """The times of each network by each machine; of two times, the shorter one."""
        own = Knowledge(self.routing.secret)
        for network in self._seen:
            (own.landmarks if self._is_complete(network) else own.others).replace(self._seen, network)
        for other in others:
            own.merge(Knowledge.decode(other, self.routing.secret))
        return own.encode()

    def belongs(self, page: JudgedPage, here: int) -> int:  # noqa: ARG002 - the port's signature
        """Where it is: the content says nothing."""
        return here

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:  # noqa: ARG002
        """None: no host waits, since a host whose crawler is not known is measured."""
        return ()

    # --- Plans ----------------------------------------------------------------------------------------------------------

    def plan(self, view: ClusterView) -> Plan:
        """Nodes by capacity. The state has which machine runs which partition, and what all have measured."""
        wanted = placement(view)
        numbers = {name: number_of(name) for name in wanted if name is not None}
        names = sorted(numbers, key=lambda name: (numbers[name], name))[:MAX_CRAWLERS]
        addresses = {node.name: network_of(node.address) for node in view.nodes}
        places = {name: place for place, name in enumerate(names)}
        crawlers = [(numbers[name], _or_nowhere(addresses.get(name))) for name in names]
        of_partitions = [places.get(name, _NOWHERE) if name is not None else _NOWHERE for name in wanted]
        planned = msgspec.msgpack.encode(_State(crawlers, of_partitions, self._measured_by_all(view, numbers).encode()))
        return Plan(wanted, (), None if planned == view.routing.state else planned)

    def _measured_by_all(self, view: ClusterView, numbers: Mapping[str, int]) -> Knowledge:
        """What was known, with what the pipelines shared in its place."""
        secret = view.routing.secret
        known = Knowledge.decode(_read_state(view.routing.state).measured if view.routing.state else b"", secret)
        shared = Knowledge(secret)
        for one in view.shared:
            shared.merge(Knowledge.decode(one, secret))
        known.replace(shared)
        known.keep_crawlers(set(numbers.values()))
        return known


def _or_nowhere(network: int | None) -> int:
    return _NOWHERE if network is None else network
