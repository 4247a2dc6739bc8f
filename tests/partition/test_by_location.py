from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from ipaddress import IPv4Address, IPv6Address
from math import inf, nan

import pytest

from parcahyd.builtin_plugins import parcahyd_partitioners
from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import (
    MAX_SHARED,
    ClusterNode,
    ClusterView,
    JudgedPage,
    Neighbours,
    Observation,
    Observed,
    Partitioner,
    Routing,
    Seen,
    Undecided,
)
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.by_location import LANDMARKS, ByLocation
from parcahyd.partition.locations.delegated import Delegation
from parcahyd.partition.locations.hierarchy import Hierarchy, build_hierarchy
from parcahyd.partition.locations.hierarchy_file import encode_hierarchy
from parcahyd.partition.placement import placement
from parcahyd.testing import check_partitioner

CONF = WorkConf()
PLACES = {"west": 0, "middle": 50, "east": 100}
"""Machines along a line, in milliseconds."""
NODES = tuple(ClusterNode(name, 2, address=f"10.{number}.0.1") for number, name in enumerate(PLACES))
PARTITIONS = 6


def planned(*shared: bytes, before: Routing | None = None, nodes: tuple[ClusterNode, ...] = NODES) -> Routing:
    before = before or Routing(PARTITIONS, secret=b"drawn by chance")
    view = ClusterView(before, nodes, (None,) * before.partitions, shared)
    state = ByLocation(CONF, before).plan(view).state
    return Routing(before.partitions, before.version + 1, before.state if state is None else state, before.secret)


def runs_on(partition: int, nodes: tuple[ClusterNode, ...] = NODES) -> str:
    wanted = placement(ClusterView(Routing(PARTITIONS), nodes, (None,) * PARTITIONS))
    return wanted[partition] or ""


def seconds(name: str, place: float) -> float:
    return 0.001 + abs(PLACES[name] - place) / 1000


def probe(strategy: ByLocation, address: str, partitions: tuple[int, ...], place: float) -> None:
    strategy.observe(Observation(Observed.PROBE, address, seconds(runs_on(one), place), str(one)) for one in partitions)


def settle(strategy: ByLocation, address: str, place: float, host: str = "www.a.example") -> tuple[str, int]:
    """Asks and measures until a machine is found; its name, and how many probes it took."""
    probes = 0
    while isinstance(found := strategy.home(Seen(host, address=address)), Undecided):
        assert found.probe
        probes += len(found.probe)
        probe(strategy, address, found.probe, place)
    assert found is not None
    return runs_on(found), probes


def address_of(number: int, place: int) -> str:
    return f"{number // 256 + 20}.{number % 256}.{place}.9"


def taught(hierarchy: Hierarchy | None = None, landmarks: int = LANDMARKS) -> ByLocation:
    """A strategy with landmarks everywhere along the line."""
    teacher = ByLocation(CONF, planned())
    for number in range(landmarks):
        place = number * 7 % 101
        for partition in range(PARTITIONS):
            probe(teacher, address_of(number, place), (partition,), place)
    return ByLocation(CONF, planned(teacher.share(), before=teacher.routing), hierarchy)


def test_it_keeps_the_contract_of_all_strategies() -> None:
    assert isinstance(ByLocation(CONF, Routing(8)), Partitioner)
    check_partitioner(ByLocation, many=20_000)


def test_who_finds_a_host_posts_it_by_its_name_as_a_hash_does() -> None:
    routing = planned()
    by_name, by_hash = ByLocation(CONF, routing), ByHash(CONF, routing)
    hosts = [f"{number}.example" for number in range(1000)]
    assert [by_name.home(Seen(host)) for host in hosts] == [by_hash.home(Seen(host)) for host in hosts]


def test_before_the_first_plan_a_host_stays_where_its_name_leads() -> None:
    strategy = ByLocation(CONF, Routing(PARTITIONS))
    assert strategy.home(Seen("a.example", address="192.0.2.1")) == strategy.home(Seen("a.example"))
    strategy.observe([Observation(Observed.PROBE, "192.0.2.1", 0.1, "0")])
    assert strategy.share() == b""


