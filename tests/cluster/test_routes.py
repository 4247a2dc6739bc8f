"""The home of a host is its row, or else what the strategy says by the newest routing."""

from __future__ import annotations

import pytest

from parcahyd.cluster import routes as module
from parcahyd.cluster.planning import publish
from parcahyd.cluster.routes import Routes
from tests.cluster.hub_desk import HubDesk
from tests.cluster.partition_pair import ByName


@pytest.fixture
def routes(desk: HubDesk) -> Routes:
    return Routes(desk.hub, ByName, 0, 2, b"secret")


def _move(desk: HubDesk, host: str, partition: int | None) -> None:
    desk.change("INSERT INTO parcahyd_hub.homes (site, partition) VALUES (%s, %s)", host, partition)


def test_a_row_comes_before_the_strategy(desk: HubDesk, routes: Routes) -> None:
    _move(desk, "a0.example", 1)
    with desk.hub.transaction():
        assert routes.homes_of(["http://a0.example/x", "http://b0.example/", "https://b1.example:8443/"]) == [1, 0, 1]
        assert (routes.home("a0.example"), routes.home("c1.example")) == (1, 1)


def test_a_host_that_waits_for_its_home_stays_with_its_finder(
    desk: HubDesk, routes: Routes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ByName, "home", lambda *_: None)
    with desk.hub.transaction():
        assert routes.home("x1.example") == 0


def test_what_is_remembered_of_others_is_looked_up_again_when_it_is_doubted(desk: HubDesk, routes: Routes) -> None:
    with desk.hub.transaction():
        assert (routes.home("a1.example"), routes.home("b0.example")) == (1, 0)
    _move(desk, "a1.example", 0)
    with desk.hub.transaction():
        assert routes.home("a1.example") == 1, "it is remembered"
        routes.doubt(["http://a1.example/", "http://never.seen1.example/"])
        assert routes.home("a1.example") == 0


def test_a_newer_routing_is_followed(desk: HubDesk, routes: Routes) -> None:
    with desk.hub.transaction():
        assert not routes.follow()
        assert routes.home("a1.example") == 1
    version = publish(desk.planner(), "name", b'{"a1.example": 0}')
    with desk.hub.transaction():
        assert routes.follow()
        assert (routes.version, routes.home("a1.example")) == (version, 0)
        assert not routes.follow()


def test_hosts_are_found_also_while_others_are_forgotten(
    desk: HubDesk, routes: Routes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 4)
    with desk.hub.transaction():
        for first in range(0, 40, 3):
            numbers = range(first, first + 8)
            found = routes.homes_of([f"http://h{number}x{number % 2}.example/" for number in numbers])
            assert found == [number % 2 for number in numbers]
    assert len(routes._known) <= 4 + 8
