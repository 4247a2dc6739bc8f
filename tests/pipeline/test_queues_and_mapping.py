"""URL-IP Queue, Resolved URL Queue, Mapping Manager: bounded, unique, grouped, credit-based."""

from __future__ import annotations

from parcahyd.core.records import ResolvedLease, SiteLease
from parcahyd.pipeline.mapping_manager import MappingManager
from parcahyd.pipeline.resolved_queue import ResolvedQueue
from parcahyd.pipeline.url_ip_queue import UrlIpQueue


def lease(site: int) -> SiteLease:
    return SiteLease(site, site, "http", f"h{site}.example", 80, ())


def resolved(site: int, address: str) -> ResolvedLease:
    return ResolvedLease(lease(site), (address,), 0.0)


def test_the_url_ip_queue_takes_a_site_once_until_it_has_left() -> None:
    queue = UrlIpQueue(5)
    assert queue.put(lease(1))
    assert not queue.put(lease(1))
    assert (len(queue), queue.room) == (1, 4)
    assert [one.site for one in queue.take(10)] == [1]
    assert queue.put(lease(1))


def test_groups_take_turns_and_keep_their_own_order() -> None:
    queue = ResolvedQueue(10)
    for site, address in ((1, "a"), (2, "a"), (3, "b")):
        queue.put(resolved(site, address))
    order = []
    while len(queue):
        order += [queue.take(address).lease.site for address in queue.groups]
    assert order == [1, 3, 2]
    assert queue.room == 10


def test_pairs_are_taken_out_of_the_middle_of_a_group() -> None:
    queue = ResolvedQueue(10)
    for site, address in ((1, "a"), (2, "a"), (3, "a"), (4, "b")):
        queue.put(resolved(site, address))
    assert [one.lease.site for one in queue.waiting("a")] == [1, 2, 3]
    assert queue.take("a", 1).lease.site == 2
    assert queue.groups == ["b", "a"]
    assert {one.lease.site for one in queue.take_where(lambda one: one.lease.site != 3)} == {1, 4}
    assert [one.lease.site for one in queue.take_all()] == [3]
    assert queue.room == 10


def test_mappers_get_sets_of_bounded_size_while_hungry() -> None:
    source, target = UrlIpQueue(100), ResolvedQueue(100)
    sets: list[tuple[SiteLease, ...]] = []
    manager = MappingManager(source, target, mappers=2, argument_url=3, assign=sets.append)
    for site in range(10):
        source.put(lease(site))
    manager.run()
    assert [len(one) for one in sets] == [3, 3]
    for _ in sets[0]:
        manager.delivered()
    manager.run()
    assert len(sets) == 2  # Its set is delivered, but the mapper does not say yet that it is hungry.
    manager.hungry()
    manager.run()
    assert [len(one) for one in sets] == [3, 3, 3]


def test_what_waits_is_shared_among_hungry_mappers() -> None:
    source, target = UrlIpQueue(100), ResolvedQueue(100)
    sets: list[tuple[SiteLease, ...]] = []
    manager = MappingManager(source, target, mappers=4, argument_url=10, assign=sets.append)
    for site in range(10):
        source.put(lease(site))
    manager.run()
    assert [len(one) for one in sets] == [3, 3, 2, 2]


def test_mapping_stops_while_the_resolved_queue_could_overflow() -> None:
    source, target = UrlIpQueue(100), ResolvedQueue(4)
    sets: list[tuple[SiteLease, ...]] = []
    manager = MappingManager(source, target, mappers=2, argument_url=3, assign=sets.append)
    for site in range(10):
        source.put(lease(site))
    manager.run()
    assert sum(len(one) for one in sets) == 4
    for one in sets[0]:
        target.put(ResolvedLease(one, ("a",), 0.0))
        manager.delivered()
    manager.hungry()
    manager.run()
    assert sum(len(one) for one in sets) == 4
    target.take_all()
    manager.run()
    assert sum(len(one) for one in sets) == 7
