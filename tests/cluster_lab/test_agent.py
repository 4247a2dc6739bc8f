"""The agent and its pipelines, steered by signals and by commands while they crawl.

What is tried here is `processes.agent`, with `pipeline`, `part_of_crawl` and `partition_database` in the processes that it
starts.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench.synthetic_web import DOMAIN
from tests.cluster_lab.lab import Lab, Plan, open_lab
from tests.cluster_lab.scenarios import pages_with_document
from tests.cluster_lab.stored_pages import judge_stores
from tests.support.processes import wait_until

_PLAN = Plan(nodes=1, partitions=2, pages=120, hosts=6, addresses=6, latency=0.01, host_delay=0.05, address_delay=0.02)
_FEW = 30
_HELD = "SELECT count(*) FROM parcahyd_hub.partitions WHERE id >= 0 AND token IS NOT NULL"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with open_lab(_PLAN, tmp_path) as opened:
        opened.begin()
        yield opened


def _held(lab: Lab) -> int:
    count: int = lab.hub.rows(_HELD)[0][0]
    return count


def _finish(lab: Lab) -> None:
    """The run comes to its end with everything stored, and nothing is left behind."""
    assert wait_until(lab.is_over, 300.0), lab.said()
    assert wait_until(lab.has_ended, 300.0), lab.said()
    found = judge_stores(lab.hub.rows)
    assert found.stored == pages_with_document(lab.served.web)
    assert (found.twice, found.owned, found.letters, found.open_visits) == ((), 0, 0, 0)
    assert lab.command("verify", "--conf", str(lab.desk.conf)).code == 0


def test_a_machine_that_is_stopped_gives_everything_back(lab: Lab) -> None:
    lab.until(_FEW, 300.0)
    (node,) = lab.nodes
    node.agent.signal_group(signal.SIGTERM)
    assert node.agent.wait() == 130
    assert _held(lab) == 0
    assert judge_stores(lab.hub.rows).owned == 0
    rests = lab.hub.rows("SELECT max(rest) FROM parcahyd_hub.subjects")[0][0]
    assert 0.0 <= rests <= 2.0, "what was released in order rests no longer than what is left of its delay"
    node.start()
    _finish(lab)


@pytest.fixture
def slow_lab(tmp_path: Path) -> Iterator[Lab]:
    """A crawl that does not end by itself while a test lasts, however slow the machine is."""
    with open_lab(replace(_PLAN, pages=2000, hosts=2, addresses=2, host_delay=2.0), tmp_path) as opened:
        opened.begin()
        opened.until(4, 300.0)
        yield opened
        opened.cluster("stop")
        assert opened.hub.rows("SELECT outcome FROM parcahyd_hub.runs ORDER BY id DESC LIMIT 1") == [("stopped",)]
        assert wait_until(opened.has_ended, 300.0), "with --once it ends with the run"


def test_a_paused_run_holds_nothing_until_it_is_resumed(slow_lab: Lab) -> None:
    slow_lab.cluster("pause")
    assert _held(slow_lab) == 0
    assert judge_stores(slow_lab.hub.rows).owned == 0
    assert slow_lab.status()["run"]["wanted"] == "paused"
    slow_lab.cluster("resume")
    assert wait_until(lambda: _held(slow_lab) == 2, 300.0), slow_lab.said()


def test_a_blocked_host_is_left_alone(slow_lab: Lab) -> None:
    host = f"h0.{DOMAIN}"
    slow_lab.cluster("block", host)
    put_aside = "SELECT 1 FROM parcahyd_all.sites WHERE host = %s AND not_before > extract(epoch FROM now()) + 40000"
    owner = "SELECT 1 FROM parcahyd_hub.subjects WHERE subject = %s AND token IS NOT NULL"
    assert wait_until(lambda: slow_lab.hub.rows(put_aside, host) != [], 300.0), slow_lab.said()
    assert wait_until(lambda: slow_lab.hub.rows(owner, f"host {host}") == [], 300.0), slow_lab.said()


def test_a_stopped_run_is_gone_on_with_by_the_next_one(slow_lab: Lab) -> None:
    slow_lab.cluster("stop")
    (node,) = slow_lab.nodes
    assert node.agent.wait() == 0
    stored = judge_stores(slow_lab.hub.rows).stored
    slow_lab.cluster("start")
    node.start()
    assert wait_until(lambda: _held(slow_lab) == 2, 300.0), slow_lab.said()
    assert judge_stores(slow_lab.hub.rows).stored >= stored > 0


def test_a_drained_machine_hands_its_partitions_over(tmp_path: Path) -> None:
    with open_lab(replace(_PLAN, nodes=2), tmp_path) as lab:
        lab.begin()
        first, second = lab.nodes
        lab.until(_FEW, 300.0)
        lab.cluster("drain", first.name)
        held_by = "SELECT DISTINCT node FROM parcahyd_hub.partitions WHERE id >= 0 AND token IS NOT NULL"
        assert wait_until(lambda: lab.is_over() or lab.hub.rows(held_by) == [(second.name,)], 300.0), lab.said()
        _finish(lab)


def test_a_run_takes_no_longer_than_max_seconds(tmp_path: Path) -> None:
    with open_lab(replace(_PLAN, host_delay=30.0, settings={"Work.MaxSeconds": 3.0}), tmp_path) as lab:
        lab.begin()
        assert wait_until(lab.is_over, 300.0), lab.said()
        assert lab.hub.rows("SELECT outcome FROM parcahyd_hub.runs") == [("stopped",)]
        assert wait_until(lab.has_ended, 300.0), lab.said()
