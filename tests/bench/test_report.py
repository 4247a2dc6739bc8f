"""Tables and ratios: medians, ranges, marks, and pairs of the same round only."""

from __future__ import annotations

import pytest

from bench.report import DISTURBED, INCOMPLETE, label, markdown, ratio_table, ratios, site_table
from bench.report_page import spread
from bench.results import Results, SiteResults
from bench.rounds import Outcomes
from tests.bench.outcomes import contender, outcome


@pytest.fixture
def outcomes() -> Outcomes:
    return {
        "parcahyd": [
            outcome("parcahyd", number, seconds=seconds, steady=200.0) for number, seconds in ((1, 1.0), (2, 2.0), (3, 4.0))
        ],
        "wget2": [
            outcome("wget2", number, seconds=2.0, steady=steady) for number, steady in ((1, 200.0), (2, 100.0), (3, 50.0))
        ],
        "scrapy": [outcome("scrapy", 1, seconds=10.0, missing=3)],
        "limit": [outcome("limit", number, seconds=0.5, others=0.9) for number in (1, 2, 3)],
    }


def _results(outcomes: Outcomes, **changes: object) -> Results:
    site = SiteResults("manual", 100, 100_000, outcomes, {}, {"colly": "too slow"})
    values: dict[str, object] = {
        "command": "python bench/crawl.py manual",
        "machine": [("cores", "2")],
        "contenders": [contender("parcahyd")],
        "left_out": {"puf": "not on PATH"},
        "rounds": 3,
        "repeats": 3,
        "memory_file_system": "tmpfs",
        "disk_file_system": "ext4",
        "no_disk": "not asked for",
        "verified": 3,
        "sites": [site],
    }
    return Results(**{**values, **changes})  # type: ignore[arg-type] # the values are those of the fields


@pytest.mark.parametrize(("values", "shown"), [([3, 1, 2], "2 (1-3)"), ([2.2, 2.3], "2"), ([1, 2, 3, 10], "2 (1-10)")])
def test_a_spread_is_the_median_and_the_range(values: list[float], shown: str) -> None:
    assert spread(values, "{:.0f}") == shown


def test_ratios_are_taken_within_rounds(outcomes: Outcomes) -> None:
    assert ratios(outcomes["parcahyd"], outcomes["wget2"]) == [2.0, 1.0, 0.5]
    assert ratios(outcomes["parcahyd"], outcomes["scrapy"]) == [10.0]
    assert ratios(outcomes["parcahyd"][1:], outcomes["scrapy"]) == []


def test_marks_tell_of_disturbance_and_of_missing_pages(outcomes: Outcomes) -> None:
    assert label(outcomes["wget2"]) == "wget2"
    assert label(outcomes["scrapy"]) == f"scrapy{INCOMPLETE}"
    assert label(outcomes["limit"]) == f"limit{DISTURBED}"


def test_the_ratio_table_has_a_line_for_each_contender(outcomes: Outcomes) -> None:
    lines = list(ratio_table(_results(outcomes).sites))
    assert lines[2:] == [
        "| manual | parcahyd | wget2 | 1.00 (0.50-2.00) | 2.00 (1.00-4.00) | 1.00 (0.50-2.00) |",
        f"| manual | parcahyd | scrapy{INCOMPLETE} | 10.00 |  | 0.10 |",
        f"| manual | parcahyd | limit{DISTURBED} | 0.25 (0.12-0.50) |  | 4.00 (2.00-8.00) |",
    ]


def test_every_row_of_parcahyd_is_compared_with_others_and_with_the_defaults() -> None:
    names = ("parcahyd", "parcahyd-isal", "parcahyd-before", "wget2")
    lines = list(ratio_table(_results({name: [outcome(name, 1)] for name in names}).sites))
    assert [tuple(cell.strip() for cell in line.split("|")[2:4]) for line in lines[2:]] == [
        ("parcahyd", "parcahyd-before"),
        ("parcahyd", "wget2"),
        ("parcahyd-isal", "parcahyd-before"),
        ("parcahyd-isal", "wget2"),
        ("parcahyd-isal", "parcahyd"),
    ]


def test_the_table_of_a_site_has_a_cell_for_each_heading(outcomes: Outcomes) -> None:
    lines = list(site_table(outcomes))
    assert len({line.count("|") for line in lines}) == 1
    assert "| scrapy† | 1 | 100 of 103 | 3 | 0 | 101 | 10.00 | 10 |  | 20.00 | 200.00 | 50 | 1.0 |" in lines


def test_the_report_says_who_was_left_out_and_what_was_not_done(outcomes: Outcomes) -> None:
    text = markdown(_results(outcomes), "performance-crawl.svg")
    for said in (
        "| puf | left out: not on PATH |",
        "- colly: too slow",
        "No rounds with outputs on a disk: not asked for.",
        "PARCAHYD's 3 crawls",
        "    python bench/crawl.py manual",
        "](performance-crawl.svg)",
    ):
        assert said in text


def test_rounds_on_a_disk_have_a_table_of_their_own(outcomes: Outcomes) -> None:
    on_disk = {name: outcomes[name] for name in ("parcahyd", "wget2")}
    text = markdown(_results(outcomes, no_disk="", sites=[SiteResults("manual", 100, 1, outcomes, on_disk, {})]), None)
    assert "outputs on a disk (ext4)" in text
    assert "| wget2 | 3 | 2.00 | 50 | 1.00 (0.50-2.00) | 0.00 |" in text
