"""What labelling costs, from the times of all rounds."""

from __future__ import annotations

import pytest

from bench.labelling import more


def test_the_means_of_all_rounds_are_compared() -> None:
    assert more([1.0, 3.0], [3.0, 2.0]) == pytest.approx(0.25)
