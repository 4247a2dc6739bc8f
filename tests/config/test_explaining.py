from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.config import explaining
from parcahyd.config.database_url import DATABASE_KEYS
from parcahyd.config.explaining import (
    Conf,
    declared,
    declared_of_host,
    explain,
    main,
    plain,
    render_conf,
    render_docs,
    shown,
    toml_text,
)
from parcahyd.config.loading import load
from parcahyd.config.schema import Configuration, HostRule, MapConf, WorkConf

ROOT = Path(__file__).parents[2]
CONFS: tuple[Conf, ...] = ("Map", "Work")
STRUCTS = {"Map": MapConf, "Work": WorkConf}


# What is written down follows from the schema


@pytest.mark.parametrize("which", CONFS)
def test_the_shipped_conf_file_is_the_rendered_one(which: Conf) -> None:
    assert (ROOT / "conf" / f"{which}Conf.toml").read_text() == render_conf(which), (
        f"python -m parcahyd.config conf {which} > conf/{which}Conf.toml"
    )


def test_the_page_of_settings_is_the_rendered_one() -> None:
    assert (ROOT / "docs" / "settings.md").read_text() == render_docs(), "python -m parcahyd.config docs > docs/settings.md"


@pytest.mark.parametrize("which", CONFS)
def test_every_key_has_a_sentence_and_a_kind(which: Conf) -> None:
    settings_of = declared(which)
    assert list(settings_of) == list(STRUCTS[which].__struct_fields__)
    for setting in settings_of.values():
        assert setting.sentence.endswith("."), setting.key
        assert setting.sentence[0].isupper() or setting.sentence.startswith("zlib"), setting.key
        assert setting.kind, setting.key


@pytest.mark.parametrize("which", CONFS)
def test_a_rendered_conf_has_every_key_with_its_default_and_sentence(which: Conf) -> None:
    text = render_conf(which)
    live = tomllib.loads(text)
    flowing = " ".join(line.removeprefix("# ") for line in text.splitlines())
    for key, setting in declared(which).items():
        if key == "Host":
            assert key not in live
            for inner in declared_of_host().values():
                assert f"{inner.key}: {inner.kind}. " in flowing
        elif setting.default is None:
            assert key not in live
            assert f"\n# {key} = ...  # {setting.kind}\n" in text
        elif which == "Work" and key in DATABASE_KEYS:
            assert key not in live
            assert f"\n# {key} = {toml_text(setting.default)}\n" in text
            continue
        else:
            assert live.pop(key) == (list(setting.default) if isinstance(setting.default, tuple) else setting.default)
        assert setting.sentence in flowing
    assert live == {}


@pytest.mark.parametrize("which", CONFS)
def test_keys_stand_in_the_order_of_the_schema_under_a_heading(which: Conf) -> None:
    lines = render_conf(which).splitlines()
    above = lines[: lines.index("# [[Host]]")] if "# [[Host]]" in lines else lines
    keys = [line.removeprefix("# ").split(" = ")[0] for line in above if " = " in line]
    assert keys == [key for key in STRUCTS[which].__struct_fields__ if key != "Host"]
    assert max(map(len, lines)) <= 100


def test_work_conf_is_grouped() -> None:
    titles = [line.strip("#- ") for line in render_conf("Work").splitlines() if line.startswith("# ---- ")]
    assert titles == [
        "Database",
        "Downloader",
        "Seeds and scope",
        "Traps",
        "Politeness",
        "Workers",
        "Time limits and trust",
        "Retries and revisits",
        "Storage and stopping",
        "Single hosts",
    ]


