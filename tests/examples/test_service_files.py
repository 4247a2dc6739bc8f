"""The systemd units and the container file: what can be checked without a service manager and without an image builder."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.config.schema import WorkConf
from parcahyd.processes import agent, coordinator

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "examples" / "systemd" / "parcahyd.service"
NODE_UNIT = ROOT / "examples" / "systemd" / "parcahyd-node.service"
CONTAINER = ROOT / "examples" / "Containerfile"


def _joined(path: Path) -> list[str]:
    """The lines that say something, with continued lines in one."""
    text = re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8"))
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _settings(unit: Path = UNIT) -> dict[str, str]:
    return dict(line.split("=", 1) for line in _joined(unit) if "=" in line)


@pytest.mark.parametrize("unit", [UNIT, NODE_UNIT], ids=lambda unit: unit.stem)
def test_systemd_accepts_the_unit(unit: Path, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    program = shlex.split(_settings(unit)["ExecStart"])[0]
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text(encoding="utf-8").replace(program, sys.executable))  # The program must be there.
    done = subprocess.run([analyze, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False, timeout=120)
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if unit.name in line]
    assert complaints == []


def test_the_command_of_the_unit_can_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(_settings()["ExecStart"])[1:]
    assert words[0] == "run"
    assert main(["run", *words[1:], "--help"]) == 0
    (tmp_path / "WorkConf.toml").write_text("")
    at = words.index("--conf")
    chosen = [word for pair in pairwise(words) if pair[0] == "--set" for word in pair]
    assert main(["config", "--conf", str(tmp_path), *chosen]) == 0
    assert words[at + 1] == "/etc/parcahyd"
    assert "sqlite:////var/lib/parcahyd/crawl.db" in capsys.readouterr().out


def test_the_unit_waits_for_a_clean_stop_and_takes_it_for_one() -> None:
    settings = _settings()
    assert settings["SuccessExitStatus"] == str(coordinator._EXIT_INTERRUPTED)
    assert float(settings["TimeoutStopSec"]) > WorkConf().StopTimeout + coordinator._GRACE
    assert settings["RestartPreventExitStatus"] == "2"


def test_the_command_of_the_node_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(_settings(NODE_UNIT)["ExecStart"])[1:]
    assert words[:3] == ["node", "--conf", "/etc/parcahyd"]
    assert main([*words, "--help"]) == 0
    assert "Take part in a cluster" in capsys.readouterr().out


def test_the_node_comes_back_whatever_happens_and_may_give_its_partitions_back() -> None:
    settings = _settings(NODE_UNIT)
    assert settings["SuccessExitStatus"] == str(agent._EXIT_INTERRUPTED)
    assert float(settings["TimeoutStopSec"]) > WorkConf().StopTimeout + agent._GRACE
    assert (settings["Restart"], settings["KillMode"]) == ("always", "mixed"), "the agent is signalled, and stops the rest"
    assert "RestartPreventExitStatus" not in settings


def test_what_a_crawler_does_not_need_is_taken_from_both_units() -> None:
    own = {"Description", "ExecStart", "EnvironmentFile", "KillMode", "Restart", "RestartSec", "RestartPreventExitStatus"}
    one, node = ({key: value for key, value in _settings(unit).items() if key not in own} for unit in (UNIT, NODE_UNIT))
    assert one == node


def test_the_container_is_not_root_and_gets_signals_itself() -> None:
    instructions = [(line.split()[0], line.split(maxsplit=1)[1]) for line in _joined(CONTAINER)]
    stages = [index for index, (name, _) in enumerate(instructions) if name == "FROM"]
    last = instructions[stages[-1] :]
    values = dict(last)
    assert {name for name, _ in instructions} <= {
        "ARG",
        "FROM",
        "RUN",
        "COPY",
        "ENV",
        "USER",
        "WORKDIR",
        "VOLUME",
        "ENTRYPOINT",
        "CMD",
    }
    assert int(values["USER"]) > 0
    assert f"--uid {values['USER']} " in values["RUN"]
    assert values["VOLUME"] == values["WORKDIR"] == "/crawl"
    assert json.loads(values["ENTRYPOINT"]) == ["parcahyd"]  # Words, no shell.
    assert json.loads(values["CMD"]) == ["--help"]
    assert [name for name, _ in last].index("USER") < [name for name, _ in last].index("ENTRYPOINT")
    assert "gcc" not in values["RUN"]


def test_the_container_copies_files_that_are_there_and_all_that_the_package_is_built_from() -> None:
    copied = [line.split()[1:-1] for line in _joined(CONTAINER) if line.startswith("COPY ") and "--from" not in line]
    names = {name for line in copied for name in line}
    assert all((ROOT / name).exists() for name in names)
    assert names == {"LICENSE", "README.md", "pyproject.toml", "setup.py", "parcahyd"}
