"""The short form of the soak: a few faults in a small web (`make soak` takes as long as it is told to)."""

from __future__ import annotations

import os
import random
from pathlib import Path

from bench.synthetic_web import Shape
from tests.torture.soak import soak

_FAULTS = 5


def test_a_crawl_with_faults_ends_like_one_without(tmp_path: Path) -> None:
    seed = int(os.environ.get("PARCAHYD_KILL_SEED", str(random.randrange(10**6))))
    print(f"PARCAHYD_KILL_SEED={seed}")
    with soak(tmp_path, Shape(pages=120, hosts=5, addresses=1), seed) as made:
        while made.faults.total() < _FAULTS:
            made.round(lambda: made.faults.total() >= _FAULTS)
        print(made.report())
        assert len(made.states) == 120
        assert made.differences == []
