"""What is wanted of a run is written down, and the command waits until every pipeline obeys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from parcahyd.cli import cluster_run
from parcahyd.cluster.runs import RUNNING, Runs, confirm
from tests.cli.cluster_of_test import ClusterOfTest
from tests.support.postgres import fresh_database

Output = pytest.CaptureFixture[str]


@pytest.fixture
def cluster(postgres: str, tmp_path: Path, capsys: Output) -> Iterator[ClusterOfTest]:
    """A run under way, with two partitions and a lease of 5 s."""
    with fresh_database(postgres) as url:
        made = ClusterOfTest(tmp_path, url)
        assert made("init", "--partitions", "2", "--lease", "5") == 0
        assert made("start", "https://a.example/") == 0
        capsys.readouterr()
        yield made


@pytest.fixture
def between_looks(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Puts a function in the place of the pause between two looks."""

    def replace(function: Callable[[], object]) -> None:
        monkeypatch.setattr(cluster_run, "time", SimpleNamespace(sleep=lambda _: function()))

    return replace


def run_of(cluster: ClusterOfTest) -> tuple[str, int, str | None]:
    ((wanted, version, outcome),) = cluster.rows("SELECT wanted, version, outcome FROM parcahyd_hub.runs")
    return wanted, version, outcome


def test_nobody_has_to_obey_where_nothing_is_held(cluster: ClusterOfTest, capsys: Output) -> None:
    assert cluster("pause") == 0
    assert capsys.readouterr().out == "Run 1 is paused. It stays paused until parcahyd cluster resume.\n"
    assert cluster("resume") == 0
    assert capsys.readouterr().out == "Run 1 goes on.\n"
    assert run_of(cluster) == ("running", 2, None)


def test_a_pause_waits_for_every_pipeline(cluster: ClusterOfTest, between_looks: Callable[..., None], capsys: Output) -> None:
    looks: list[str] = []
    with cluster.held(0) as first, cluster.held(1) as second:

        def obey() -> None:
            assert run_of(cluster) == ("paused", 1, None)
            looks.append("")
            if len(looks) == 1:
                confirm(first.fence, 1)
            else:
                second.renewer.give_back()

        between_looks(obey)
        assert cluster("pause") == 0
    assert len(looks) == 2


def test_a_stop_ends_the_run_when_all_obey(cluster: ClusterOfTest, between_looks: Callable[..., None], capsys: Output) -> None:
    with cluster.held(0) as held:
        between_looks(lambda: confirm(held.fence, 1))
        assert cluster("stop") == 0
    assert capsys.readouterr().out == "Run 1 is over: stopped.\n"
    assert run_of(cluster) == ("stopped", 1, "stopped")
    for words in (("stop",), ("pause",), ("resume",), ("block", "a.example"), ("unblock", "a.example")):
        assert cluster(*words) == 2
        assert capsys.readouterr().err == ("parcahyd: the run is over (begin another with: parcahyd cluster start)\n")


def test_a_silent_pipeline_is_ended_after_a_lease(
    cluster: ClusterOfTest, monkeypatch: pytest.MonkeyPatch, between_looks: Callable[..., None], capsys: Output
) -> None:
    now = 1000.0

    def pass_time() -> None:
        nonlocal now
        now += 0.5

    monkeypatch.setattr(cluster_run, "boot_time", lambda: now)
    between_looks(pass_time)
    with cluster.held(0):
        assert cluster("stop") == 0
    assert 5.0 <= now - 1000.0 <= 6.0
    assert run_of(cluster)[2] == "stopped"
    assert cluster.rows("SELECT token FROM parcahyd_hub.partitions WHERE id = 0") == [(None,)]


def test_an_interrupted_command_leaves_the_wish(
    cluster: ClusterOfTest, between_looks: Callable[..., None], capsys: Output
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    between_looks(interrupt)
    with cluster.held(0):
        assert cluster("pause") == 130
    assert capsys.readouterr().err == (
        "parcahyd: not waited for: it is noted that run 1 is paused, and the agents will obey (parcahyd cluster status "
        "shows how far they are)\n"
    )
    assert run_of(cluster) == ("paused", 1, None)


def test_a_run_that_ends_meanwhile_is_told(cluster: ClusterOfTest, between_looks: Callable[..., None], capsys: Output) -> None:
    between_looks(lambda: cluster.change("UPDATE parcahyd_hub.runs SET outcome = 'max-pages'"))
    with cluster.held(0):
        assert cluster("pause") == 0
    assert capsys.readouterr().out == "Run 1 is over: ended by MaxPages.\n"


def test_another_wish_ends_the_waiting(cluster: ClusterOfTest, between_looks: Callable[..., None], capsys: Output) -> None:
    with cluster.held(0) as held:
        between_looks(lambda: Runs(held.fence.writer).change(RUNNING))
        assert cluster("pause") == 2
    assert "somebody else wants the run to be running now" in capsys.readouterr().err


def test_hosts_are_blocked_and_stay_so_when_the_run_is_paused(cluster: ClusterOfTest, capsys: Output) -> None:
    assert cluster("block", "WWW.b.example", "https://a.example/x") == 0
    assert capsys.readouterr().out == "Run 1 sends nothing to a.example, www.b.example.\n"
    assert cluster("pause") == 0
    assert cluster("unblock", "a.example") == 0
    assert cluster.rows("SELECT blocked, wanted FROM parcahyd_hub.runs") == [("www.b.example", "paused")]
    assert cluster("unblock", "a.example") == 2
    assert "a.example is not blocked (blocked are www.b.example)" in capsys.readouterr().err
    assert cluster("block", "a/b") == 2
    assert '"a/b" is not a host' in capsys.readouterr().err
    assert run_of(cluster)[1] == 3


def test_before_the_first_run_there_is_nothing_to_pause(postgres: str, tmp_path: Path, capsys: Output) -> None:
    with fresh_database(postgres) as url:
        made = ClusterOfTest(tmp_path, url)
        made("init", "--partitions", "1")
        capsys.readouterr()
        assert made("pause") == 2
    assert capsys.readouterr().err == "parcahyd: no run has begun yet (parcahyd cluster start URL)\n"


def test_wait_returns_when_the_run_is_over(cluster: ClusterOfTest, between_looks: Callable[..., None], capsys: Output) -> None:
    between_looks(lambda: cluster.change("UPDATE parcahyd_hub.runs SET outcome = 'done'"))
    assert cluster("wait") == 0
    assert capsys.readouterr().out == "Run 1 is over: done.\n"
    assert cluster("wait") == 0
    assert capsys.readouterr().out == "No run is under way.\n"


def test_an_interrupted_wait_leaves_the_run(cluster: ClusterOfTest, between_looks: Callable[..., None], capsys: Output) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    between_looks(interrupt)
    assert cluster("wait") == 130
    assert capsys.readouterr().err == "parcahyd: not waited for: run 1 goes on\n"
    assert run_of(cluster) == ("running", 0, None)


def test_before_the_first_run_there_is_nothing_to_wait_for(tmp_path: Path, postgres: str, capsys: Output) -> None:
    with fresh_database(postgres) as url:
        made = ClusterOfTest(tmp_path, url)
        assert made("init", "--partitions", "1") == 0
        assert made("wait") == 2
    assert "no run has begun yet (parcahyd cluster start URL)" in capsys.readouterr().err
