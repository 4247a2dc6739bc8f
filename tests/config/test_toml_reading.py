"""What is read without TOML's reader is what that would have read."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parcahyd.config.toml_reading import read_toml, read_value

_WORDS = ["true", "false", "null", "inf", "nan", "a = 1", "\\u0041", "1e5", '"ü"', "\x85", "\ud800"]
_pieces = st.sampled_from([*"\"[],{}\\ \t\n'#-+._0123456789eE", *_WORDS])
_texts = st.lists(_pieces, max_size=8).map("".join)


def _by_tomllib(text: str) -> object:
    parsed = tomllib.loads(f"value = {text}")
    return parsed["value"] if parsed.keys() == {"value"} else text


@settings(deadline=None, max_examples=500, database=None)
@given(_texts)
@example("0")
@example("-0.0")
@example("1e400")
@example("1e-400")
@example("123456789012345678901234567890")
@example('["a", [1, 2.5, true], ""]')
@example("null")
@example('{"a": 1}')
@example('"\\u0041\\/"')
@example("[" * 3000 + "]" * 3000)
def test_a_value_is_what_toml_says(text: str) -> None:
    try:
        expected = _by_tomllib(text)
    except (ValueError, RecursionError):
        with pytest.raises((ValueError, RecursionError)):
            read_value(text)
    else:
        found = read_value(text)
        assert repr(found) == repr(expected)


@pytest.mark.parametrize("text", ["", "\n", " \t\n\n", "a = 1\n", "\r\n", "# nothing\n"])
def test_a_text_is_what_toml_says(text: str) -> None:
    assert read_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ["\x0b", "\x0c", "\r", "\xa0", "a"])
def test_a_text_that_is_not_toml_is_refused(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        read_toml(text)


def test_plain_values_do_not_load_the_reader() -> None:
    code = """
import sys
from parcahyd.config.toml_reading import read_toml, read_value
assert read_toml("") == {}
assert [read_value(text) for text in ('0', '2.5', 'true', '"a"', '["127.0.0.0/8"]')] == [0, 2.5, True, "a", ["127.0.0.0/8"]]
sys.exit("tomllib" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
