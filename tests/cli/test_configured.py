from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.cli.configured import default_folder, read_configuration
from parcahyd.core.errors import UserError
from tests.support.privileges import command_without_privileges


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
    told = command_without_privileges("config", folder=tmp_path)
    assert told.code == 2
    assert told.err.startswith("parcahyd: the folder conf cannot be read: Permission denied (make it readable")


def test_a_file_that_leads_to_itself_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "MapConf.toml").symlink_to("MapConf.toml")
    with pytest.raises(UserError, match="the folder conf cannot be read: Too many levels of symbolic links"):
        default_folder()
