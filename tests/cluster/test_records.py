"""Names of sessions name one holder, and fit into what PostgreSQL keeps of them."""

from __future__ import annotations

from parcahyd.cluster.identity import random_bits
from parcahyd.cluster.records import Holding, Identity, session_name
from tests.cluster.hub_desk import want


def test_a_session_is_named_after_one_holder() -> None:
    identity = Identity(1, 2, 3)
    one = Holding("c0ffee", identity, 7, 12, -5)
    others = [
        Holding("decade", identity, 7, 12, -5),
        Holding("c0ffee", identity, 8, 12, -5),
        Holding("c0ffee", identity, 7, 13, -5),
        Holding("c0ffee", identity, 7, 12, 5),
    ]
    assert one.session_name not in {other.session_name for other in others}


def test_the_longest_name_is_not_cut() -> None:
    name = session_name("0123456789ab", 100_000, 10**9, -(1 << 63))
    assert name.endswith("8000000000000000")
    assert len(name) < 63


def test_random_bits_fit_a_column() -> None:
    assert all(-(1 << 63) <= random_bits() < 1 << 63 for _ in range(100))


def test_a_pair_has_two_subjects() -> None:
    assert want("a.example").delays == {"host a.example": 2.0, "address 192.0.2.1": 1.0}
