"""A crawl on a synthetic web grows as it says, and what is spared is what the crawler's own tables remember."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from parcahyd.cli.lab_growth import command
from parcahyd.lab.growth import Growth, growth_table, stages


def _growth(urls: int = 12_000, partitions: int = 4, posted: int = 1 << 20, hot: int = 1000, seed: int = 1) -> Growth:
    return Growth(urls, partitions, posted, hot, seed, "a test")


def test_a_crawl_is_seen_at_every_power_of_ten() -> None:
    found = list(stages(_growth()))
    assert [stage.urls >= least for stage, least in zip(found, (10_000, 12_000), strict=True)] == [True, True]
    for stage in found:
        assert 0 < stage.letters < stage.crossing
        assert stage.urls / 4 < stage.most <= stage.urls
        assert 1 < stage.hosts < stage.urls
        assert stage.pages < stage.urls


def test_what_is_remembered_is_not_posted_again() -> None:
    """With tables that hold everything, a partition posts a URL once; with the smallest ones, more often."""
    large, small = (list(stages(_growth(posted=size, hot=hot)))[-1] for size, hot in ((1 << 20, 1000), (64, 1)))
    assert large.crossing == small.crossing
    assert large.letters < small.letters


def test_the_same_seed_makes_the_same_table() -> None:
    one, other = (growth_table(_growth(urls=10_000)) for _ in range(2))
    assert one == other
    assert growth_table(_growth(urls=10_000, seed=2)) != one


@pytest.mark.parametrize("urls", ["999", "x"])
def test_a_size_that_makes_no_sense_is_refused(urls: str) -> None:
    assert CliRunner().invoke(command, ["--urls", urls]).exit_code == 2


def test_the_command_prints_the_table() -> None:
    result = CliRunner().invoke(command, ["--urls", "10000", "--partitions", "8", "--json"])
    assert result.exit_code == 0, result.output
    (table,) = json.loads(result.stdout)
    assert (table["name"], len(table["rows"])) == ("growth", 1)
