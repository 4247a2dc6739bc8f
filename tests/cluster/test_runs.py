"""A run is begun once, steered by a wanted state, and takes no work when it is over."""

from __future__ import annotations

import pytest

from parcahyd.cluster.runs import PAUSED, RUNNING, STOPPED, Runs, confirm, stop_if_late
from parcahyd.cluster.scope import change_scope, read_scope
from parcahyd.cluster.seeds import SEED, sow
from parcahyd.core.errors import UserError
from tests.cluster.hub_desk import HubDesk

OVER = "UPDATE parcahyd_hub.runs SET outcome = 'done'"


def test_a_run_under_way_is_joined(desk: HubDesk) -> None:
    runs = Runs(desk.hub)
    assert runs.current() is None
    first = runs.begin("{}", {"MaxPages": 5})
    assert runs.begin("{}", {"MaxPages": 9}) == first
    assert desk.rows("SELECT total FROM parcahyd_hub.quotas") == [(5,)]
    desk.change(OVER)
    assert runs.begin("{}", {}) == first + 1


def test_a_new_run_begins_with_no_partition_idle(desk: HubDesk) -> None:
    desk.change("UPDATE parcahyd_hub.states SET idle_since = 1, pages = 7, wanting = true")
    Runs(desk.hub).begin("{}", {})
    assert desk.rows("SELECT DISTINCT idle_since, pages, wanting FROM parcahyd_hub.states") == [(None, 0, False)]


def test_renewals_tell_what_is_wanted_until_all_confirm(desk: HubDesk) -> None:
    runs = Runs(desk.hub)
    number = runs.begin("{}", {})
    first, second = desk.take(0), desk.take(1)
    renewal = first.renewer.renew()
    assert (renewal.run, renewal.wanted, renewal.version) == (number, RUNNING, 0)
    version = runs.want(PAUSED, {"b.example", "a.example"})
    renewal = first.renewer.renew()
    assert (renewal.wanted, renewal.version) == (PAUSED, version)
    run = runs.current()
    assert run is not None
    assert run.blocked == {"a.example", "b.example"}
    assert runs.not_confirmed(version) == [0, 1]
    confirm(first.claiming, version)
    assert runs.not_confirmed(version) == [1]
    second.renewer.give_back()
    assert runs.not_confirmed(version) == [], "a free partition does nothing"


def test_a_run_that_is_over_takes_nothing(desk: HubDesk) -> None:
    runs = Runs(desk.hub)
    runs.begin("{}", {})
    desk.change(OVER)
    with pytest.raises(UserError, match="the run is over"):
        sow(desk.hub, {"http://a.example/": 0})
    with pytest.raises(UserError, match="the run is over"):
        change_scope(desk.hub, [])
    with pytest.raises(UserError, match="the run is over"):
        runs.want(PAUSED)


def test_seeds_are_posted_once(desk: HubDesk) -> None:
    Runs(desk.hub).begin("{}", {})
    assert sow(desk.hub, {"http://a.example/": 1, "http://b.example/": 0}) == 2
    assert sow(desk.hub, {"http://a.example/": 1}) == 0
    letters = desk.rows("SELECT partition, kind, body FROM parcahyd_hub.mail ORDER BY body")
    assert letters == [(1, SEED, b"http://a.example/"), (0, SEED, b"http://b.example/")]


def test_the_scope_has_versions(desk: HubDesk) -> None:
    Runs(desk.hub).begin("{}", {})
    first, second = ("http", "a.example", 80), ("https", "b.example", 8443)
    assert read_scope(desk.hub) == (0, ())
    assert change_scope(desk.hub, [first]) == 1
    assert change_scope(desk.hub, [second, first]) == 2
    assert change_scope(desk.hub, [first, second]) == 2, "they are in it"
    assert read_scope(desk.hub) == (2, (first, second))
    assert desk.take(0).renewer.renew().scope == 2


def test_a_run_that_takes_too_long_is_stopped(desk: HubDesk) -> None:
    number = Runs(desk.hub).begin("{}", {})
    tree = desk.take(0)
    stop_if_late(tree.claiming, number, 3600.0)
    assert tree.renewer.renew().wanted == RUNNING
    desk.change("UPDATE parcahyd_hub.runs SET started_at = started_at - 3600")
    stop_if_late(tree.claiming, number, 3600.0)
    renewal = tree.renewer.renew()
    assert renewal.wanted == STOPPED
    stop_if_late(tree.claiming, number, 3600.0)
    assert tree.renewer.renew().version == renewal.version, "it is stopped once"
