"""What a pipeline says of itself."""

from __future__ import annotations

import pytest

from parcahyd.cluster.pipeline_reports import write_report
from parcahyd.core.errors import LeaseLost
from tests.cluster.hub_desk import HubDesk, retried

_READ = "SELECT partition, content FROM parcahyd_hub.reports ORDER BY partition"


def test_the_newest_report_counts(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    write_report(first.claiming, "{}")
    write_report(second.claiming, '{"rate": 1}')
    write_report(first.claiming, '{"rate": 2}')
    assert desk.rows(_READ) == [(0, '{"rate": 2}'), (1, '{"rate": 1}')]


def test_who_lost_a_partition_says_nothing_of_it(desk: HubDesk) -> None:
    first = desk.take(0)
    fence = first.claiming
    desk.end(0)
    second = desk.take(0)
    write_report(second.claiming, '{"rate": 3}')
    with pytest.raises(LeaseLost):
        retried(lambda: write_report(fence, "{}"))
    assert desk.rows(_READ) == [(0, '{"rate": 3}')]
