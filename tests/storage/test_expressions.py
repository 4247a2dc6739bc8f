"""Text of strangers: whatever it holds, the database takes it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.storage.expressions import plain

_ANYTHING = st.text(st.characters(categories=None, exclude_categories=()))  # lone surrogates too


@given(_ANYTHING)
def test_plain_text_can_be_stored(text: str) -> None:
    assert "\0" not in plain(text)
    plain(text).encode()
    assert plain(plain(text)) == plain(text)


def test_plain_text_is_cut() -> None:
    assert plain("x" * 501) == "x" * 500
    assert plain("abc", 2) == "ab"
