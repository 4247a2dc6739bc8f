"""The arrows of the drawing: what goes in at one box comes out where the drawing says. Channels and workers are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.messages import (
    AddressesFound,
    Assigned,
    Committed,
    LeaseRequest,
    Leases,
    Ready,
    RequestProcessed,
    Slowed,
)
from parcahyd.core.ports import Resolution
from parcahyd.core.progress import NullObserver
from parcahyd.core.records import Assignment, BadRecord, DueUrl, ResolvedLease, SiteAddresses, SiteLease, VisitOver
from parcahyd.core.states import Reason
from parcahyd.processes.whole_crawl import WholeCrawl
from parcahyd.testing import FakeClock
from parcahyd.topology import CoordinatorBoxes, join_coordinator


class Recorded:
    """Stands for a channel or for the worker pool: keeps what is sent, and hands over what the test says arrived."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.given: list[tuple[int, tuple[Assignment, ...]]] = []
        self.released: list[int] = []
        self._handlers: dict[type, list[Callable[[Any], None]]] = {}

    def on(self, kind: type, handler: Callable[[Any], None]) -> None:
        self._handlers.setdefault(kind, []).append(handler)

    def send(self, message: object) -> None:
        self.sent.append(message)

    def give(self, worker: int, assignments: tuple[Assignment, ...]) -> None:
        self.given.append((worker, assignments))

    def committed(self, message: Committed) -> None:
        self.released += message.released

    def arrive(self, message: object) -> None:
        for handler in self._handlers[type(message)]:
            handler(message)


class Names:
    """Knows one name."""

    def resolve(self, host: str) -> Resolution:
        if host != "known.example":
            raise ResolutionFailure(Reason.DNS_NO_NAME, f"{host} is unknown")
        return Resolution(("8.8.8.8",), 60.0)

    def close(self) -> None:
        """Nothing is open."""


class Host:
    """The coordinator as the boxes see it. `check` stops the loop when as many pairs were delivered as the test waits for."""

    def __init__(self) -> None:
        self.part = WholeCrawl(NullObserver())
        self.clock = FakeClock()
        self.loop = self.part.surroundings.loop
        self.update_database, self.workers = Recorded(), Recorded()
        self.resolver = Names()
        self.local_schemes = frozenset({"file"})
        self.worker_count, self.visit_pages = 1, 100
        self._awaited = 0

    def check(self) -> None:
        self._awaited -= 1
        if self._awaited <= 0:
            self.loop.stop()

    def run_until_checked(self, times: int) -> None:
        self._awaited = times
        self.loop.run_forever()


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.loop.close()


@pytest.fixture
def boxes(host: Host) -> CoordinatorBoxes:
    ready = Ready(1, (), False, "/buffer")
    return join_coordinator(Configuration(MapConf(MaxInstances=2), WorkConf()), ready, False, cast("Any", host))


def _lease(visit: int, host: str, addresses: tuple[str, ...] = ()) -> SiteLease:
    return SiteLease(visit, visit + 10, "http", host, 80, (DueUrl(1, "/"),), addresses, 2e9 if addresses else 0.0)


def _committed(*released: int, new_work: bool = False) -> Committed:
    return Committed(released, new_work, 0, 0, 0, 0, 0, 0, {}, 0, 0)


def test_a_lease_goes_through_mapping_to_a_worker(host: Host, boxes: CoordinatorBoxes) -> None:
    database = host.update_database
    boxes.url_dispatcher.dispatch()
    assert [type(message) for message in database.sent] == [LeaseRequest]
    database.arrive(Leases((_lease(1, "known.example"),), None))
    host.run_until_checked(2)  # The pair is delivered, and its mapper is hungry.
    found, assigned = database.sent[1:]
    assert found == AddressesFound((SiteAddresses(1, ("8.8.8.8",), host.clock.now() + 60.0),))
    assert assigned == Assigned({1: "8.8.8.8"})
    ((worker, (assignment,)),) = host.workers.given
    assert (worker, assignment.lease.visit, assignment.address) == (0, 1, "8.8.8.8")


def test_addresses_that_were_known_are_not_stored_again(host: Host, boxes: CoordinatorBoxes) -> None:
    boxes.url_dispatcher.dispatch()
    host.update_database.arrive(Leases((_lease(1, "other.example", ("8.8.4.4",)),), None))
    host.run_until_checked(2)
    assert [type(message) for message in host.update_database.sent] == [LeaseRequest, Assigned]


def test_a_host_without_an_address_goes_to_bad_url_q(host: Host, boxes: CoordinatorBoxes) -> None:
    boxes.url_dispatcher.dispatch()
    host.update_database.arrive(Leases((_lease(1, "unknown.example"),), None))
    host.run_until_checked(2)
    bad, over = host.update_database.sent[1:]
    assert isinstance(bad, BadRecord)
    assert isinstance(over, VisitOver)
    assert (bad.reason, over.visit) == (Reason.DNS_NO_NAME.word, 1)
    assert host.workers.given == []


def test_what_was_committed_reaches_the_url_dispatcher_and_the_workers(host: Host, boxes: CoordinatorBoxes) -> None:
    boxes.url_dispatcher.dispatch()
    host.update_database.arrive(Leases((_lease(1, "known.example"),), None))
    host.run_until_checked(2)
    assert boxes.url_dispatcher.open_visits == 1
    host.update_database.arrive(_committed(1, new_work=True))
    assert boxes.url_dispatcher.open_visits == 0
    assert host.workers.released == [1]
    assert isinstance(host.update_database.sent[-1], LeaseRequest)


def test_a_worker_that_has_finished_a_visit_makes_room_for_the_next(host: Host, boxes: CoordinatorBoxes) -> None:
    boxes.url_dispatcher.dispatch()
    host.update_database.arrive(Leases((_lease(1, "known.example"),), None))
    host.run_until_checked(2)
    host.workers.arrive(Slowed(1, 30.0))
    host.workers.arrive(RequestProcessed(1, 1, 1, ()))
    boxes.resolved_queue.put(ResolvedLease(_lease(2, "known.example"), ("8.8.8.8",), 2e9))
    host.workers.arrive(RequestProcessed(99, 0, 0, ()))  # A signal only: the visit is not known.
    assert [assignment.lease.visit for _, (assignment,) in host.workers.given] == [1, 2]
