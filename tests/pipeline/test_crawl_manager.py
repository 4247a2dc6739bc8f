"""The Crawl Manager: one address and one host, one worker; sets of bounded size; MaxPages shared out."""

from __future__ import annotations

from parcahyd.config.schema import HostRule, WorkConf
from parcahyd.core.messages import Committed
from parcahyd.core.records import (
    MOST_LEASED,
    Assignment,
    DueUrl,
    Pause,
    ResolvedLease,
    RobotsFact,
    RobotsStatus,
    SiteLease,
)
from parcahyd.pipeline.crawl_manager import CrawlManager, Permit, Permits, Unshared
from parcahyd.pipeline.resolved_queue import ResolvedQueue
from parcahyd.rules.urls.host_rules import host_delays


class Clock:
    def now(self) -> float:
        return 1000.0

    def monotonic(self) -> float:
        return 1000.0


class Bench:
    """A Crawl Manager with its queue, and what it handed to whom."""

    def __init__(
        self,
        workers: int = 2,
        open_sites: int = 10,
        argument_url: int = 5,
        max_pages: int | None = None,
        permits: Permits | None = None,
        visit_pages: int = 100,
    ) -> None:
        self.queue = ResolvedQueue(1000)
        self.sites = 1
        self.sets: list[tuple[int, tuple[Assignment, ...]]] = []
        self.manager = CrawlManager(
            self.queue,
            Clock(),
            assign=lambda worker, assignments: self.sets.append((worker, assignments)),
            workers=workers,
            argument_url=argument_url,
            open_sites=open_sites,
            visit_pages=visit_pages,
            max_pages=max_pages,
            sites_with_work=lambda: self.sites,
            pauses=[Pause("host paused.example", 1003.0), Pause("address 192.0.2.9", 1004.0)],
            permits=permits,
        )

    def put(
        self, visit: int, host: str, *addresses: str, failures: int = 0, robots: RobotsFact | None = None, urls: int = 1
    ) -> None:
        due = tuple([DueUrl(number, f"/{number}") for number in range(urls)])
        lease = SiteLease(visit, visit, "http", host, 80, due, failures=failures, robots=robots)
        self.queue.put(ResolvedLease(lease, addresses, 2000.0))

    def worker_of(self, visit: int) -> int | None:
        return next((worker for worker, set_ in self.sets for one in set_ if one.lease.visit == visit), None)

    def assignment(self, visit: int) -> Assignment:
        return next(one for _, set_ in self.sets for one in set_ if one.lease.visit == visit)


def test_all_visits_to_one_address_go_to_one_worker() -> None:
    bench = Bench()
    for visit in range(1, 7):
        bench.put(visit, f"h{visit}.example", "192.0.2.1")
    bench.manager.run()
    assert {bench.worker_of(visit) for visit in range(1, 7)} == {bench.worker_of(1)}


def test_different_addresses_are_spread_over_the_workers() -> None:
    bench = Bench()
    for visit in range(1, 5):
        bench.put(visit, f"h{visit}.example", f"192.0.2.{visit}")
    bench.manager.run()
    assert {bench.worker_of(visit) for visit in range(1, 5)} == {0, 1}


def test_both_sites_of_a_host_go_to_one_worker_even_on_two_addresses() -> None:
    bench = Bench()
    bench.put(1, "both.example", "192.0.2.1")
    bench.manager.run()
    bench.put(2, "both.example", "192.0.2.2")
    bench.manager.run()
    assert bench.worker_of(1) == bench.worker_of(2)


def test_an_address_that_a_worker_owns_is_preferred() -> None:
    bench = Bench()
    bench.put(1, "a.example", "192.0.2.7")
    bench.manager.run()
    bench.put(2, "b.example", "192.0.2.8", "192.0.2.7")
    bench.manager.run()
    assert bench.assignment(2).address == "192.0.2.7"
    assert bench.worker_of(2) == bench.worker_of(1)


def test_after_a_visit_without_a_connection_the_next_address_is_tried() -> None:
    bench = Bench()
    for visit in range(1, 5):
        bench.put(visit, f"h{visit}.example", "192.0.2.1", "192.0.2.2", "192.0.2.3", failures=visit - 1)
        bench.manager.run()
    assert [bench.assignment(visit).address[-1] for visit in range(1, 5)] == ["1", "2", "3", "1"]


def test_a_visit_waits_while_the_owner_has_no_room_and_others_do_not() -> None:
    bench = Bench(open_sites=1)
    bench.put(1, "a.example", "192.0.2.1")
    bench.put(2, "b.example", "192.0.2.1")
    bench.put(3, "c.example", "192.0.2.3")
    bench.manager.run()
    assert bench.worker_of(2) is None
    assert bench.worker_of(3) is not None
    bench.manager.request_processed(1, 3, ())
    bench.manager.run()
    assert bench.worker_of(2) is not None


