"""The permits of two pipelines that want the same hosts and addresses of a real hub."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import DueUrl, Pause, RobotsFact, RobotsStatus, SiteLease
from parcahyd.pipeline.crawl_manager import Permit
from parcahyd.processes.claims_desk import ClaimsDesk
from tests.cluster.hub_desk import LEASE, TURN, HubDesk

HOST, ADDRESS = "host a.example", "address 192.0.2.1"
Answer = TypeVar("Answer")


class _AtOnce:
    """The hub's thread, which a test needs not."""

    def call(self, work: Callable[[], Answer], done: Callable[[Answer], None]) -> None:
        done(work())

    def until_answered(self, step: Callable[[], Answer]) -> Answer:
        return step()


class Pipeline:
    """A tree of a hub with a desk for its permits."""

    def __init__(self, hub: HubDesk, partition: int) -> None:
        self.hub, self.tree = hub, hub.take(partition)
        self.loop = asyncio.new_event_loop()
        self.granted = 0
        self.handed_back: list[set[str]] = []
        self.wanted_pages = 0
        self.desk = ClaimsDesk(
            WorkConf(HostDelay=2.0, AddressDelay=1.0),
            self.tree.claims,
            self.tree.hub_time,
            self,
            hub.clock,
            self.loop,
            _AtOnce(),
            granted=self._grant,
            hand_back=self.handed_back.append,
            want_pages=self._want,
        )

    def _grant(self) -> None:
        self.granted += 1

    def _want(self) -> None:
        self.wanted_pages += 1

    def now(self) -> float:
        return self.hub.now + 5000.0

    def monotonic(self) -> float:
        return self.hub.now

    def settle(self) -> None:
        """Runs what was planned."""
        self.loop.call_later(0.02, self.loop.stop)
        self.loop.run_forever()

    def look(self) -> None:
        """About a second later: the next look."""
        self.tree.renewer.renew()
        self.desk.look_again()
        self.settle()

    def ask(self, host: str = "a.example", address: str = "192.0.2.1", delay: float = 0.0) -> Permit | None:
        robots = RobotsFact(RobotsStatus.FOUND, delay=delay) if delay else None
        return self.desk.ask(SiteLease(1, 1, "http", host, 80, (DueUrl(1, "/"),), robots=robots), address)

    def visit(self, host: str = "a.example", address: str = "192.0.2.1") -> None:
        assert self.ask(host, address) is None
        self.settle()
        assert self.ask(host, address) is not None
        self.desk.begin(f"host {host}")
        self.desk.begin(f"address {address}")

    def leave(self, rest: float = 0.0, pause: Pause | None = None, host: str = "a.example", address: str = "192.0.2.1") -> None:
        self.desk.rest(f"host {host}", rest, pause)
        self.desk.rest(f"address {address}", rest, None)
        self.desk.end(f"host {host}")
        self.desk.end(f"address {address}")
        self.settle()

    def wait(self, host: str = "a.example", address: str = "192.0.2.1") -> float:
        """Seconds until the first request of a visit may be sent."""
        permit = self.ask(host, address)
        assert permit is not None
        return round(max(permit.host_not_before, permit.address_not_before) - self.now(), 3)


@pytest.fixture
def two(desk: HubDesk) -> Iterator[tuple[Pipeline, Pipeline]]:
    made = Pipeline(desk, 0), Pipeline(desk, 1)
    yield made
    for pipeline in made:
        pipeline.loop.close()


def test_a_permit_is_there_after_an_exchange(two: tuple[Pipeline, Pipeline]) -> None:
    first, _ = two
    assert first.ask() is None
    first.settle()
    assert first.granted == 1
    assert first.wait() == 0.0


def test_documents_of_this_machine_need_none(two: tuple[Pipeline, Pipeline]) -> None:
    assert two[0].ask("", "local") is not None


