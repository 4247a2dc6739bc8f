from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.cli.options import default_folder, read_configuration, time_argument
from parcahyd.core.errors import UserError
from tests.support.privileges import command_without_privileges

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


def test_without_conf_the_current_folder_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_folder() is None
    (tmp_path / "conf").mkdir()
    assert default_folder() is None
    (tmp_path / "conf" / "WorkConf.toml").write_text("HostDelay = 7\n")
    assert default_folder() == "conf"
    assert read_configuration(None, ["Map.MaxInstances=3"]).work.HostDelay == 7
    assert read_configuration(None, ["Map.MaxInstances=3"]).map.MaxInstances == 3


def test_a_folder_that_was_named_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, delay in (("conf", 1), ("other", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "WorkConf.toml").write_text(f"HostDelay = {delay}\n")
    assert read_configuration(Path("other"), []).work.HostDelay == 2


def test_the_built_in_defaults_store_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    configuration = read_configuration(None, [])
    assert Path(configuration.folder) == tmp_path
    assert configuration.sources == {}


def test_hints_go_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "MapConf.toml").write_text('DnsResloverClass = "system"\n')
    assert read_configuration(tmp_path, []).map.DnsResolverClass == "system"
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("parcahyd: hint: ")
    assert "DnsResolverClass" in output.err


def test_a_folder_that_may_not_be_read_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir(mode=0)
    result = command_without_privileges("config", folder=tmp_path)
    assert result.code == 2
    assert result.err.startswith("parcahyd: the folder conf cannot be read: Permission denied (make it readable")


def test_a_file_that_leads_to_itself_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "MapConf.toml").symlink_to("MapConf.toml")
    with pytest.raises(UserError, match="the folder conf cannot be read: Too many levels of symbolic links"):
        default_folder()