def test_sets_hold_at_most_argument_url_pairs() -> None:
    bench = Bench(workers=1, argument_url=3, open_sites=100)
    for visit in range(1, 9):
        bench.put(visit, f"h{visit}.example", f"192.0.2.{visit}")
    bench.manager.run()
    assert sum(len(assignments) for _, assignments in bench.sets) == 8
    assert max(len(assignments) for _, assignments in bench.sets) == 3


def test_pauses_travel_with_the_visit() -> None:
    bench = Bench()
    bench.put(1, "paused.example", "192.0.2.9")
    bench.manager.run()
    assert (bench.assignment(1).host_not_before, bench.assignment(1).address_not_before) == (1003.0, 1004.0)
    bench.manager.request_processed(1, 0, [Pause("host paused.example", 1010.0)])
    bench.put(2, "paused.example", "192.0.2.9")
    bench.manager.run()
    assert bench.assignment(2).host_not_before == 1010.0


def test_a_worker_that_is_gone_gives_its_visits_back_after_a_full_delay() -> None:
    bench = Bench()
    bench.put(1, "a.example", "192.0.2.1")
    bench.manager.run()
    worker = bench.worker_of(1)
    assert worker is not None
    bench.manager.worker_gone(worker, lambda _host, _port, _crawl_delay: 1.0, 0.1)
    bench.put(2, "a.example", "192.0.2.1")
    bench.manager.run()
    assert bench.assignment(2).host_not_before == 1001.0
    assert bench.assignment(2).address_not_before == 1000.1


def test_each_host_of_a_worker_that_is_gone_waits_its_own_delay() -> None:
    bench = Bench(workers=1)
    bench.put(1, "slow.example", "192.0.2.1")
    bench.put(2, "quick.example", "192.0.2.2")
    bench.manager.run()
    delays = host_delays(WorkConf(HostDelay=1.0, Host=(HostRule(Pattern="slow.*", Delay=30.0),)))
    bench.manager.worker_gone(0, delays, 0.1)
    bench.put(3, "slow.example", "192.0.2.1")
    bench.put(4, "quick.example", "192.0.2.2")
    bench.manager.run()
    assert [bench.assignment(visit).host_not_before for visit in (3, 4)] == [1030.0, 1001.0]


def test_a_host_of_a_worker_that_is_gone_waits_for_the_delay_of_its_robots_txt() -> None:
    bench = Bench(workers=1)
    bench.put(1, "stored.example", "192.0.2.1", robots=RobotsFact(RobotsStatus.FOUND, delay=5.0))
    bench.put(2, "just-read.example", "192.0.2.2")
    bench.put(3, "greedy.example", "192.0.2.3")
    bench.manager.run()
    bench.manager.slowed(2, 7.0)
    bench.manager.slowed(3, 1e6)
    bench.manager.slowed(99, 7.0)
    bench.manager.worker_gone(0, host_delays(WorkConf(HostDelay=1.0, MaxCrawlDelay=60.0)), 0.1)
    for visit, host in ((4, "stored"), (5, "just-read"), (6, "greedy")):
        bench.put(visit, f"{host}.example", f"192.0.2.{visit}")
    bench.manager.run()
    assert [bench.assignment(visit).host_not_before for visit in (4, 5, 6)] == [1005.0, 1007.0, 1060.0]


def test_a_visit_asks_for_what_it_finds_only_if_its_lease_has_all_that_is_due() -> None:
    bench = Bench(visit_pages=3 * MOST_LEASED)
    bench.put(1, "small.example", "192.0.2.1", urls=MOST_LEASED - 1)
    bench.put(2, "large.example", "192.0.2.2", urls=MOST_LEASED)
    bench.manager.run()
    assert (bench.assignment(1).pages, bench.assignment(2).pages) == (3 * MOST_LEASED, MOST_LEASED)


def test_max_pages_is_shared_with_sites_that_are_still_being_resolved() -> None:
    bench = Bench(max_pages=60)
    bench.sites = 3
    for visit in range(1, 4):
        bench.put(visit, f"h{visit}.example", f"192.0.2.{visit}")
        bench.manager.run()
    assert [bench.assignment(visit).pages for visit in (1, 2, 3)] == [10, 10, 10]


def test_max_pages_is_never_exceeded_and_used_up() -> None:
    bench = Bench(max_pages=10, open_sites=100)
    used = 0
    for visit in range(1, 100):
        bench.put(visit, "h.example", "192.0.2.1")
        bench.manager.run()
        if bench.worker_of(visit) is None:
            break
        assert not bench.manager.limit_reached
        used += bench.assignment(visit).pages
        bench.manager.request_processed(visit, bench.assignment(visit).pages, ())
    assert used == 10
    assert bench.manager.limit_reached
    assert len(bench.queue) == 1


