"""Text of strangers: whatever it holds, the database takes it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.storage.values import plain, validator

_ANYTHING = st.text(st.characters(categories=None, exclude_categories=()))  # lone surrogates too


@given(_ANYTHING)
def test_plain_text_can_be_stored(text: str) -> None:
    assert "\0" not in plain(text)
    plain(text).encode()
    assert plain(plain(text)) == plain(text)


def test_plain_text_is_cut() -> None:
    assert plain("x" * 501) == "x" * 500
    assert plain("abc", 2) == "ab"


@given(_ANYTHING)
def test_a_validator_is_the_servers_own_or_none(text: str) -> None:
    assert validator(text) in (text, "")
    assert "\0" not in validator(text)


def test_usual_validators_pass() -> None:
    assert validator('W/"65f2-\u00e9"') == 'W/"65f2-\u00e9"'
    assert validator("x" * 4001) == ""