def test_the_page_has_a_row_for_every_key() -> None:
    page = render_docs()
    for which in CONFS:
        part = page.partition(f"## {which}Conf.toml")[2]
        for key, setting in declared(which).items():
            assert f"\n| `{key}` | {setting.kind}" in part
            assert f" | {setting.sentence} |\n" in part


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["conf", "Map"], render_conf("Map")),
        (["conf", "Work"], render_conf("Work")),
        (["docs"], render_docs()),
    ],
)
def test_the_module_prints_them(arguments: list[str], output: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out == output


@pytest.mark.parametrize("arguments", [[], ["conf"], ["conf", "Wrok"], ["docs", "x"]])
def test_the_module_says_how_it_is_used(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: ")


def test_the_module_runs() -> None:
    command = [sys.executable, "-m", "parcahyd.config", "conf", "Map"]
    assert subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout == render_conf("Map")


# What is in force


def test_explain_tells_every_setting_with_its_source(tmp_path: Path) -> None:
    (tmp_path / "WorkConf.toml").write_text("\nHostDelay = 0\n")
    lines = {line.name: line for line in explain(load(tmp_path, ["Map.AllowAddresses=['10.0.0.0/8']"]))}
    assert list(lines) == [f"{which}.{key}" for which in CONFS for key in STRUCTS[which].__struct_fields__]
    delay = lines["Work.HostDelay"]
    assert (delay.value, delay.default, delay.source, delay.kind) == (
        "0.0",
        "1.0",
        "WorkConf.toml:2",
        "a number from 0 to 1000000000",
    )
    assert delay.sentence == "Seconds between two requests to one host."
    allowed = lines["Map.AllowAddresses"]
    assert (allowed.value, allowed.default, allowed.source) == ('["10.0.0.0/8"]', "[]", "--set")
    depth = lines["Work.MaxDepth"]
    assert (depth.value, depth.default, depth.source) == ("unset", "unset", "default")
    assert depth.kind == "a whole number of at least 0, or unset"


def test_explain_hides_passwords() -> None:
    def values(conf: MapConf) -> dict[str, str]:
        return {line.name: line.value for line in explain(Configuration(map=conf, work=WorkConf()))}

    hidden = values(MapConf(DbUrl="postgresql://u:s3cret@h/db", DbPassword="s3cret"))
    assert hidden["Map.DbUrl"] == '"postgresql://u:***@h/db"'
    assert hidden["Map.DbPassword"] == '"***"'
    assert values(MapConf(DbPassword="env:NAME"))["Map.DbPassword"] == '"env:NAME"'
    assert values(MapConf())["Map.DbPassword"] == '""'


def test_explain_hides_the_secrets_of_hosts() -> None:
    work = WorkConf(
        Proxy="http://u:s3cret@proxy.test:1",
        Host=(
            HostRule(Pattern="a.test", Credentials="u:s3cret", Proxy="http://u:s3cret@p.test:1", Delay=2.0),
            HostRule(
                Pattern="b.test", Credentials="env:LOGIN", Headers={"Accept-Language": "pt", "X-Key": "s3cret", "Y": "env:Y"}
            ),
        ),
    )
    values = {line.name: line.value for line in explain(Configuration(map=MapConf(), work=work))}
    assert values["Work.Proxy"] == '"http://u:***@proxy.test:1"'
    assert tomllib.loads(f"x = {values['Work.Host']}")["x"] == [
        {"Pattern": "a.test", "Credentials": "***", "Proxy": "http://u:***@p.test:1", "Delay": 2.0},
        {"Pattern": "b.test", "Credentials": "env:LOGIN", "Headers": {"Accept-Language": "pt", "X-Key": "***", "Y": "env:Y"}},
    ]


def test_every_key_of_a_host_has_a_sentence_and_a_row() -> None:
    page = render_docs().partition("### [[Host]]")[2]
    assert list(declared_of_host()) == list(HostRule.__struct_fields__)
    for setting in declared_of_host().values():
        assert f"| `{setting.key}` | {setting.kind} | {setting.sentence} |" in page


def test_kinds_in_words() -> None:
    kinds = {key: setting.kind for key, setting in declared("Work").items()}
    assert kinds["CompressionLevel"] == "a whole number from 1 to 9"
    assert kinds["BufferBytes"] == "a whole number of at least 65536"
    assert kinds["Scope"] == 'one of "any", "domain", "site"'
    assert kinds["Seeds"] == "a list of texts"
    assert kinds["CaFile"] == "text"
    assert kinds["Embedded"] == "true or false"


# Values as text

_values = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=150, database=None)
@given(_values)
def test_toml_reads_what_toml_text_writes_in_one_line(value: object) -> None:
    text = toml_text(value)
    assert text.isprintable()
    assert tomllib.loads(f"value = {text}")["value"] == value


def test_messages_stay_short_and_in_one_line() -> None:
    assert shown("a" * 500) == '"' + "a" * 79 + "..."
    assert shown(("a", 1)) == '["a", 1]'
    assert plain("a\nb\u2028") == "a\\u000Ab\\u2028"
    assert plain("caf\u00e9") == "caf\u00e9"
    assert len(plain("a" * 500)) == 83


def test_what_is_exported() -> None:
    assert all(hasattr(explaining, name) for name in explaining.__all__)
