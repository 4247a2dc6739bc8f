"""Commands, their help, exit codes (`cli/exit_codes.py`), and standard streams that are closed or full."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from parcahyd import __version__
from parcahyd.cli import application, main
from parcahyd.core.errors import ConfigurationError, RunFailure


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Puts a function in the place of `parcahyd status`."""

    def replace(function: Callable[[], object]) -> None:
        monkeypatch.setattr(application, "import_module", lambda _: SimpleNamespace(command=click.command()(function)))

    return replace


def _raising(error: BaseException) -> Callable[..., None]:
    def function(*_: object, **__: object) -> None:
        raise error

    return function


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: parcahyd [OPTIONS] [COMMAND]")


def test_the_help_lists_every_command_with_a_whole_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listing = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listing] == list(application.COMMANDS)
    assert all(line.endswith(".") and "..." not in line for line in listing)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"parcahyd {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["stats"], "parcahyd: there is no command 'stats' (did you mean 'status'?)"),
        (["frobnicate"], "parcahyd: there is no command 'frobnicate' (parcahyd --help lists them)"),
        (["show"], "parcahyd: missing argument 'URL' (see parcahyd show --help)"),
        (["completion", "tcsh"], "(see parcahyd completion --help)"),
        (["run", "--interval", "often"], "(see parcahyd run --help)"),
        (["run", "--interval"], "parcahyd: option '--interval' requires an argument (see parcahyd run --help)"),
        (["config", "--set", "Work.HostDelay=soon"], "parcahyd: --set Work.HostDelay=soon"),
    ],
)
def test_a_user_error_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert line in output.err
    assert output.err.startswith("parcahyd: ")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ConfigurationError("MaxSize is\nwrong", "make it 5"), 2, "parcahyd: MaxSize is wrong (make it 5)\n"),
        (RunFailure("Update Database has ended"), 1, "parcahyd: Update Database has ended\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_exit_codes(
    error: BaseException,
    code: int,
    line: str,
    command: Callable[[Callable[[], object]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    command(_raising(error))
    assert main(["status"]) == code
    assert capsys.readouterr().err == line


def test_a_commands_own_exit_code_is_kept(command: Callable[[Callable[[], object]], None]) -> None:
    command(lambda: 1)
    assert main(["status"]) == 1


def test_a_bug_is_a_traceback(command: Callable[[Callable[[], object]], None]) -> None:
    command(_raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["status"])


def test_a_reader_that_goes_away_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "parcahyd", "config"], stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device without room")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "parcahyd", "config"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("parcahyd: the output could not be written: ")


def test_an_interrupt_before_a_crawl_runs_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parcahyd.topology.crawl", _raising(KeyboardInterrupt()))
    assert main(["run", "http://a.example/"]) == 130


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("command", "code"), [("config", 0), ("config --json", 0), ("run", 2), ("frobnicate", 2)])
def test_closed_standard_streams_change_nothing(command: str, code: int, closed: str, tmp_path: Path) -> None:
    line = f'"{sys.executable}" -m parcahyd {command} {closed}'
    done = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device without room")
def test_the_exit_code_is_2_for_an_error_that_cannot_be_written() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "parcahyd", "frobnicate"], stderr=full, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize(("arguments", "shown"), [([], "\\u2192"), (["--json"], "\u2192")])
def test_a_terminal_of_few_characters(arguments: list[str], shown: str, tmp_path: Path) -> None:
    """JSON is UTF-8 whatever the terminal is."""
    folder = tmp_path / "\u2192"
    folder.mkdir()
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    command = [sys.executable, "-m", "parcahyd", "config", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"/{shown}/crawl.db".encode() in done.stdout
