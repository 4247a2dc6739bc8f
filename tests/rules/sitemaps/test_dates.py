"""The moments that dates of sitemaps and feeds mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.sitemaps.dates import parse_date

NEW_YEAR = 1704067200.0  # 2024-01-01T00:00:00Z

DATES = {
    "2024": NEW_YEAR,
    "2024-01": NEW_YEAR,
    "2024-01-01": NEW_YEAR,
    "2024-1-1": NEW_YEAR,
    "2024-01-01T00:00Z": NEW_YEAR,
    "2024-01-01T00:00:00Z": NEW_YEAR,
    "2024-01-01t00:00:00z": NEW_YEAR,
    "2024-01-01T01:00:00+01:00": NEW_YEAR,
    "2024-01-01T05:45+05:45": NEW_YEAR,
    "2023-12-31T19:00:00-0500": NEW_YEAR,
    "2023-12-31T19:00:00-05": NEW_YEAR,
    "2024-01-01T00:00:00": NEW_YEAR,
    "2024-01-01 00:00:00 +0000": NEW_YEAR,
    " 2024-01-01\n": NEW_YEAR,
    "2024-01-01 00:00:00 UTC": NEW_YEAR,
    "2024-01-01T00:00:00.25Z": NEW_YEAR + 0.25,
    "2024-01-01T00:00:00.2500000000000001+00:00": NEW_YEAR + 0.25,
    "2024-02-29": NEW_YEAR + 59 * 86400,
    "2023-12-31T23:59:60Z": NEW_YEAR,
    "Mon, 01 Jan 2024 00:00:00 GMT": NEW_YEAR,
    "Mon, 1 Jan 24 00:00:00 +0000": NEW_YEAR,
    "01 Jan 2024 00:00 UT": NEW_YEAR,
    "Sun, 31 Dec 2023 19:00:00 EST": NEW_YEAR,
    "Sun,31 Dec 2023 16:00:00 PST": NEW_YEAR,
    "Monday, 01-Jan-24 00:00:00 GMT": NEW_YEAR,
    "1  January   2024": NEW_YEAR,
    "Mon, 01 Jan 2024 00:00:00": NEW_YEAR,
}


@pytest.mark.parametrize(("text", "expected"), DATES.items())
def test_dates_are_understood(text: str, expected: float) -> None:
    assert parse_date(text) == expected


ABSURD = """0000-00-00 0001-01-01 1969-12-31 1970-01-01T00:00:00Z 9999-12-31 2023-02-29 2024-13-01 2024-00-10 2024-04-31 24
2024-01-01T24:00:00Z 2024-01-01T10:60:00Z 2024-01-01T10:00:61Z 2024-01-01T10:00:00+15:00 2024-01-01T10:00:00+01:75
2024-01-01T 2024-01-01x -2024-01-01 20240101 daily 1704067200 {{date}}"""
SPACED = ["", " ", "32 Jan 2024", "1 Foo 2024", "Mon, 01 Jan 2024 25:00:00 GMT", "\uff12\uff10\uff12\uff14-01-01", "9" * 10_000]


@pytest.mark.parametrize("text", [*ABSURD.split(), *SPACED])
def test_absurd_ones_are_none(text: str) -> None:
    assert parse_date(text) is None


MOMENTS = st.integers(631_238_400, 4_133_894_400).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
ZONES = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(MOMENTS, ZONES)
def test_standard_dates_come_back(when: datetime, zone: timezone) -> None:
    local = when.astimezone(zone)
    if 1990 <= local.year <= 2100:
        assert parse_date(local.isoformat()) == local.timestamp()
        assert parse_date(format_datetime(local)) == local.timestamp()


@given(st.text(max_size=70) | st.text("0123456789TZ:+. -", max_size=40))
def test_no_text_raises(text: str) -> None:
    found = parse_date(text)
    assert found is None or 600_000_000 < found < 4_200_000_000
