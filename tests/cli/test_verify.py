from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.runtime.run_lock import RunLock

from .conftest import ROOT, Crawl


@pytest.fixture
def copy(crawl: Crawl, tmp_path: Path) -> Crawl:
    """The crawl, free to be damaged."""
    conf = tmp_path / "copy"
    shutil.copytree(crawl.conf, conf)
    return crawl._replace(conf=str(conf))


def _change(copy: Crawl, statement: str) -> None:
    with sqlite3.connect(f"{copy.conf}/crawl.db") as connection:
        assert connection.execute(statement).rowcount
    connection.close()


def test_a_sound_crawl(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("verify")) == 0
    assert capsys.readouterr().out == "Nothing was found: the database is as it must be.\n"
    assert main(crawl.arguments("verify", "--json")) == 0
    assert capsys.readouterr().out == ""


def test_a_finding_is_a_line_and_exit_code_1(copy: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    _change(copy, "UPDATE urls SET reason = 'robots' WHERE state = 4")
    assert main(copy.arguments("verify")) == 1
    assert capsys.readouterr().out == (
        f"state: {copy.site}kettles/steam-engine.html: A URL that is gone cannot have the reason robots.\n"
    )
    assert main(copy.arguments("verify", "--json")) == 1
    assert json.loads(capsys.readouterr().out)["kind"] == "state"


def test_head_does_not_hide_that_something_was_found(copy: Crawl) -> None:
    _change(copy, "UPDATE urls SET reason = 'robots' WHERE state = 4")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "parcahyd", *copy.arguments("verify")]
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(command, cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")


def test_open_visits_are_wrong_only_after_a_run_that_ended(copy: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    _change(copy, "UPDATE sites SET visit = 99 WHERE in_scope")
    assert main(copy.arguments("verify")) == 1
    assert capsys.readouterr().out.startswith("visit: ")
    _change(copy, "UPDATE runs SET ended_at = NULL, outcome = NULL")
    assert main(copy.arguments("verify")) == 0


def test_a_crawl_that_runs_can_be_verified(copy: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    _change(copy, "UPDATE sites SET visit = 99 WHERE in_scope")
    lock = RunLock(f"sqlite:///{copy.conf}/crawl.db", wait=0)
    try:
        assert main(copy.arguments("verify")) == 0
    finally:
        lock.release()
