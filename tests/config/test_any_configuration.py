"""Whatever stands in a file or behind `--set` is loaded, or refused in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parcahyd.config.explaining import toml_text
from parcahyd.config.loading import Statement, load, statements
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import ConfigurationError

quick = settings(deadline=None, max_examples=100, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
_texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20)
_harmless = st.text("abc =[]{}#',.\\nHostDelay\n", max_size=30)


def _basic(text: str) -> str:
    return toml_text(text)


def _long_basic(text: str) -> str:
    return '"""\n' + text.replace("\\", "\\\\") + ' "quoted" \\"""" '


def _long_literal(text: str) -> str:
    return "'''" + text.replace("'", "") + "'''''"


_values = st.one_of(
    st.integers().map(str),
    _texts.map(_basic),
    _harmless.map(_long_basic),
    _harmless.map(_long_literal),
    st.lists(_texts.map(_basic), max_size=4).map(
        lambda items: "[" + ",".join(f"\n  # ] = [\n  {item}" for item in items) + "\n]"
    ),
    st.lists(_harmless.map(_long_literal), max_size=3).map(lambda items: "[[" + ",\n".join(items) + "], []]"),
    _texts.map(lambda text: f'{{ a = {_basic(text)}, "b]" = [1,\n2] }}'),
)
_between = st.sampled_from(["", "\n", "# HostDelay = [\n", " \t\n", '\n\n# """\n'])
_keys = st.one_of(
    st.text("abcXYZ019_-", min_size=1, max_size=8).map(lambda key: (key, key)),
    _texts.map(lambda key: (key, _basic(key))),
)


@quick
@given(
    st.lists(
        st.tuples(_keys, _values, _between, st.sampled_from(["", " # note [", "  "])),
        unique_by=lambda one: one[0][0],
        max_size=8,
    )
)
def test_statements_find_each_key_on_its_own_line(parts: list[tuple[tuple[str, str], str, str, str]]) -> None:
    text, expected = "", []
    for (key, written), value, between, after in parts:
        text += between
        expected.append(Statement(key, text.count("\n") + 1, is_table=False))
        text += f"{written} = {value}{after}\n"
    assert list(tomllib.loads(text)) == [statement.key for statement in expected]
    assert list(statements(text)) == expected
    assert list(statements(text.replace("\n", "\r\n"))) == expected
    lines = text.count("\n")
    heading = Statement("[a.b]", lines + 1, is_table=True, table=1)
    below = [
        Statement("key", lines + 2, False, 1),
        Statement("[[c]]", lines + 3, True, 2),
        Statement("key", lines + 4, False, 2),
    ]
    assert list(statements(text + " [a.b] # c\nkey = 1\n[[c]]\nkey = [\n]")) == [*expected, heading, *below]


@quick
@given(st.text("ab\"'[]{}=#\\.\n ", max_size=60))
def test_statements_agree_with_tomllib_on_whatever_it_accepts(text: str) -> None:
    found = list(statements(text))
    assert [one.line for one in found] == sorted(one.line for one in found)
    try:
        keys = list(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return
    if not any(one.is_table for one in found):
        assert list(dict.fromkeys(one.key for one in found)) == keys


def _loaded_or_refused(folder: Path | None, *overrides: str) -> Configuration | str:
    try:
        return load(folder, overrides)
    except ConfigurationError as mistake:
        return str(mistake)


def _is_valid_or_one_line(result: Configuration | str) -> bool:
    if isinstance(result, str):
        return result.isprintable()
    return msgspec.convert(msgspec.to_builtins(result), Configuration) == result


@quick
@given(st.one_of(st.binary(max_size=80), st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_file_is_loaded_or_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "WorkConf.toml").write_bytes(content)
    assert _is_valid_or_one_line(_loaded_or_refused(tmp_path))


_names = [f"{which}.{key}" for which, conf in (("Map", MapConf), ("Work", WorkConf)) for key in conf.__struct_fields__]


@quick
@given(st.sampled_from(_names), st.text(st.characters(), max_size=30))
def test_any_value_of_an_override_is_taken_or_refused_in_one_line(name: str, value: str) -> None:
    assert _is_valid_or_one_line(_loaded_or_refused(None, f"{name}={value}"))


@quick
@given(st.text(st.characters(), max_size=30))
def test_any_override_is_taken_or_refused_in_one_line(text: str) -> None:
    assert _is_valid_or_one_line(_loaded_or_refused(None, text))


@quick
@given(
    st.one_of(
        st.tuples(st.just("Work.HostDelay"), st.floats(0, 1e9)),
        st.tuples(st.just("Work.MaxBytes"), st.integers(1, 2**63 - 1)),
        st.tuples(st.just("Work.KeepLinks"), st.booleans()),
        st.tuples(st.just("Work.DownloaderClass"), _texts),
        st.tuples(st.just("Work.ListIP"), st.lists(_texts, max_size=4).map(tuple)),
    )
)
def test_what_toml_text_writes_an_override_reads(setting: tuple[str, object]) -> None:
    name, value = setting
    assert getattr(load(None, [f"{name} = {toml_text(value)}"]).work, name.removeprefix("Work.")) == value
