"""From nothing to a crawl: `parcahyd init`, and the command that it prints."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

from parcahyd.sample.server import SampleServer
from tests.support.crawl import ROOT, Crawl
from tests.support.processes import TEST_TIMEOUT

LOOPBACK = ("--set", 'Map.AllowAddresses=["127.0.0.0/8"]', "--set", "Work.HostDelay=0")


def test_the_printed_command_crawls_and_goes_on(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "elsewhere")
    crawl.folder = tmp_path
    with SampleServer() as sample:
        made = crawl.command("init", "my crawl", sample.url, "--yes")
        assert made.code == 0, made.err
        program, *words = shlex.split(made.text.splitlines()[-1])
        assert program == "parcahyd"
        refused = crawl.command(*words)
        assert (refused.code, refused.err.count("AllowAddresses")) == (1, 2), "loopback is not public"
        done = crawl.command(*words, *LOOPBACK)
        assert done.code == 0, done.err
        crawl.conf = tmp_path / "my crawl"
        stored = crawl.stored()
        assert sample.url in stored
        assert len(stored) > 10
        again = crawl.command(*words, *LOOPBACK)
    assert again.code == 0
    assert "nothing is due before" in again.err
    assert (tmp_path / "my crawl" / "crawl.db").exists()


def test_questions_are_asked_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "parcahyd", "init", "mine"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdin=theirs, stdout=subprocess.PIPE) as process:
        os.close(theirs)
        os.write(ours, b"https://a.example/\nany\n2\nme@a.example\n")
        said, _ = process.communicate(timeout=TEST_TIMEOUT)
    os.close(ours)
    assert process.returncode == 0, said
    assert b"parcahyd run --conf mine\n" in said
    assert 'UserAgent = "parcahyd (+mailto:me@a.example)"' in (tmp_path / "mine" / "WorkConf.toml").read_text()
