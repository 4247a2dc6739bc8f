"""A site has one home, decided by whoever comes first, and moves only from there."""

from __future__ import annotations

from parcahyd.cluster.homes import Homes
from tests.cluster.hub_desk import HubDesk


def test_the_first_one_decides(desk: HubDesk) -> None:
    first, second = Homes(desk.take(0).claiming), Homes(desk.take(1).claiming)
    assert first.settle({"a.example": 0, "b.example": None}) == {"a.example": 0, "b.example": None}
    assert second.settle({"a.example": 1, "c.example": 1}) == {"a.example": 0, "c.example": 1}
    assert second.of(["a.example", "d.example"]) == {"a.example": 0}


def test_a_site_moves_from_its_home_to_another(desk: HubDesk) -> None:
    source, target = Homes(desk.take(0).claiming), Homes(desk.take(1).claiming)
    source.settle({"a.example": 0})
    assert not target.move("a.example", 1), "it is not there"
    assert source.move("a.example", 1)
    assert not source.move("a.example", 1)
    assert not target.move("a.example", 0), "it has not arrived"
    assert target.of(["a.example"]) == {"a.example": 1}
    assert not source.arrived("a.example")
    assert target.arrived("a.example")
    assert not target.arrived("a.example")
