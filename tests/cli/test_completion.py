from __future__ import annotations

import shutil
import subprocess

import pytest

from parcahyd.cli import main
from parcahyd.cli.application import COMMANDS, COMPLETE_VARIABLE


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert f"{COMPLETE_VARIABLE}={shell}_complete" in capsys.readouterr().out


def test_the_bash_script_is_bash(capsys: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    main(["completion", "bash"])
    script = capsys.readouterr().out
    subprocess.run([bash, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("parcahyd ", set(COMMANDS)),
        ("parcahyd urls --state ", {"known", "stored", "failed", "refused", "gone"}),
        ("parcahyd run --set work.hostc", {"Work.HostConnections="}),
        ("parcahyd run --set Work.Host", {"Work.HostConnections=", "Work.HostDelay=", "Work.HostShare="}),
        ("parcahyd completion f", {"fish"}),
    ],
)
def test_words_are_completed(
    words: str, expected: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(COMPLETE_VARIABLE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    assert main([]) == 0
    assert {line.partition(",")[2] for line in capsys.readouterr().out.split()} == expected