def test_a_machine_alone_measures_nothing() -> None:
    strategy = ByLocation(CONF, planned(nodes=NODES[:1]))
    assert strategy.home(Seen("a.example", address="192.0.2.1")) == strategy.home(Seen("a.example"))


def test_the_network_of_a_machine_is_its_own_at_once() -> None:
    strategy = ByLocation(CONF, planned())
    for number, name in enumerate(PLACES):
        assert settle(strategy, f"10.{number}.0.77", 0) == (name, 0)


def test_the_first_networks_are_measured_by_every_machine_once() -> None:
    strategy = ByLocation(CONF, planned())
    asked = strategy.home(Seen("a.example", address="192.0.2.1"))
    assert isinstance(asked, Undecided)
    assert sorted(runs_on(partition) for partition in asked.probe) == sorted(PLACES)
    assert settle(strategy, "192.0.2.1", 90) == ("east", 3)
    assert settle(strategy, "192.0.2.200", 90) == ("east", 0)


def test_no_pipeline_measures_more_than_its_share_of_the_landmarks() -> None:
    strategy = ByLocation(CONF, planned())
    probes = [settle(strategy, address_of(number, 10), number % 101)[1] for number in range(LANDMARKS)]
    share = -(-LANDMARKS // PARTITIONS)
    assert probes[:share] == [3] * share
    assert sum(probes[share:]) < 2 * len(probes[share:])


def test_later_networks_take_few_probes_and_find_the_nearest() -> None:
    strategy = taught()
    found = [(settle(strategy, f"99.{place}.0.1", place), place) for place in range(101)]
    nearest = [name == min(PLACES, key=lambda one: seconds(one, place)) for (name, _), place in found]
    assert sum(nearest) >= 97
    assert sum(probes for (_, probes), _ in found) < 2 * len(found)


def test_a_network_of_the_same_holder_needs_no_probe() -> None:
    own = []
    for number in range(LANDMARKS):
        place = number * 7 % 101
        first = int(IPv4Address(address_of(number, place))) & ~255
        registry, country = ("arin", "ZA") if place // 10 == 9 else ("ripencc", "NL")
        own.append(Delegation(4, first, first + 255, registry, country, f"holder {place // 10}"))
    own.append(Delegation(4, int(IPv4Address("99.0.0.0")), int(IPv4Address("99.0.0.255")), "apnic", "JP", "holder 9"))
    own.append(Delegation(4, int(IPv4Address("99.0.1.0")), int(IPv4Address("99.0.2.255")), "arin", "ZA", "holder 9"))
    strategy = taught(build_hierarchy(own))
    assert settle(strategy, "99.0.2.1", 92) == ("east", 0)
    assert settle(strategy, "99.0.0.1", 92)[1] > 0


def test_newer_files_of_the_registries_lose_nothing_that_was_measured() -> None:
    one, other = (
        build_hierarchy([Delegation(4, 99 << 24, (99 << 24) + addresses, "arin", "US", holder)])
        for addresses, holder in ((255, "first"), (65_535, "second"))
    )
    before = taught(one)
    settle(before, "99.0.0.1", 100)
    after = ByLocation(CONF, planned(before.share(), before=before.routing), other)
    assert settle(after, "99.0.0.1", 0) == ("east", 0)


def test_ipv6_networks_are_measured_and_remembered_too() -> None:
    strategy = taught()
    name, probes = settle(strategy, "2001:db8:7::1", 3)
    assert (name, probes > 0) == ("west", True)
    assert settle(strategy, "2001:db8:7:9::2", 3) == ("west", 0)
    assert settle(strategy, "2001:db8:8::1", 3)[1] > 0


def test_what_has_expired_is_measured_anew() -> None:
    strategy = taught()
    _, probes = settle(strategy, "99.0.0.1", 40)
    assert probes > 0
    strategy.observe(Observation(Observed.PROBE, "99.0.0.1", nan, str(one)) for one in range(PARTITIONS))
    name, probes = settle(strategy, "99.0.0.1", 90)
    assert name == "east"
    assert probes > 0


def test_a_time_that_has_expired_is_replaced_for_all_by_the_next_one() -> None:
    routing = taught().routing
    for address in (address_of(0, 0), address_of(1, 7)):
        pipeline, other = ByLocation(CONF, routing), ByLocation(CONF, routing)
        pipeline.observe(Observation(Observed.PROBE, address, nan, str(one)) for one in range(PARTITIONS))
        assert settle(other, address, 100) == ("west", 0)
        name, probes = settle(pipeline, address, 100)
        assert (name, probes > 0) == ("east", True)
        probe(pipeline, address, tuple(range(PARTITIONS)), 100)
        routing = planned(pipeline.share(), before=routing)
        assert settle(ByLocation(CONF, routing), address, 100) == ("east", 0)
    seen_once = ByLocation(CONF, routing)
    probe(seen_once, address_of(2, 14), (0, 1, 2, 3), 98)
    newer = ByLocation(CONF, planned(seen_once.share(), before=routing))
    assert settle(newer, address_of(2, 14), 0)[1] == 0


def test_a_machine_that_reaches_nothing_gets_nothing() -> None:
    strategy = ByLocation(CONF, planned())
    everyone = strategy.home(Seen("a.example", address="192.0.2.1"))
    assert isinstance(everyone, Undecided)
    for partition in everyone.probe:
        value = inf if runs_on(partition) != "middle" else 0.9
        strategy.observe([Observation(Observed.PROBE, "192.0.2.1", value, str(partition))])
    home = strategy.home(Seen("a.example", address="192.0.2.1"))
    assert isinstance(home, int)
    assert runs_on(home) == "middle"


def test_a_user_chooses_between_probes_and_nearness() -> None:
    routing = taught().routing
    spent = {
        near_enough: sum(
            settle(ByLocation(WorkConf(NearEnough=near_enough), routing), f"99.{place}.0.1", place)[1]
            for place in range(0, 101, 5)
        )
        for near_enough in (0.0, 0.002, 0.02)
    }
    assert spent[0.0] > spent[0.002] > spent[0.02]


def test_hosts_are_spread_over_the_partitions_of_the_nearest_machine() -> None:
    strategy = ByLocation(CONF, planned())
    settle(strategy, "192.0.2.1", 90)
    homes = Counter(strategy.home(Seen(f"{number}.example", address="192.0.2.1")) for number in range(2000))
    assert {runs_on(home) for home in homes if isinstance(home, int)} == {"east"}
    assert len(homes) == 2
    assert max(homes.values()) < 1.2 * 1000
    east = sorted(home for home in homes if isinstance(home, int))
    others = Neighbours({east[1]: 5, (east[0] + 1) % PARTITIONS: 50}, {})
    assert {strategy.home(Seen(f"{n}.example", address="192.0.2.1", neighbours=others)) for n in range(50)} <= set(east)


def test_what_was_learnt_outlives_the_routing_the_order_of_shares_and_a_machine_that_was_away() -> None:
    routing = planned()
    pipelines = [ByLocation(CONF, routing) for _ in range(3)]
    for number in range(60):
        settle(pipelines[number % 3], address_of(number, 5), number)
    shares = [pipeline.share() for pipeline in pipelines]
    chance = random.Random(1)
    routings = set()
    for _ in range(4):
        chance.shuffle(shares)
        routings.add(planned(*shares, before=routing).state)
    assert len(routings) == 1
    after = planned(*shares, before=routing)
    assert all(settle(ByLocation(CONF, after), address_of(number, 5), number)[1] == 0 for number in range(60))
    assert planned(before=after).state == after.state
    away = planned(before=after, nodes=NODES[:2])
    assert away.state != after.state
    assert planned(before=away).state == after.state


def test_the_state_of_a_large_cluster_stays_within_its_bound() -> None:
    nodes = tuple(ClusterNode(f"node-{number}", 1) for number in range(60))
    routing = Routing(240, secret=b"drawn by chance")
    plan = ByLocation(CONF, routing).plan(ClusterView(routing, nodes, (None,) * 240))
    assert plan.state is not None
    strategy = ByLocation(CONF, Routing(240, 1, plan.state, routing.secret))
    for number in range(1500):
        address = str(IPv4Address(number << 12))
        strategy.observe(Observation(Observed.PROBE, address, 0.01, str(partition)) for partition in range(0, 240, 7))
    assert len(strategy.share()) <= MAX_SHARED
    hosts = [strategy.home(Seen(f"{number}.example", address="192.0.2.1")) for number in range(300)]
    assert any(isinstance(home, Undecided) for home in hosts)
    assert any(isinstance(home, int) for home in hosts)
    later = routing
    for generation in range(3):
        others = tuple(ClusterNode(f"node-{generation}-{number}", 1) for number in range(32))
        later = planned(strategy.share(), before=later, nodes=others)
        strategy = ByLocation(CONF, later)
        for number in range(1500):
            address = str(IPv4Address(number << 12))
            strategy.observe(Observation(Observed.PROBE, address, 0.01, str(partition)) for partition in range(0, 240, 5))
        probe_all = [str(partition) for partition in range(240)]
        strategy.observe(Observation(Observed.PROBE, "198.51.100.1", 0.01, partition) for partition in probe_all)
        assert len(later.state) <= MAX_SHARED
    known = ByLocation(CONF, planned(strategy.share(), before=later, nodes=others))
    assert isinstance(known.home(Seen("a.example", address="198.51.100.9")), int)


def test_a_flood_of_hostile_addresses_takes_bounded_memory_and_no_landmark() -> None:
    strategy = taught()
    landmarks = strategy.routing.state
    flood = [str(IPv6Address((0x20010DB8 << 96) + (number << 80))) for number in range(14_000)]
    probes = [Observation(Observed.PROBE, address, 0.01, "0") for address in flood]
    strategy.observe(probes[:7000])
    tracemalloc.start()
    try:
        strategy.observe(probes[7000:])
        for number, address in enumerate(flood[::100]):
            strategy.home(Seen(f"{number}.example", address=address))
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert grown < 3_000_000
    after = planned(strategy.share(), before=strategy.routing)
    assert len(after.state) <= MAX_SHARED
    assert after.state != landmarks
    later = ByLocation(CONF, after)
    assert [settle(later, address_of(number, number * 7 % 101), 0)[1] for number in range(LANDMARKS)] == [0] * LANDMARKS


@pytest.mark.parametrize(
    "fact",
    [
        Observation(Observed.PROBE, "192.0.2.1", 0.1, ""),
        Observation(Observed.PROBE, "192.0.2.1", 0.1, "99"),
        Observation(Observed.PROBE, "192.0.2.1", 0.1, "-1"),
        Observation(Observed.PROBE, "192.0.2.1", 0.1, "٣"),
        Observation(Observed.PROBE, "192.0.2.1", -1.0, "0"),
        Observation(Observed.PROBE, "www.example.org", 0.1, "0"),
        Observation(Observed.RATE, "192.0.2.1", 0.1, "0"),
    ],
)
def test_facts_that_say_nothing_are_passed_over(fact: Observation) -> None:
    strategy = ByLocation(CONF, planned())
    strategy.observe([fact])
    assert strategy.share() == b""


def test_pages_stay_nobody_waits_and_no_site_moves() -> None:
    strategy = ByLocation(CONF, planned())
    assert strategy.belongs(JudgedPage("http://a.example/"), 3) == 3
    assert strategy.next_for(1, [Seen("a.example")], 5) == ()
    view = ClusterView(strategy.routing, NODES, (None,) * PARTITIONS)
    plan = strategy.plan(view)
    assert (plan.wanted, plan.moves, plan.state) == (placement(view), (), None)


def test_the_file_of_the_registries_is_a_setting(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("registries")
    make = parcahyd_partitioners()["location"]
    with pytest.raises(UserError, match=r"Registries: .*absent\.bin cannot be read"):
        make(WorkConf(Registries=str(folder / "absent.bin")), Routing(2))
    (folder / "r.bin").write_bytes(encode_hierarchy(build_hierarchy([])))
    assert isinstance(make(WorkConf(Registries=str(folder / "r.bin")), Routing(2)), ByLocation)
    (folder / "damaged.bin").write_bytes(b"PARCAHYD registries 1\n" + b"x" * 100)
    with pytest.raises(UserError, match="damaged"):
        make(WorkConf(Registries=str(folder / "damaged.bin")), Routing(2))
