"""A partition knows the scope as the hub has it, and what it added in a transaction that failed is no part of it."""

from __future__ import annotations

import pytest

from parcahyd.cluster.runs import Runs
from parcahyd.cluster.scope import FollowedScope, added_since, change_scope, read_scope
from tests.cluster.hub_desk import HubDesk

A, B, C = (("http", f"{name}.example", 80) for name in "abc")


@pytest.fixture
def scope(desk: HubDesk) -> FollowedScope:
    Runs(desk.hub).begin("{}", {})
    return FollowedScope(desk.hub)


def test_only_what_is_new_is_read(desk: HubDesk, scope: FollowedScope) -> None:
    change_scope(desk.hub, [A, B])
    with desk.hub.transaction():
        assert scope.read() == 1
        assert scope.origins() == (A, B)
    change_scope(desk.hub, [B, C])
    with desk.hub.transaction():
        assert scope.origins() == (A, B), "as it was read last"
        assert scope.read() == 2
        assert scope.origins() == (A, B, C)
        assert added_since(desk.hub, 1) == (2, (C,))
        assert added_since(desk.hub, 2) == (2, ())


def test_it_is_widened_by_what_is_new_in_it(desk: HubDesk, scope: FollowedScope) -> None:
    change_scope(desk.hub, [A])
    with desk.hub.transaction():
        scope.widen([A, B])
        scope.widen([A, B])
        assert (scope.version, scope.origins()) == (2, (A, B))
    assert read_scope(desk.hub) == (2, (A, B))


def test_what_failed_is_forgotten(desk: HubDesk, scope: FollowedScope) -> None:
    with pytest.raises(KeyError), desk.hub.transaction():  # noqa: PT012 (it fails after it was widened)
        scope.widen([A])
        raise KeyError
    with desk.hub.transaction():
        assert scope.origins() == ()
        scope.widen([A])
    assert read_scope(desk.hub) == (1, (A,))


def test_two_that_widen_it_at_once_come_one_after_the_other(desk: HubDesk, scope: FollowedScope) -> None:
    other = desk.connect("parcahyd other")
    others = FollowedScope(other)
    with other.transaction():
        assert others.origins() == ()
    with desk.hub.transaction():
        scope.widen([A])
    with other.transaction():
        others.widen([B, A])
        assert (others.version, others.origins()) == (2, (A, B))
