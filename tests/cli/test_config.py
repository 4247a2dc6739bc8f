from __future__ import annotations

import json
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.config.loading import load
from parcahyd.config.schema import MapConf, WorkConf
from parcahyd.storage.store import Store


def test_every_setting_with_its_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "WorkConf.toml").write_text('# mine\nHostDelay = 2.5\nDbUrl = "sqlite:///mine.db"\n')
    assert main(["config", "--conf", str(tmp_path), "--set", "Work.MaxPages=9"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"# database  sqlite:///{tmp_path / 'mine.db'}"
    settings = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert len(settings) == len(MapConf.__struct_fields__) + len(WorkConf.__struct_fields__)
    assert settings["Work.HostDelay"] == ["2.5", "WorkConf.toml:2"]
    assert settings["Work.MaxPages"] == ["9", "--set"]
    assert settings["Map.MaxInstances"] == ["40", "default"]


def test_json_has_the_meaning_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "MapConf.toml").touch()
    assert main(["config", "--json", "--conf", str(tmp_path), "--set", "Map.DbPassword=secret"]) == 0
    output = capsys.readouterr().out
    assert "secret" not in output
    report = json.loads(output)
    assert report["folder"] == str(tmp_path)
    (delay,) = (setting for setting in report["settings"] if setting["name"] == "Work.HostDelay")
    assert delay["default"] == "1.0"
    assert delay["sentence"] == "Seconds between two requests to one host."


@pytest.mark.parametrize("key", ["HostDelay", "Work.HostDelay", "hostdelay"])
def test_one_setting_with_its_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str) -> None:
    (tmp_path / "WorkConf.toml").write_text("HostDelay = 2.5\n")
    assert main(["config", "--conf", str(tmp_path), key]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Work.HostDelay = 2.5",
        "  source   WorkConf.toml:1",
        "  default  1.0",
        "  takes    a number from 0 to 1000000000",
        "  meaning  Seconds between two requests to one host.",
    ]


def test_a_key_of_both_files_and_several_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "MapConf.toml").touch()
    assert main(["config", "--conf", str(tmp_path), "--json", "MaxInstances", "Work.Scope"]) == 0
    names = [setting["name"] for setting in json.loads(capsys.readouterr().out)["settings"]]
    assert names == ["Map.MaxInstances", "Work.MaxInstances", "Work.Scope"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("HostDelai", 'there is no setting "HostDelai" (did you mean Work.HostDelay?)'),
        ("Map.HostDelay", 'there is no setting "Map.HostDelay" (did you mean Work.HostDelay?)'),
        ("zzz", 'there is no setting "zzz" (`parcahyd config` lists them)'),
    ],
)
def test_a_key_that_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, message: str) -> None:
    (tmp_path / "MapConf.toml").touch()
    assert main(["config", "--conf", str(tmp_path), key]) == 2
    assert capsys.readouterr().err == f"parcahyd: {message}\n"


def _run_with(folder: Path, *overrides: str) -> str:
    """A database whose last run was given these settings."""
    file = folder / "crawl.db"
    with Store.open(f"sqlite:///{file}") as store:
        store.begin_run(load(None, overrides), 1.0)
    return str(file)


def test_what_a_run_would_take_over_is_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    database = _run_with(tmp_path, "Work.HostDelay=5", "Work.MaxDepth=3", "Work.MaxInstances=1")
    assert main(["config", "--db", database, "--set", "Work.MaxDepth=4"]) == 0
    out, err = capsys.readouterr()
    settings = {line.split()[0]: line.split(maxsplit=2)[1:] for line in out.splitlines()[2:]}
    assert settings["Work.HostDelay"] == ["5.0", "last run: --set"]
    assert settings["Work.MaxDepth"] == ["4", "--set"]
    assert settings["Work.MaxInstances"] == ["0", "default"]
    assert err == ""


def test_what_a_run_would_ask_to_be_repeated_is_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    database = _run_with(tmp_path, "Work.HostDelay=5", "Work.Cookies=true")
    assert main(["config", "--db", database, "HostDelay", "Cookies"]) == 0
    out, err = capsys.readouterr()
    assert "Work.HostDelay = 5.0\n  source   last run: --set\n" in out
    assert "Work.Cookies = false\n  source   default\n" in out
    assert err.startswith("parcahyd: hint: a run would stop: the last run was given Work.Cookies, which no run takes from a")
    assert err.count("\n") == 1


def test_a_database_that_cannot_be_read_is_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crawl.db").write_text("no database, but a text that is long enough to be taken for one" * 20)
    assert main(["config", "--db", str(tmp_path / "crawl.db"), "HostDelay"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Work.HostDelay = 1.0\n")
    assert err.startswith("parcahyd: hint: settings of the last run are not shown: ")
