"""`parcahyd cluster status`: for people, for programs, and again and again."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from parcahyd.cli.cluster_status import status_lines
from parcahyd.cluster.overview import ClusterNow, NodeNow, PartitionNow, RunNow
from tests.cli.cluster_of_test import ClusterOfTest
from tests.support.postgres import fresh_database

Output = pytest.CaptureFixture[str]
NOW = 1_700_000_000.0
ROOT = Path(__file__).parents[2]

_HEADING = "partition  node  wanted  state         heard  pages  per s  requests  queued  mail  outbox  claims  owned  hosts"
_FIGURES = "0          n1    n1      crawling  0.4 s ago  1,200   12.5     1,300      40     3       0       1      4      2"
PARTITION = PartitionNow(
    id=0,
    node="n1",
    wanted="n1",
    pinned=False,
    epoch=1,
    beat=5,
    silent=0.4,
    idle=False,
    wanting=False,
    confirmed=2,
    pages=1200,
    pages_per_second=12.5,
    mail=3,
    outbox=0,
    claims_waiting=1,
    subjects=4,
    hosts=2,
    coming=2,
    leaving=1,
    waiting=5,
    report={"phase": "crawling", "requests": 1300, "queued": 40},
    reported=1.0,
)
RUN = RunNow(
    id=3,
    wanted="running",
    version=2,
    outcome=None,
    started_at=NOW - 60,
    ended_at=None,
    blocked=("b.example",),
    pages=1200,
    pages_per_second=12.5,
    max_pages=2000,
    max_pages_left=800,
)
NODE = NodeNow(name="n1", address="192.0.2.1", cores=4.0, memory=8e9, load=0.25, seen=2.0, draining=False, partitions=(0, 3))
CLUSTER = ClusterNow(
    id="abc", lease=20.0, incarnation=7, settled=True, planner="n1", at=NOW, run=RUN, nodes=(NODE,), partitions=(PARTITION,)
)


@pytest.fixture
def cluster(postgres: str, tmp_path: Path, capsys: Output) -> Iterator[ClusterOfTest]:
    with fresh_database(postgres) as url:
        made = ClusterOfTest(tmp_path, url)
        assert made("init", "--partitions", "2") == 0
        capsys.readouterr()
        yield made


def lines(**changes: object) -> list[str]:
    return list(status_lines(msgspec.structs.replace(CLUSTER, **changes), "postgresql://db/crawl"))


def partition_line(**changes: object) -> str:
    return lines(partitions=(msgspec.structs.replace(PARTITION, **changes),))[-1]


def test_a_cluster_at_work() -> None:
    assert lines() == [
        "cluster    abc in postgresql://db/crawl",
        "           1 partition, lease 20 s, n1 makes the plans",
        "run        number 3, started 2023-11-14 22:12:20Z, running after 1 min",
        "pages      1,200 stored, 12.5 per second; MaxPages leaves 800 of 2,000",
        "blocked    b.example",
        "",
        "node  address         seen  cores  load  memory  partitions",
        "n1    192.0.2.1  2.0 s ago      4   0.2  8.0 GB  0 3",
        "",
        _HEADING + "  moving  waiting",
        _FIGURES + "       3        5",
    ]


def test_a_cluster_without_a_run_and_without_machines() -> None:
    shown = lines(run=None, nodes=(), planner=None, settled=False)
    assert shown[1] == (
        "           1 partition, lease 20 s, nobody makes plans; nothing is taken for one lease, because the hub was restored "
        "or replaced"
    )
    assert shown[2:5] == [
        "run        none yet: parcahyd cluster start URL",
        "",
        "no node has joined yet: start the agent of each machine, parcahyd node",
    ]


def test_a_run_that_is_over() -> None:
    over = msgspec.structs.replace(RUN, outcome="max-pages", ended_at=NOW - 30, blocked=(), max_pages=None, max_pages_left=None)
    assert lines(run=over)[2:5] == [
        "run        number 3, started 2023-11-14 22:12:20Z, ended by MaxPages after 30 s",
        "pages      1,200 stored",
        "",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"node": None}, "0          -     n1      free       -  1,200"),
        ({"confirmed": 1}, "not yet obeying"),
        ({"wanting": True, "idle": True}, "wants pages"),
        ({"idle": True}, "  idle  "),
        ({"report": {}}, "  held  "),
        ({"report": {"phase": 7, "requests": "many"}}, "  held  "),
        ({"report": {"phase": "\x1b[2J"}}, "\\x1b[2J"),
        ({"wanted": "n2", "pinned": True}, "  n2 (moved)  "),
        ({"wanted": None}, "  n1    -  "),
    ],
)
def test_what_a_partition_does(changes: dict[str, object], words: str) -> None:
    assert words in partition_line(**changes)


def test_a_machine_that_is_drained_and_says_nothing_of_itself() -> None:
    bare = msgspec.structs.replace(NODE, draining=True, partitions=(), cores=None, memory=None, load=None)
    assert lines(nodes=(bare,))[-4] == "n1    192.0.2.1  2.0 s ago      -     -       -  - (drained)"


def test_a_real_cluster(cluster: ClusterOfTest, capsys: Output) -> None:
    assert cluster("start", "https://a.example/", "--set", "Work.MaxPages=5") == 0
    with cluster.held(1, "n7"):
        capsys.readouterr()
        assert cluster("status") == 0
        shown = capsys.readouterr().out
        assert "MaxPages leaves 5 of 5" in shown
        assert "\n1          n7    -" in shown
        assert cluster("status", "--json") == 0
        found = json.loads(capsys.readouterr().out)
    assert list(found)[:3] == ["database", "id", "lease"]
    assert found["database"].startswith("postgresql+psycopg://postgres@")
    assert [one["node"] for one in found["partitions"]] == [None, "n7"]
    assert sum(one["mail"] for one in found["partitions"]) == 1
    assert found["run"]["max_pages_left"] == 5
    assert found["run"]["pages_per_second"] == 0.0, "two looks were taken"


def test_watching_needs_a_terminal_or_a_program(cluster: ClusterOfTest, capsys: Output) -> None:
    assert cluster("status", "--watch") == 2
    assert "--watch needs a terminal (add --json" in capsys.readouterr().err


def command(cluster: ClusterOfTest, *words: str) -> list[str]:
    return [sys.executable, "-m", "parcahyd", "cluster", "status", "--conf", str(cluster.folder), *words]


def test_a_program_watches(cluster: ClusterOfTest) -> None:
    with subprocess.Popen(command(cluster, "--watch", "--json"), cwd=ROOT, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        seen = [json.loads(watching.stdout.readline()) for _ in range(3)]
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=60)
    assert watching.returncode == 130
    assert seen[0]["at"] < seen[1]["at"] < seen[2]["at"]


def test_a_person_watches(cluster: ClusterOfTest) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150", "LINES": "40"}
    with subprocess.Popen(command(cluster, "--watch"), cwd=ROOT, stdout=theirs, env=environment) as watching:
        os.close(theirs)
        shown = b""
        while shown.count(b"nobody makes plans") < 2:
            shown += os.read(ours, 65536)
        watching.send_signal(signal.SIGINT)
        watching.wait(timeout=60)
    os.close(ours)
    assert watching.returncode == 130
    assert b"none yet: parcahyd cluster start URL" in shown
