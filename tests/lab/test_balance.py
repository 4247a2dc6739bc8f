"""The figures of `parcahyd lab balance`, and that the crawler's own classes reach the goal on real sizes."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from parcahyd.core.partitions import Seen
from parcahyd.lab.balance import Experiment, balance_table, sweep_table
from parcahyd.lab.balance_changes import changes_table
from parcahyd.lab.balance_figures import GOAL, PRINTED, deviation, least_deviation
from parcahyd.lab.balance_methods import DYNAMIC_SIZE, HASH, SPLIT, STATIC_RANDOM, STATIC_SIZE
from parcahyd.lab.report import LabTable
from parcahyd.lab.site_sizes import Draw, read_site_sizes, synthetic_site_sizes

SIZES = read_site_sizes(Path(__file__).parent / "site_sizes")
EXPERIMENT = Experiment(SIZES, "parcahyd lab balance", draws=24)


@pytest.fixture(scope="module")
def table() -> LabTable:
    return balance_table(EXPERIMENT)


def _figures(table: LabTable) -> dict[str, dict[str, float]]:
    return {row.name: row.figures for row in table.rows}


@pytest.mark.parametrize(
    ("name", "printed"),
    [("Static-Random", 6.19), ("Static-Size", 3.44), ("Dynamic-Random", 2.50), ("Dynamic-Size", 0.82)],
)
def test_the_measure_is_that_of_the_papers_table(name: str, printed: float) -> None:
    assert round(deviation(PRINTED[name]), 2) == printed
    assert sum(PRINTED[name]) == pytest.approx(1)


def test_the_order_of_the_papers_methods_is_found_again(table: LabTable) -> None:
    found = _figures(table)
    order = ("dynamic_size, split", "Dynamic-Size: dynamic_size", "Static-Size", "Static-Random")
    stdevs = [found[name]["stdev"] for name in order]
    assert stdevs == sorted(stdevs)
    assert found["Dynamic-Size: dynamic_size"]["stdev"] < found["Dynamic-Random"]["stdev"]


def test_the_goal_is_reached_with_divided_sites_and_cannot_be_with_whole_ones(table: LabTable) -> None:
    found = _figures(table)
    assert found["dynamic_size, split"]["stdev"] <= GOAL
    assert found["dynamic_size, split unevenly"]["stdev"] <= GOAL
    assert found["dynamic_size, split, with new sites"]["stdev"] <= GOAL
    assert GOAL < found["whole sites, at best"]["stdev"] <= found["Dynamic-Size: dynamic_size"]["stdev"]


def test_a_divided_site_does_not_end_earlier_than_its_delay_allows(table: LabTable) -> None:
    late = [row.figures["late"] for row in table.rows if "late" in row.figures]
    assert len(late) == 10
    assert min(late) >= 1 - 1e-9
    assert _figures(table)["dynamic_size, split"]["late"] <= 1.02


def test_the_goal_holds_for_5_to_20_agents() -> None:
    *rows, goal = sweep_table(Experiment(SIZES, "parcahyd lab balance", draws=6)).rows
    assert [row.name for row in rows] == [f"{count} agents" for count in range(5, 21)]
    assert max(row.figures["split"] for row in rows) <= goal.figures["split"] == GOAL
    assert all(row.figures["best"] <= row.figures["whole"] for row in rows)


def test_nothing_is_lost_when_an_agent_fails_and_no_more_than_was_in_flight_is_fetched_again() -> None:
    found = _figures(changes_table(EXPERIMENT))
    for name in ("Dynamic-Random", "Dynamic-Size: dynamic_size", "dynamic_size, split"):
        assert found[f"{name}, one fails"]["coverage"] == 1
        assert 0 < found[f"{name}, one fails"]["again"] <= found["goal, one fails"]["again"]
        assert found[f"{name}, one joins"]["coverage"] == found[f"{name}, speeds differ"]["coverage"] == 1
        assert found[f"{name}, one joins"]["again"] == 0
    assert found["dynamic_size, split, one joins"]["late"] <= 1.02


def test_no_whole_sites_can_be_nearer_than_the_bound() -> None:
    assert least_deviation([10, 10, 10], 3) == 0
    assert least_deviation([60, 10, 10, 10, 10], 2) == pytest.approx(deviation([60, 40]))
    assert least_deviation([60, 20, 10, 5, 5], 3) == pytest.approx(deviation([60, 20, 20]))
    assert least_deviation([7], 2) == pytest.approx(deviation([7, 0]))


def test_each_way_gives_every_site_to_one_agent() -> None:
    sizes = {f"site-{number}": number + 1 for number in range(30)}
    draw = Draw("draw", dict(sizes), sizes)
    for method in (STATIC_RANDOM, STATIC_SIZE, HASH):
        sites, giver = method.divide(draw, 6)
        given = [giver.next_for(agent, [Seen(site.name) for site in sites], 99) for agent in range(6)]
        assert sorted(name for names in given for name in names) == sorted(sizes)
    _, giver = STATIC_RANDOM.divide(draw, 6)
    assert {len(giver.next_for(agent, [Seen(name) for name in sizes], 99)) for agent in range(6)} == {5}


def test_parts_have_all_pages_of_their_site() -> None:
    draw = Draw("draw", {"a": 900, "b": None, "c": 30}, {"a": 1234, "b": 7, "c": 30})
    for method in (SPLIT, DYNAMIC_SIZE):
        assert {site.name: sum(site.parts) for site in method.divide(draw, 3)[0]} == draw.truth


def test_the_same_seed_gives_the_same_table_and_says_when_data_are_synthetic() -> None:
    experiment = Experiment(synthetic_site_sizes(3), "parcahyd lab balance --seed 3", seed=3, draws=3)
    one = balance_table(experiment)
    assert one == balance_table(experiment)
    assert one.data == ()
    assert statistics.fmean(row.figures["stdev"] for row in one.rows) > 0
