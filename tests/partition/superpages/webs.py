"""Graphs of superpages for tests."""

from __future__ import annotations

import random

from parcahyd.partition.superpages.graph import SuperpageGraph

__all__ = ["clustered"]


def clustered(seed: int, clusters: int = 12, each: int = 12) -> SuperpageGraph:
    """Clusters with many links within and few between."""
    chance = random.Random(seed)
    count = clusters * each
    links = []
    for page in range(count):
        for _ in range(6):
            near = page // each * each + chance.randrange(each)
            links.append((page, near if chance.random() < 0.9 else chance.randrange(count), chance.randrange(1, 20)))
    return SuperpageGraph([chance.randrange(50, 150) for _ in range(count)], links)
