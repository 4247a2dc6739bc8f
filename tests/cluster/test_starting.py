"""A run begins together with its seeds, and seeds go to the partitions in which they live."""

from __future__ import annotations

import pytest

from parcahyd.cluster.runs import STOPPED, Runs
from parcahyd.cluster.scope import read_scope
from parcahyd.cluster.starting import SeedSower
from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import Routing
from parcahyd.partition.by_hash import ByHash
from tests.cluster.hub_desk import HubDesk

A, B = "http://a.example/", "http://b.example/x"
OVER = "UPDATE parcahyd_hub.runs SET outcome = 'done'"


def sower(desk: HubDesk) -> SeedSower:
    routing = Routing(desk.facts.partitions, secret=desk.facts.secret)
    return SeedSower(desk.hub, desk.facts, ByHash(WorkConf(), routing))


def letters(desk: HubDesk) -> dict[str, int]:
    return {body.decode(): partition for partition, body in desk.rows("SELECT partition, body FROM parcahyd_hub.mail")}


def test_seeds_go_where_they_live_and_span_the_scope(desk: HubDesk) -> None:
    desk.change("INSERT INTO parcahyd_hub.homes (site, partition) VALUES ('b.example', 1)")
    begun = sower(desk).begin("{}", {"MaxPages": 7}, [A, B])
    assert (begun.is_new, begun.run.id, begun.new_seeds) == (True, 1, 2)
    strategy = ByHash(WorkConf(), Routing(desk.facts.partitions, secret=desk.facts.secret))
    assert letters(desk) == {A: strategy.place("a.example"), B: 1}
    assert read_scope(desk.hub) == (1, (("http", "a.example", 80), ("http", "b.example", 80)))
    assert desk.rows('SELECT total, "left" FROM parcahyd_hub.quotas') == [(7, 7)]


def test_the_same_command_again_changes_nothing(desk: HubDesk) -> None:
    sower(desk).begin("{}", {}, [A])
    begun = sower(desk).begin("{}", {}, [A])
    assert (begun.is_new, begun.run.id, begun.new_seeds) == (False, 1, 0)
    assert list(letters(desk)) == [A]
    assert sower(desk).sow([A, B]) == 1


def test_a_seed_is_given_again_in_the_next_run(desk: HubDesk) -> None:
    sower(desk).begin("{}", {}, [A])
    desk.change(OVER)
    desk.change("DELETE FROM parcahyd_hub.mail")
    begun = sower(desk).begin("{}", {}, [A])
    assert (begun.is_new, begun.run.id, begun.new_seeds) == (True, 2, 1)
    assert list(letters(desk)) == [A]


def test_a_run_without_a_limit_has_none_of_the_one_before(desk: HubDesk) -> None:
    sower(desk).begin("{}", {"MaxPages": 7}, [A])
    desk.change(OVER)
    sower(desk).begin("{}", {}, [A])
    assert desk.rows("SELECT total FROM parcahyd_hub.quotas") == []


def test_nothing_to_crawl_begins_no_run(desk: HubDesk) -> None:
    with pytest.raises(UserError, match=r"no URL yet \(parcahyd cluster start URL\)"):
        sower(desk).begin("{}", {}, [])
    assert Runs(desk.hub).current() is None


def test_partitions_that_have_urls_need_no_seed(desk: HubDesk) -> None:
    with pytest.raises(UserError, match="no URL yet"):
        sower(desk).begin("{}", {}, [])
    desk.change(
        "INSERT INTO parcahyd_p1.urls (site_id, key, path, state, depth, hops, priority, first_seen)"
        " VALUES (1, 1, '/', 0, 0, 0, 0, 0)"
    )
    assert sower(desk).begin("{}", {}, []).is_new


def test_seeds_of_an_earlier_run_are_urls_too(desk: HubDesk) -> None:
    sower(desk).begin("{}", {}, [A])
    desk.change(OVER)
    assert sower(desk).begin("{}", {}, []).is_new


def test_a_run_that_is_being_stopped_is_not_joined(desk: HubDesk) -> None:
    sower(desk).begin("{}", {}, [A])
    Runs(desk.hub).change(STOPPED)
    with pytest.raises(UserError, match="run 1 is being stopped"):
        sower(desk).begin("{}", {}, [B])
    assert list(letters(desk)) == [A]


def test_a_run_that_is_over_takes_no_seed(desk: HubDesk) -> None:
    sower(desk).begin("{}", {}, [A])
    desk.change(OVER)
    with pytest.raises(UserError, match="the run is over"):
        sower(desk).sow([B])