def test_the_other_waits_and_gets_what_is_left_of_the_delay(two: tuple[Pipeline, Pipeline]) -> None:
    first, second = two
    first.visit()
    assert second.ask() is None
    second.settle()
    assert second.ask() is None
    first.leave(rest=1.5)
    first.hub.now += 0.5  # The time until the second looks does not count: no clocks are compared.
    second.look()
    assert second.granted == 1
    assert second.wait() == 1.5


def test_what_a_claim_has_to_rest_counts_although_no_request_was_sent(two: tuple[Pipeline, Pipeline]) -> None:
    first, second = two
    first.visit()
    first.leave(rest=1.5)
    second.visit()
    second.leave(rest=0.0)
    assert first.ask() is None
    first.settle()
    assert first.wait() == 1.5


def test_a_subject_in_use_is_not_released(two: tuple[Pipeline, Pipeline]) -> None:
    first, second = two
    first.visit("a.example")
    first.visit("b.example")
    first.leave(host="a.example", address="192.0.2.9")  # The address is used by the other visit.
    second.visit("a.example", "192.0.2.7")
    assert second.ask("c.example", "192.0.2.1") is None
    second.look()
    assert second.ask("c.example", "192.0.2.1") is None


def test_a_longer_pause_goes_with_the_subject(two: tuple[Pipeline, Pipeline]) -> None:
    first, second = two
    first.visit()
    first.leave(rest=2.0, pause=Pause(HOST, first.now() + 300.0, "asked-to-wait", 1))
    second.visit()
    assert 299.0 <= second.wait() <= 301.0


def test_a_delay_that_robots_txt_asks_for_is_known_after_the_death_of_its_owner(two: tuple[Pipeline, Pipeline]) -> None:
    first, second = two
    first.visit()
    first.desk.slow_down("a.example", 30.0)
    first.settle()
    first.hub.end(0)
    second.visit()
    assert second.wait() == 30.0 + LEASE / 10


def _pass_a_turn(*pipelines: Pipeline) -> None:
    """All of them renew meanwhile, and those that wait try again."""
    for _ in range(3):
        pipelines[0].hub.now += TURN / 3
        for pipeline in pipelines:
            pipeline.tree.renewer.renew()
            pipeline.desk.look_again()
            pipeline.settle()


def test_a_turn_ends_when_others_wait(two: tuple[Pipeline, Pipeline]) -> None:
    first, second = two
    first.visit()
    assert second.ask() is None
    second.settle()
    first.look()
    assert first.handed_back == [], "the turn has just begun"
    _pass_a_turn(second, first)
    assert first.handed_back == [{HOST, ADDRESS}]
    assert first.ask() is None, "no visit begins any more"
    first.leave(rest=1.0)
    second.look()
    assert second.wait() == 1.0
    first.settle()
    assert first.ask() is None, "it waits for its next turn"


def test_a_pair_that_was_given_back_waits_no_longer(two: tuple[Pipeline, Pipeline]) -> None:
    first, second = two
    first.visit()
    assert second.ask() is None
    second.settle()
    assert second.desk.waited_for(TURN) == set()
    second.desk.give_up({"a.example"})
    second.look()
    _pass_a_turn(first, second)
    assert first.handed_back == []


def test_it_is_known_who_has_waited_long(two: tuple[Pipeline, Pipeline]) -> None:
    first, second = two
    first.visit()
    assert second.ask() is None
    second.settle()
    _pass_a_turn(second, first)
    assert second.desk.waited_for(TURN) == {"a.example"}
    second.desk.give_up({"a.example"})
    assert second.desk.waited_for(TURN) == set()


def test_at_the_end_it_says_how_long_everything_rests(two: tuple[Pipeline, Pipeline]) -> None:
    first, _ = two
    first.visit()
    first.desk.rest(HOST, 3.0, None)
    rests = first.desk.close()
    assert rests == {HOST: first.hub.now + 3.0}
    assert first.ask("z.example") is None
    first.settle()
    assert first.ask("z.example") is None, "nothing is claimed any more"


def test_pages_are_asked_for_elsewhere(two: tuple[Pipeline, Pipeline]) -> None:
    two[0].desk.want_pages()
    assert two[0].wanted_pages == 1
