"""`cluster plan`, `partition` and `place`: what they say, and which mistakes they find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.cluster.tables import partition_schema
from tests.cli.cluster_of_test import ClusterOfTest
from tests.support.postgres import fresh_database

Output = pytest.CaptureFixture[str]
SITE = """
    INSERT INTO {}.sites (id, scheme, host, port, in_scope, urls, pages, bytes)
    VALUES ({}, 'http', '{}', 80, true, {}, {}, 900)
"""


@pytest.fixture
def cluster(postgres: str, tmp_path: Path, capsys: Output) -> Iterator[ClusterOfTest]:
    """A run under way in two partitions, with a large host and a small one in partition 0."""
    with fresh_database(postgres) as url:
        made = ClusterOfTest(tmp_path, url)
        assert made("init", "--partitions", "2", "--lease", "5") == 0
        assert made("start", "https://a.example/") == 0
        for number, (host, urls) in enumerate((("large.example", 400), ("small.example", 30)), 1):
            made.change(SITE.format(partition_schema(0), number, host, urls, urls // 2))
        capsys.readouterr()
        yield made


def test_a_host_is_placed_by_hand(cluster: ClusterOfTest, capsys: Output) -> None:
    assert cluster("place", "large.example", "1") == 0
    assert capsys.readouterr().out == "large.example moves from partition 0 to partition 1.\n"
    assert cluster.rows("SELECT site, source, target, rule FROM parcahyd_hub.moves") == [
        ("large.example", 0, 1, "placed by hand")
    ]
    assert cluster("place", "small.example", "0") == 0
    assert capsys.readouterr().out == "small.example lives in partition 0 already.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("place", "large.example", "2"), "there is no partition 2 (they are numbered from 0 to 1)"),
        (("place", "x.example", "1"), "the crawl has no URL of x.example (it is put somewhere when it is first found)"),
        (("place", "http://large.example/page", "x"), "'x' is not a valid integer"),
        (("plan", "by-luck"), 'no partitioner is called "by-luck" (there are '),
        (("partition", "location"), '"location" goes by measurements that the machines of a cluster do not make yet'),
        (("partition", "by-luck"), 'no partitioner is called "by-luck" (there are '),
    ],
)
def test_mistakes(cluster: ClusterOfTest, capsys: Output, arguments: tuple[str, ...], said: str) -> None:
    assert cluster(*arguments) == 2
    assert said in capsys.readouterr().err
    assert cluster.rows("SELECT wanted FROM parcahyd_hub.runs") == [("running",)], "nothing was paused for it"


def test_a_plan_tells_what_it_costs_and_changes_nothing(cluster: ClusterOfTest, capsys: Output) -> None:
    assert cluster("plan", "superpage") == 0
    out = capsys.readouterr().out
    assert out.startswith('By "superpage", 1 of 2 hosts would move: ')
    assert "partition 0 -> 1" in out
    assert cluster("plan", "superpage", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["strategy"], found["hosts"], found["before"], len(found["moves"])) == ("superpage", 2, [215, 0], 1)
    assert cluster.rows("SELECT version FROM parcahyd_hub.routing") == [(0,)]


def test_a_crawl_is_divided_anew_and_the_run_goes_on(cluster: ClusterOfTest, capsys: Output) -> None:
    assert cluster("partition", "superpage") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Run 1 is paused."
    assert lines[1].startswith('By "superpage", 1 of 2 hosts move: ')
    assert lines[-1] == "Run 1 goes on."
    assert cluster.rows("SELECT strategy FROM parcahyd_hub.routing ORDER BY version") == [("hash",), ("superpage",)]
    assert len(cluster.rows("SELECT site FROM parcahyd_hub.homes")) == 2
    assert len(cluster.rows("SELECT site FROM parcahyd_hub.moves")) == 1
    ((settings,),) = cluster.rows("SELECT settings FROM parcahyd_hub.runs")
    assert json.loads(settings)["Work.Partition"] == "superpage"
    assert cluster("plan") == 0
    assert '"superpage"' in capsys.readouterr().out


def test_another_strategy_is_no_matter_of_settings(cluster: ClusterOfTest, capsys: Output) -> None:
    cluster.change("UPDATE parcahyd_hub.runs SET outcome = 'done', ended_at = 1")
    assert cluster("start", "--set", 'Work.Partition="superpage"') == 2
    error = capsys.readouterr().err
    assert 'this crawl is divided by "hash", and Partition is "superpage"' in error
    assert "parcahyd cluster partition superpage" in error