def test_pages_of_a_worker_that_is_gone_are_counted_by_the_database() -> None:
    bench = Bench(max_pages=2, workers=1)
    for visit in (1, 2):
        bench.put(visit, f"h{visit}.example", f"192.0.2.{visit}")
    bench.manager.run()
    bench.manager.worker_gone(0, lambda _host, _port, _crawl_delay: 0.0, 0.0)
    bench.put(3, "h3.example", "192.0.2.3")
    bench.manager.run()
    assert bench.worker_of(3) is None, "nobody knows yet how many pages were stored"
    assert not bench.manager.limit_reached
    bench.manager.committed(Committed((1,), True, 1, 0, 0, 0, 0, 0, {}, 0, 0, pages=1))
    assert bench.worker_of(3) is None
    bench.manager.committed(Committed((2,), True, 1, 0, 0, 0, 0, 0, {}, 0, 0, pages=1))
    assert bench.assignment(3).pages == 1
    bench.manager.request_processed(3, 1, ())
    assert bench.manager.limit_reached


class SomePermits(Unshared):
    """Permits for the hosts that a test names, and what was said of subjects."""

    def __init__(self) -> None:
        self.hosts: dict[str, Permit] = {}
        self.said: list[tuple[object, ...]] = []
        self.wanted_pages = 0

    def ask(self, lease: SiteLease, address: str) -> Permit | None:  # noqa: ARG002
        return self.hosts.get(lease.host)

    def begin(self, subject: str) -> None:
        self.said.append(("begin", subject))

    def rest(self, subject: str, seconds: float, pause: Pause | None) -> None:
        self.said.append(("rest", subject, seconds, None if pause is None else pause.not_before))

    def end(self, subject: str) -> None:
        self.said.append(("end", subject))

    def slow_down(self, host: str, delay: float) -> None:
        self.said.append(("slow down", host, delay))

    def want_pages(self) -> None:
        self.wanted_pages += 1


def test_a_pair_without_a_permit_lets_others_of_its_group_pass() -> None:
    permits = SomePermits()
    bench = Bench(permits=permits)
    permits.hosts["b.example"] = Permit(1007.0, 1008.0, 2)
    bench.put(1, "a.example", "192.0.2.1")
    bench.put(2, "b.example", "192.0.2.1")
    bench.manager.run()
    assert bench.worker_of(1) is None
    given = bench.assignment(2)
    assert (given.host_not_before, given.address_not_before, given.address_failures) == (1007.0, 1008.0, 2)
    permits.hosts["a.example"] = Permit()
    bench.manager.run()
    assert bench.worker_of(1) == bench.worker_of(2), "the address has one worker"


def test_subjects_are_free_when_no_visit_uses_them() -> None:
    permits = SomePermits()
    permits.hosts = {"a.example": Permit(), "b.example": Permit()}
    bench = Bench(permits=permits)
    bench.put(1, "a.example", "192.0.2.1")
    bench.put(2, "b.example", "192.0.2.1")
    bench.manager.run()
    assert permits.said == [("begin", "host a.example"), ("begin", "address 192.0.2.1"), ("begin", "host b.example")]
    permits.said.clear()
    bench.manager.request_processed(1, 1, [Pause("host a.example", 1600.0, "asked", 1)], 1, (2.0, 1.0))
    assert permits.said == [
        ("rest", "host a.example", 2.0, 1600.0),
        ("end", "host a.example"),
        ("rest", "address 192.0.2.1", 1.0, None),
    ]
    assert bench.manager.visits_to({"address 192.0.2.1", "host a.example"}) == {bench.worker_of(2): [2]}
    permits.said.clear()
    bench.manager.slowed(2, 9.0)
    bench.manager.worker_gone(bench.worker_of(2) or 0, host_delays(WorkConf(HostDelay=3.0)), 0.5)
    assert permits.said == [
        ("slow down", "b.example", 9.0),
        ("rest", "host b.example", 9.0, None),
        ("end", "host b.example"),
        ("rest", "address 192.0.2.1", 0.5, None),
        ("end", "address 192.0.2.1"),
    ]


def test_pages_are_asked_for_when_they_are_used_up_and_visits_wait() -> None:
    permits = SomePermits()
    permits.hosts = {f"h{visit}.example": Permit() for visit in range(1, 5)}
    bench = Bench(permits=permits, max_pages=0)
    bench.manager.run()
    assert permits.wanted_pages == 0
    bench.put(1, "h1.example", "192.0.2.1")
    bench.manager.run()
    assert permits.wanted_pages == 1
    assert bench.worker_of(1) is None
    bench.manager.set_max_pages(10)
    assert bench.worker_of(1) is not None
