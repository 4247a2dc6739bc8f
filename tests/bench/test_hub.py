"""The benchmark of the hub measures what it says."""

from __future__ import annotations

from bench.hub import HEADING, PAIRS, measure
from tests.support.postgres import fresh_database


def test_every_figure_is_measured(postgres: str) -> None:
    with fresh_database(postgres) as url:
        cost = measure(url, 2 * PAIRS, rounds=2)
    assert len(cost.cells()) == len(HEADING)
    assert min(cost.claim, cost.release, cost.renewal, cost.fence, cost.homes) > 0
    assert cost.subject_bytes > 50
    assert cost.home_bytes > 50
