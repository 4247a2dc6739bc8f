"""What one of several pipelines gets of a machine and of the crawl."""

from __future__ import annotations

from typing import Any

import pytest

from parcahyd.cluster.identity import ClusterFacts
from parcahyd.cluster.records import Identity
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.processes.pipeline_shares import share_of_one
from parcahyd.runtime.children import usable_cores

FACTS = ClusterFacts("c", Identity(1, 1, 1), True, 0, 20.0, b"", 8)


def _share(here: int, **settings: Any) -> WorkConf:
    configuration = Configuration(MapConf(), WorkConf(**settings))
    return share_of_one(configuration, FACTS, wanted_here=here, nodes=3).work


@pytest.mark.parametrize(("most", "workers"), [(4, 1), (8, 1), (16, 2), (40, 5)])
def test_max_instances_is_of_the_whole_crawl(most: int, workers: int) -> None:
    assert _share(2, MaxInstances=most).MaxInstances == workers


def test_without_max_instances_pipelines_share_the_cores() -> None:
    assert _share(1).MaxInstances == usable_cores()
    assert _share(1000).MaxInstances == 1


def test_rates_are_of_the_crawl_and_memory_is_of_the_machine() -> None:
    share = _share(4, MaxRate=8000, RevisitsPerDay=100, BufferBytes=64 * 1024 * 1024)
    assert (share.MaxRate, share.RevisitsPerDay, share.BufferBytes) == (1000, 13, 16 * 1024 * 1024)
    assert _share(4).MaxRate == 0


def test_before_there_are_plans_machines_share_alike() -> None:
    assert _share(0, BufferBytes=66 * 1024 * 1024).BufferBytes == 22 * 1024 * 1024, "three of eight on one of three"


def test_kernels_deliver_nothing_for_longer_than_a_tenth_of_the_lease() -> None:
    assert _share(1).SendTimeout == 2.0
