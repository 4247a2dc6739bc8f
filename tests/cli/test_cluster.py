"""`parcahyd cluster`: the hub is made, runs begin, machines come and go, and mistakes are one line with a remedy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from parcahyd.cli import cluster_beginning, cluster_connection, cluster_hub, cluster_nodes, cluster_seeds, main
from parcahyd.cluster.connection import HubConnection
from parcahyd.core.errors import UserError
from tests.cli.cluster_of_test import ClusterOfTest
from tests.support.postgres import fresh_database

Output = pytest.CaptureFixture[str]
SEED = "https://a.example/"


@pytest.fixture
def cluster(postgres: str, tmp_path: Path) -> Iterator[ClusterOfTest]:
    """A configuration with a database that has no hub."""
    with fresh_database(postgres) as url:
        yield ClusterOfTest(tmp_path, url)


@pytest.fixture
def made(cluster: ClusterOfTest, capsys: Output) -> ClusterOfTest:
    assert cluster("init", "--partitions", "2", "--lease", "5") == 0
    capsys.readouterr()
    return cluster


def with_nodes(made: ClusterOfTest) -> ClusterOfTest:
    made.change("INSERT INTO parcahyd_hub.nodes VALUES ('n1', '192.0.2.1', '{}', 0), ('n2', '192.0.2.2', '{}', 0)")
    return made


def test_the_group_lists_its_commands(capsys: Output) -> None:
    assert main(["cluster"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.partition("Commands:\n")[2].splitlines()]
    modules = (cluster_hub, cluster_seeds, cluster_nodes)
    assert set(listed) > {name for module in modules for name in module.__all__}
    assert listed[:4] == ["init", "start", "seed", "status"]
    assert cluster_connection.__all__ == ["connected", "open_hub"]


# --- the hub ------------------------------------------------------------------------------------------------------------


def test_a_cluster_is_made_once(cluster: ClusterOfTest, capsys: Output) -> None:
    assert cluster("init") == 0
    output = capsys.readouterr()
    assert "has 4 partitions and a lease of 20 s" in output.out
    assert "parcahyd: hint: synchronous_commit is off" in output.err
    assert cluster.rows("SELECT id FROM parcahyd_hub.partitions ORDER BY id") == [(-1,), (0,), (1,), (2,), (3,)]
    assert cluster("init") == 2
    assert "has a cluster already" in capsys.readouterr().err


def test_partitions_are_four_for_each_machine_of_either_file(cluster: ClusterOfTest) -> None:
    lists = ('Map.ListIP=["192.0.2.1", "192.0.2.2"]', 'Work.ListIP=["192.0.2.2"]')
    assert cluster("init", *(word for one in lists for word in ("--set", one))) == 0
    assert cluster.rows("SELECT count(*) FROM parcahyd_hub.states") == [(2 * cluster_beginning.PER_MACHINE,)]


def test_what_cannot_hold_a_cluster_is_told(tmp_path: Path, cluster: ClusterOfTest, capsys: Output) -> None:
    assert main(["cluster", "init", "--db", str(tmp_path / "crawl.db")]) == 2
    assert "is a file (write DbUrl" in capsys.readouterr().err
    assert not (tmp_path / "crawl.db").exists()
    assert cluster("init", "--partitions", "900") == 2
    assert "900 partitions on 1 machine need" in capsys.readouterr().err
    assert cluster.rows("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'parcahyd%'") == [(0,)]


def test_without_psycopg_the_extra_is_named(cluster: ClusterOfTest, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert cluster("init") == 2
    assert "pip install 'parcahyd[postgres]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("start", SEED),
        ("seed", SEED),
        ("status",),
        ("pause",),
        ("resume",),
        ("stop",),
        ("block", "a.example"),
        ("unblock", "a.example"),
        ("drain", "n1"),
        ("move", "0", "n1"),
        ("leave", "n1"),
        ("migrate",),
        ("restored",),
        ("lease", "30"),
    ],
    ids=lambda words: words[0],
)
def test_a_database_without_a_cluster(cluster: ClusterOfTest, words: tuple[str, ...], capsys: Output) -> None:
    assert cluster(*words) == 2
    assert capsys.readouterr().err == (
        "parcahyd: this database has no cluster (make one with parcahyd cluster init, or check DbUrl or --db)\n"
    )


def test_another_version_of_the_program(made: ClusterOfTest, capsys: Output) -> None:
    made.change("UPDATE parcahyd_hub.cluster SET program = '9.9'")
    assert made("start", SEED) == 2
    assert "the cluster is of version 9.9" in capsys.readouterr().err


def test_the_tables_are_brought_up_to_date(made: ClusterOfTest, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    made.change("UPDATE parcahyd_hub.cluster SET program = '9.9'")
    seen: list[object] = []
    migrating = SimpleNamespace(migrate_partitions=seen.append)
    monkeypatch.setitem(sys.modules, "parcahyd.cluster.all_partitions", migrating)
    assert made("migrate") == 0
    assert capsys.readouterr().out == "The tables of 2 partitions are those of this version.\n"
    assert [type(hub) for hub in seen] == [HubConnection]
    assert made("lease", "30") == 0, "this version may use it now"


def test_tables_that_cannot_be_changed_stay_of_their_version(
    made: ClusterOfTest, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise UserError("partition 1 is at work on n1", "stop the cluster first")

    monkeypatch.setitem(sys.modules, "parcahyd.cluster.all_partitions", SimpleNamespace(migrate_partitions=refuse))
    made.change("UPDATE parcahyd_hub.cluster SET program = '9.9'")
    assert made("migrate") == 2
    assert "partition 1 is at work" in capsys.readouterr().err
    assert made.rows("SELECT program FROM parcahyd_hub.cluster") == [("9.9",)]


def test_a_restored_backup_is_another_incarnation(made: ClusterOfTest, capsys: Output) -> None:
    before = made.rows("SELECT incarnation FROM parcahyd_hub.cluster")
    assert made("restored") == 0
    assert "Partitions are taken again 5.0 s after" in capsys.readouterr().out
    assert made.rows("SELECT incarnation FROM parcahyd_hub.cluster") != before


def test_the_lease_is_changed_while_nothing_is_held(made: ClusterOfTest, capsys: Output) -> None:
    assert made("lease", "30") == 0
    assert capsys.readouterr().out == "The lease is 30 s.\n"
    with made.held(0):
        assert made("lease", "40") == 2
        assert "cannot be changed while partitions are held" in capsys.readouterr().err
    assert made.rows("SELECT lease FROM parcahyd_hub.cluster") == [(30.0,)]


# --- runs and seeds -----------------------------------------------------------------------------------------------------


def test_a_run_begins_with_its_seeds(made: ClusterOfTest, capsys: Output) -> None:
    (made.folder / "WorkConf.toml").write_text('Seeds = ["https://b.example/"]\nMaxPages = 9\n')
    assert made("start", SEED, "https://A.example:443/#top") == 0
    output = capsys.readouterr()
    assert output.out == (
        "Run 1 begins with 2 seeds.\nNo node has joined yet: start the agent of each machine, parcahyd node.\n"
    )
    assert made.rows("SELECT body FROM parcahyd_hub.mail ORDER BY body") == [(SEED.encode(),), (b"https://b.example/",)]
    assert made.rows("SELECT total FROM parcahyd_hub.quotas") == [(9,)]


def test_a_run_under_way_is_given_seeds_and_keeps_its_settings(made: ClusterOfTest, capsys: Output) -> None:
    with_nodes(made)
    assert made("start", SEED) == 0
    settings = made.rows("SELECT settings FROM parcahyd_hub.runs")
    capsys.readouterr()
    assert made("start", SEED, "https://b.example/") == 0
    assert capsys.readouterr().out == "Run 1 is under way; it is given 1 new seed.\n"
    assert made("start", "--set", "Work.HostDelay=7") == 0
    assert capsys.readouterr().out == (
        "Run 1 is under way; it is given 0 new seeds.\n"
        "It keeps the settings that it began with; those of the next run are read when that is started.\n"
    )
    assert made.rows("SELECT settings FROM parcahyd_hub.runs") == settings
    assert made("pause") == 0
    assert made("start") == 0
    assert "It is paused: parcahyd cluster resume" in capsys.readouterr().out


def test_a_later_run_takes_over_the_settings_of_the_crawl(made: ClusterOfTest, capsys: Output) -> None:
    assert made("start", SEED, "--set", "Work.MaxDepth=3") == 0
    made.change("UPDATE parcahyd_hub.runs SET outcome = 'done'")
    capsys.readouterr()
    assert made("start") == 0
    assert capsys.readouterr().err == "Work.MaxDepth = 3, as in the last run\n"
    records = [text for (text,) in made.rows("SELECT settings FROM parcahyd_hub.runs ORDER BY id")]
    assert all('"Work.MaxDepth":3' in text for text in records)


def test_what_no_run_takes_from_a_database_is_asked_for(made: ClusterOfTest, capsys: Output) -> None:
    assert made("start", SEED, "--set", 'Map.AllowAddresses=["192.168.7.0/24"]') == 0
    made.change("UPDATE parcahyd_hub.runs SET outcome = 'done'")
    capsys.readouterr()
    assert made("start") == 2
    assert "which no run takes from a database (repeat --set" in capsys.readouterr().err
    assert made("start", "--as-configured") == 0


def test_nothing_to_crawl(made: ClusterOfTest, capsys: Output) -> None:
    assert made("start") == 2
    assert capsys.readouterr().err == (
        "parcahyd: no seed is given, and the cluster has no URL yet (parcahyd cluster start URL)\n"
    )
    assert made.rows("SELECT count(*) FROM parcahyd_hub.runs") == [(0,)]


@pytest.mark.parametrize("command", ["start", "seed"])
@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("a.example", "https://a.example"),
        ("news://a.example/", 'nothing serves the scheme "news"'),
        ("file:///", "it is a document of one machine (crawl it there, with parcahyd run)"),
    ],
)
def test_wrong_seeds_change_nothing(made: ClusterOfTest, command: str, seed: str, said: str, capsys: Output) -> None:
    assert made("start", SEED) == 0
    capsys.readouterr()
    assert made(command, SEED, seed) == 2
    assert said in capsys.readouterr().err
    assert made.rows("SELECT count(*) FROM parcahyd_hub.seeds") == [(1,)]


def test_seeds_are_given_to_the_run_under_way(made: ClusterOfTest, capsys: Output) -> None:
    assert made("seed", SEED) == 2
    assert "no run has begun yet (parcahyd cluster start URL)" in capsys.readouterr().err
    assert made("start", SEED) == 0
    capsys.readouterr()
    assert made("seed", SEED, "https://b.example/") == 0
    assert capsys.readouterr().out == "The run is given 1 new seed; 1 it had before.\n"
    made.change("UPDATE parcahyd_hub.runs SET outcome = 'done'")
    assert made("seed", "https://c.example/") == 2
    assert "the run is over (begin another with: parcahyd cluster start)" in capsys.readouterr().err


# --- machines -----------------------------------------------------------------------------------------------------------


def test_machines_that_are_not_there(made: ClusterOfTest, capsys: Output) -> None:
    for words in (("drain", "n9"), ("move", "0", "n9"), ("leave", "n9")):
        assert made(*words) == 2
        assert 'no node "n9" (no node has joined yet' in capsys.readouterr().err
    with_nodes(made)
    assert made("move", "5", "n1") == 2
    assert "no partition 5 (they are numbered from 0 to 1)" in capsys.readouterr().err


def test_a_machine_is_drained_and_works_again(made: ClusterOfTest, capsys: Output) -> None:
    with_nodes(made)
    assert made("drain", "n1") == 0
    assert made("move", "0", "n1") == 2
    assert 'the node "n1" is drained' in capsys.readouterr().err
    assert made("drain", "n1", "--undo") == 0
    assert made("move", "0", "n1") == 0
    assert made.rows("SELECT partition, node, is_pinned FROM parcahyd_hub.wishes") == [(0, "n1", True)]


def test_a_machine_that_works_cannot_leave(made: ClusterOfTest, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    with_nodes(made)
    with made.held(1) as held:
        monkeypatch.setattr(cluster_nodes, "time", SimpleNamespace(sleep=lambda _: held.renewer.renew()))
        assert made("leave", "n1") == 2
    assert "node n1 is at work on 1 partition (first: parcahyd cluster drain n1)" in capsys.readouterr().err
    assert made.rows("SELECT count(*) FROM parcahyd_hub.nodes") == [(2,)]


def test_a_machine_that_is_gone_leaves_after_a_lease(made: ClusterOfTest, monkeypatch: pytest.MonkeyPatch) -> None:
    with_nodes(made)
    now = 1000.0

    def pass_time(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(cluster_nodes, "boot_time", lambda: now)
    monkeypatch.setattr(cluster_nodes, "time", SimpleNamespace(sleep=pass_time))
    with made.held(1):
        assert made("leave", "n1") == 0
    assert 5.0 <= now - 1000.0 <= 6.0
    assert made.rows("SELECT id FROM parcahyd_hub.nodes") == [("n2",)]
    assert made.rows("SELECT node, token FROM parcahyd_hub.partitions WHERE id = 1") == [(None, None)]
