"""A host whose address is known goes to the partition where the other hosts of that address live."""

from __future__ import annotations

import pytest

from parcahyd.cluster.neighbourhood import Neighbourhood
from parcahyd.core.partitions import Routing
from parcahyd.partition import address_homes
from tests.cluster.hub_desk import HubDesk
from tests.cluster.partition_pair import ByName

ONE, OTHER = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def two(desk: HubDesk) -> tuple[Neighbourhood, Neighbourhood]:
    first, second = (Neighbourhood(desk.take(number).claiming, ByName(Routing(2))) for number in range(2))
    return first, second


def moves(desk: HubDesk) -> list[tuple[str, int, int]]:
    return [tuple(row) for row in desk.rows("SELECT site, source, target FROM parcahyd_hub.moves ORDER BY site")]


def test_the_first_hosts_of_an_address_decide(desk: HubDesk, two: tuple[Neighbourhood, Neighbourhood]) -> None:
    first, second = two
    assert first.settle({"a0.example": ONE, "b0.example": OTHER}) == set()
    assert second.settle({"a1.example": ONE, "b1.example": "192.0.2.3"}) == {"a1.example"}
    assert moves(desk) == [("a1.example", 1, 0)]
    assert first.settle({"c0.example": "192.0.2.3"}) == {"c0.example"}


def test_a_host_is_decided_once(desk: HubDesk, two: tuple[Neighbourhood, Neighbourhood]) -> None:
    first, second = two
    first.settle({"a0.example": ONE})
    assert [second.settle({"a1.example": ONE}) for _ in range(2)] == [{"a1.example"}] * 2
    counted = desk.rows("SELECT address, partition, hosts FROM parcahyd_hub.neighbours ORDER BY address")
    assert counted == [("", 0, 2), (ONE, 0, 2)]
    desk.change("INSERT INTO parcahyd_hub.homes (site, partition) VALUES ('d1.example', 1)")
    assert second.settle({"d1.example": ONE}) == set(), "somebody put it there"


def test_a_million_names_of_one_address_fill_no_partition(
    two: tuple[Neighbourhood, Neighbourhood], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address_homes, "LEAST", 8)
    first, second = two
    first.settle({"a0.example": ONE})
    going = second.settle({f"a{number}x1.example": ONE for number in range(1000)})
    assert len(going) + 1 <= 8 + (1 + address_homes.MORE) * 1001 / 2 + 1
    assert going
