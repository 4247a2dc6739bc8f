from __future__ import annotations

import json
from pathlib import Path

import pytest

from parcahyd.cli import main

PLUGIN = """
from parcahyd.plugins import hookimpl

@hookimpl
def parcahyd_downloaders():
    return {"slow": lambda conf, loop: None}
"""


@pytest.fixture
def conf(tmp_path: Path) -> str:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "WorkConf.toml").write_text('DownloaderClass = "slow"\n')
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "slow_one.py").write_text(PLUGIN)
    return str(tmp_path / "conf")


def test_who_answers_which_hook(conf: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "--conf", conf]) == 0
    output = capsys.readouterr().out
    resolvers, _, downloaders = output.partition("parcahyd_downloaders\n")
    assert "  dnspython   built-in, in use\n" in resolvers
    assert "  curl      built-in\n" in downloaders
    (own,) = (line for line in downloaders.splitlines() if line.startswith("  slow "))
    assert "slow_one.py, plugin slow_one, in use" in own
    assert "parcahyd_summarizers\n" in downloaders
    assert "  archives  built-in, in use\n" in downloaders


def test_a_name_that_nobody_provides(conf: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "--conf", conf, "--set", "Work.DownloaderClass=quick"]) == 0
    assert "  no plugin offers 'quick', which the configuration names\n" in capsys.readouterr().out


def test_json(conf: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "--conf", conf, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    in_use = {(one["hook"], one["name"]) for one in report if one["in_use"]}
    assert {one for one in in_use if one[0] in ("parcahyd_resolvers", "parcahyd_downloaders")} == {
        ("parcahyd_resolvers", "dnspython"),
        ("parcahyd_downloaders", "slow"),
    }
    assert {name for hook, name in in_use if hook == "parcahyd_orders"} == {"depth"}
    assert {name for hook, name in in_use if hook == "parcahyd_partitioners"} == {"hash"}
    assert {("parcahyd_summarizers", "pdf"), ("parcahyd_expanders", "archives")} <= in_use
