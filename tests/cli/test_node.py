"""`parcahyd node`: what a newcomer may get wrong. How it crawls is tested in tests/cluster_lab."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.cli.application import run_command
from parcahyd.runtime.stop_signals import STOP_SIGNALS
from tests.cli.cluster_of_test import ClusterOfTest
from tests.support.crawl import Crawl
from tests.support.postgres import fresh_database
from tests.support.processes import TEST_TIMEOUT, wait_until


def test_signals_are_as_they_were_when_it_has_ended(capsys: pytest.CaptureFixture[str]) -> None:
    before = [signal.getsignal(number) for number in STOP_SIGNALS]
    assert _run(capsys, "--db", "postgresql://nobody@127.0.0.1:1/crawl")[0] == 2
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run_command(["node", *arguments])
    return code, capsys.readouterr().err


def test_a_database_that_no_other_machine_reaches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, said = _run(capsys, "--db", str(tmp_path / "crawl.db"))
    assert code == 2
    assert "a cluster needs a database that all its machines reach (use postgresql://HOST:PORT/NAME)" in said


def test_a_database_without_a_cluster(capsys: pytest.CaptureFixture[str], postgres: str) -> None:
    with fresh_database(postgres) as url:
        code, said = _run(capsys, "--db", url)
    assert code == 2
    assert "parcahyd cluster init" in said


@pytest.mark.parametrize("given", [[], ["--address", "192.0.2.7"]])
def test_an_address_that_is_not_in_list_ip(capsys: pytest.CaptureFixture[str], given: list[str]) -> None:
    code, said = _run(capsys, "--set", 'Map.ListIP=["192.0.2.1"]', "--set", 'Work.ListIP=["192.0.2.2"]', *given)
    assert code == 2
    assert "ListIP" in said
    assert "192.0.2" in said


def test_a_server_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = _run(capsys, "--db", "postgresql://nobody@127.0.0.1:1/crawl")
    assert code == 2
    assert "cannot open the database" in said


# --- tied to who started it ---------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(postgres: str, tmp_path: Path) -> Iterator[ClusterOfTest]:
    with fresh_database(postgres) as url:
        made = ClusterOfTest(tmp_path, url)
        assert made("init", "--partitions", "1") == 0
        yield made


def test_an_agent_gives_back_what_it_has_when_its_input_ends(cluster: ClusterOfTest) -> None:
    options = ["--conf", str(cluster.folder), "--name", "n1", "--address", "192.0.2.1", "--end-with-input"]
    with subprocess.Popen(
        [sys.executable, "-m", "parcahyd", "node", *options], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as agent:
        # It holds the planning lock.
        assert wait_until(lambda: cluster.rows("SELECT node FROM parcahyd_hub.partitions WHERE id < 0") == [("n1",)])
        assert agent.stdin is not None
        agent.stdin.write("this has no meaning\n")
        agent.stdin.flush()
        _, said = agent.communicate(timeout=TEST_TIMEOUT)
    assert agent.returncode == 130
    assert "stopping: who started this agent is gone; partitions are given back" in said
    assert cluster.rows("SELECT node FROM parcahyd_hub.partitions WHERE id < 0") == [(None,)]


def test_an_input_that_is_no_pipe_cannot_tell_its_end(cluster: ClusterOfTest) -> None:
    finished = Crawl(cluster.folder / "crawl", cluster.url).command("node", "--end-with-input")
    assert finished.code == 2
    assert "--end-with-input: standard input is no pipe" in finished.err
