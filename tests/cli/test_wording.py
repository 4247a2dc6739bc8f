from __future__ import annotations

import pytest

from parcahyd.cli.wording import counts, due, one_line, plain, plural, size, span, utc_time


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1549, "1.5 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (23_400_000, "23.4 MB"),
        (7 * 10**12, "7.0 TB"),
        (5 * 10**18, "5000.0 PB"),
    ],
)
def test_size(number: int, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.0 s"),
        (0.44, "0.4 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h"),
        (7800, "2 h 10 min"),
        (86399, "23 h 59 min"),
        (86400, "1 d"),
        (4 * 86400 + 6 * 3600 + 59, "4 d 6 h"),
    ],
)
def test_span(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_moments_are_told_in_utc() -> None:
    assert utc_time(1_700_000_000) == "2023-11-14 22:13:20Z"
    for beyond in (1e12, 9e18, 1e300, float("inf"), float("nan")):
        assert utc_time(beyond) == "beyond the calendar"


def test_due() -> None:
    assert due(1_700_000_060, 1_700_000_000) == "2023-11-14 22:14:20Z (in 1 min)"
    assert due(1_700_000_000, 1_700_000_060) == "now (since 2023-11-14 22:13:20Z)"


def test_plural() -> None:
    assert [plural(number, "page") for number in (0, 1, 2000)] == ["0 pages", "1 page", "2,000 pages"]


def test_counts_put_the_most_frequent_first_and_leave_out_what_is_zero() -> None:
    assert counts({"scope": 3, "robots": 1200, "size": 3, "tls": 0}) == "robots 1,200, scope 3, size 3"
    assert counts({"a": 4, "b": 3, "c": 2, "d": 1}, most=2) == "a 4, b 3, others 3"
    assert counts({}) == ""


def test_foreign_text_cannot_steer_a_terminal() -> None:
    assert plain("Disallow: /\x1b[2J\x07\r\n\x9b1m\u202e") == "Disallow: /\\x1b[2J\\x07\\r\\n\\x9b1m\\u202e"
    assert plain("grüße \U0001f600") == "grüße \U0001f600"
    assert plain("\ud800") == "\\ud800"


def test_one_line() -> None:
    assert one_line("first\n  second\tthird \x1b") == "first second third \\x1b"
