"""When a site falls due."""

from __future__ import annotations

import pytest

from parcahyd.refresh.schedule import NEVER
from parcahyd.storage.sites import earliest, never, site_due


def test_earliest() -> None:
    assert earliest(3.0, None, 2.0) == 2.0
    assert earliest(None, None) is None


def test_never() -> None:
    assert never(NEVER) is None
    assert never(float("inf")) is None
    assert never(NEVER - 1) == NEVER - 1


@pytest.mark.parametrize(
    ("not_before", "errand_until", "url", "errand", "due"),
    [
        (0, 0, None, None, None),
        (9, 9, None, None, None),
        (0, 0, 5, None, 5),
        (7, 0, 5, None, 7),
        (0, 8, 5, None, 8),
        (0, 8, 5, 6, 6),
        (9, 8, 5, 6, 9),
        (0, 0, None, 6, 6),
    ],
)
def test_a_site_falls_due(not_before: float, errand_until: float, url: float, errand: float, due: float | None) -> None:
    assert site_due(not_before, errand_until, url, errand) == due
