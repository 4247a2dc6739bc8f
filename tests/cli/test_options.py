from __future__ import annotations

import pytest

from parcahyd.cli.options import time_argument
from parcahyd.core.errors import UserError

NOON = 1_772_625_600
"""2026-03-04T12:00:00Z."""


@pytest.mark.parametrize(
    ("text", "begin", "seconds"),
    [
        ("2026-03-04", NOON - 43200, 86400),
        ("2026-03-04T12:00Z", NOON, 60),
        ("2026-03-04 12:00", NOON, 60),
        ("2026-03-04T13:00+01:00", NOON, 60),
        ("2026-03-04T12:00:00Z", NOON, 1),
        ("2026-03-04 12:00:00Z", NOON, 1),
        ("2026-03-04T06:30:00-05:30", NOON, 1),
        ("2026-03-04T12:00:00", NOON, 1),
        ("2026-W10-3", NOON - 43200, 86400),
        ("20260304T1200Z", NOON, 60),
        ("20260304T120000", NOON, 1),
        ("2026-03-04T13:00+01", NOON, 60),
        ("2026-03-04T12", NOON, 3600),
        ("2026-03-04T12Z", NOON, 3600),
        (f" {NOON} ", NOON, 1),
    ],
)
def test_a_day_an_hour_a_minute_and_a_second_stand_for_their_last_instant(text: str, begin: float, seconds: float) -> None:
    assert begin + seconds - 0.001 < time_argument(text) < begin + seconds


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-04T12:00:00.250Z", NOON + 0.25),
        ("2026-03-04T12:00:00.000Z", NOON),
        (f"{NOON}.75", NOON + 0.75),
        (f"{NOON}.0", float(NOON)),
    ],
)
def test_fractions_are_exact(text: str, at: float) -> None:
    assert time_argument(text) == at


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-04", "2026-03-04T25:00", "-5", "nan", "1e9", "2026-03-04T12:00+99:00"]
)
def test_what_is_no_moment_is_a_mistake(text: str) -> None:
    with pytest.raises(UserError, match="is not a time") as mistake:
        time_argument(text)
    assert "seconds since the epoch" in mistake.value.remedy
