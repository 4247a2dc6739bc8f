from __future__ import annotations

import math

import pytest

from parcahyd.core.partitions import ClusterNode
from parcahyd.partition.capacity import MOST, capacity

GIB = 1024**3


@pytest.mark.parametrize(
    ("node", "hundredths"),
    [
        (ClusterNode("plain", 4), 400),
        (ClusterNode("busy", 4, load=1.5), 250),
        (ClusterNode("very busy", 4, load=9), 40),
        (ClusterNode("little memory", 16, memory=GIB), 200),
        (ClusterNode("small disk", 16, 64 * GIB, disk=12 * GIB), 150),
        (ClusterNode("slow line", 64, 64 * GIB, bandwidth=500_000), 50),
        (ClusterNode("without a disk of its own", 2, 64 * GIB), 200),
        (ClusterNode("full disk", 2, disk=0), 0),
    ],
    ids=lambda value: value.name if isinstance(value, ClusterNode) else "",
)
def test_the_scarcest_resource_decides(node: ClusterNode, hundredths: int) -> None:
    assert capacity(node) == hundredths


@pytest.mark.parametrize("wrong", [-1.0, math.nan, -math.inf])
def test_a_figure_that_cannot_be_counts_as_nothing(wrong: float) -> None:
    assert capacity(ClusterNode("a", wrong)) == 0
    assert capacity(ClusterNode("a", 4, memory=wrong)) == 0


@pytest.mark.parametrize("wrong", [-1.0, math.nan, -math.inf])
def test_a_load_that_cannot_be_counts_as_none(wrong: float) -> None:
    assert capacity(ClusterNode("a", 4, load=wrong)) == 400


def test_a_machine_that_boasts_is_bounded() -> None:
    assert capacity(ClusterNode("a", math.inf)) == MOST
    assert capacity(ClusterNode("a", 1e300, load=math.inf)) <= MOST
