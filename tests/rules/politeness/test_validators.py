"""Validators: what is taken from an answer, and what goes into the next request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.politeness.validators import MAX_VALIDATOR, conditional_headers, validator

ACCEPTED = [
    '"abc"',
    'W/"abc"',
    'w/"abc"',
    '""',
    '"a b,c;d=\\e"',
    "abc-123",
    "W/abc",
    "5f3-60a*",
    "**",
    "Wed, 21 Oct 2015 07:28:00 GMT",
    "0",
    '"' + "x" * (MAX_VALIDATOR - 2) + '"',
]


@pytest.mark.parametrize("value", ACCEPTED)
def test_what_is_safe_goes_back_as_it_came(value: str) -> None:
    assert validator(value) == value


REFUSED = [
    "",
    " ",
    "*",
    ' "abc"',
    '"abc" ',
    '"abc',
    'abc"',
    '"a"b"',
    '"a", "b"',
    '"café\x01"',
    '"café"',
    '"a\r\nHost: other.example"',
    '"a\n"',
    '"abc"\n',
    "abc\n",
    '"a\tb"',
    '"a\x7fb"',
    '"a\0b"',
    '"\udce9"',
    '"' + "x" * (MAX_VALIDATOR - 1) + '"',
    "x" * 1_000_000,
]


@pytest.mark.parametrize("value", REFUSED)
def test_everything_else_counts_as_none(value: str) -> None:
    assert validator(value) == ""


@given(st.text(max_size=30) | st.text('W/"* ,x\n', max_size=8))
def test_what_is_sent_is_printable_and_never_every_version(value: str) -> None:
    taken = validator(value)
    assert taken in ("", value)
    assert taken.isascii()
    assert taken.isprintable()
    assert taken == taken.strip()
    assert taken != "*"


def test_a_request_names_the_validators_that_there_are() -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    assert conditional_headers('"a"', date) == (("If-None-Match", '"a"'), ("If-Modified-Since", date))
    assert conditional_headers("", date) == (("If-Modified-Since", date),)
    assert conditional_headers('"a"', "") == (("If-None-Match", '"a"'),)
    assert conditional_headers("", "") == ()


def test_what_was_stored_before_the_rule_is_not_sent() -> None:
    assert conditional_headers('"café\x01"', "x\r\ny: z") == ()
