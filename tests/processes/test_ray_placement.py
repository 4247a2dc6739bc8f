"""Agents are placed by a child that talks to Ray; here a thread stands for it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from parcahyd.core.errors import UserError
from parcahyd.processes import ray_placement
from parcahyd.processes.agent_keeper import AgentPlace
from parcahyd.processes.ray_placement import (
    AgentNews,
    NoRay,
    PlaceAgents,
    Placed,
    RayPlacement,
    Refused,
    RemoveAgents,
    Removed,
    require_ray,
)
from parcahyd.runtime.channel import first_message, send_message, socket_pair

Answer = NoRay | Refused | Placed | None
PLACED = Placed("127.0.0.1:6379", ("127.0.0.1",), ("127.0.0.1",))


class DriverDouble:
    """Children that answer as they are told; `heard` is what they were asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.after: Callable[[socket.socket], None] = lambda _: None
        """What the last child does after its answer."""
        self.heard: list[Any] = []

    def start(self, role: str) -> DriverChild:
        assert role == "ray-driver"
        return DriverChild(self, self.answers.pop(0), is_last=not self.answers)


class DriverChild:
    def __init__(self, double: DriverDouble, answer: Answer, *, is_last: bool) -> None:
        self._double = double
        self._answer = answer
        self._is_last = is_last
        self.end, self._there = socket_pair()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        with self._there:
            self._double.heard.append(first_message(self._there, PlaceAgents))
            if self._answer is not None:
                send_message(self._there, self._answer)
            if self._is_last:
                self._double.after(self._there)

    def wait(self) -> int:
        self._thread.join()
        return 0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[DriverDouble]:
    double = DriverDouble()
    monkeypatch.setattr(ray_placement, "Child", double.start)
    yield double
    assert not double.answers


def _places(*addresses: str) -> list[AgentPlace]:
    return [AgentPlace(address, "postgresql+psycopg://db.example/crawl", "/conf", forever=False) for address in addresses]


def test_the_ray_that_is_there_is_used(driver: DriverDouble) -> None:
    driver.answers = [PLACED]
    placement = RayPlacement.begin("c1", _places("192.0.2.1"))
    placement.close()
    assert (placement.placed, placement.is_own) == (PLACED, False)
    assert driver.heard == [PlaceAgents("c1", tuple(_places("192.0.2.1")), in_own_ray=False)]


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", ""])
def test_where_there_is_none_one_is_started_for_this_machine(driver: DriverDouble, address: str) -> None:
    driver.answers = [NoRay(), PLACED]
    placement = RayPlacement.begin("c1", _places(address))
    placement.close()
    assert placement.is_own
    assert [ask.in_own_ray for ask in driver.heard] == [False, True]


def test_other_machines_need_a_ray_that_is_there(driver: DriverDouble) -> None:
    driver.answers = [NoRay()]
    with pytest.raises(UserError, match=r"ListIP names others \(192\.0\.2\.7\) \(start Ray on each"):
        RayPlacement.begin("c1", _places("127.0.0.1", "192.0.2.7"))


def test_what_the_child_refuses_is_the_user_s_error(driver: DriverDouble) -> None:
    driver.answers = [Refused("it lets anybody in", "start it with a token")]
    with pytest.raises(UserError, match=r"it lets anybody in \(start it with a token\)"):
        RayPlacement.begin("c1", _places("127.0.0.1"))


def test_a_child_that_dies_says_nothing_of_ray(driver: DriverDouble) -> None:
    driver.answers = [None, None]
    with pytest.raises(UserError, match="Ray could not be started"):
        RayPlacement.begin("c1", _places("127.0.0.1"))


def test_news_come_until_ray_is_lost(driver: DriverDouble) -> None:
    news = [AgentNews("127.0.0.1", is_there=True, starts=1), AgentNews("127.0.0.1", is_there=False)]
    driver.answers = [PLACED]

    def after(end: socket.socket) -> None:
        for one in news:
            send_message(end, one)

    driver.after = after
    placement = RayPlacement.begin("c1", _places("127.0.0.1"))
    placement._child.wait()
    assert placement.news() == news
    assert placement.is_lost
    assert placement.news() == []
    placement.remove()


def test_agents_are_removed_by_the_child(driver: DriverDouble) -> None:
    def after(end: socket.socket) -> None:
        driver.heard.append(first_message(end, RemoveAgents))
        send_message(end, AgentNews("127.0.0.1", is_there=False))
        send_message(end, Removed())

    driver.answers, driver.after = [PLACED], after
    RayPlacement.begin("c1", _places("127.0.0.1")).remove(only_new=True, patience=3.0)
    assert driver.heard[1:] == [RemoveAgents(only_new=True, patience=3.0)]


def test_without_the_extra_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parcahyd.processes.ray_placement.find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"Ray, which is not installed \(pip install 'parcahyd\[cluster\]'"):
        require_ray()
    monkeypatch.setattr("parcahyd.processes.ray_placement.find_spec", lambda name: name)
    require_ray()
