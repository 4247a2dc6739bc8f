"""`parcahyd run` with LocalInstance = false, without Ray: what is refused, and what it makes, shows and ends with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from parcahyd import crawl, load_configuration
from parcahyd.cli import main, run_on_cluster
from parcahyd.cli.cluster_beginning import make_hub
from parcahyd.core.errors import UserError
from parcahyd.processes.ray_placement import AgentNews, Placed, RayPlacement
from tests.support.postgres import fresh_database

Output = pytest.CaptureFixture[str]
SEED = "https://a.example/"


class PlacementDouble:
    """Stands for Ray: agents of nobody. `steps` are called in turn instead of the pauses between two looks."""

    def __init__(self) -> None:
        self.is_own = False
        self.is_lost = False
        self.placed = Placed("192.0.2.1:6379", ("192.0.2.1", "192.0.2.2"), ("192.0.2.2",))
        self.asked: list[Any] = []
        self.waiting: list[AgentNews] = []
        self.removed: list[dict[str, Any]] = []
        self.steps: list[Callable[[], object]] = []

    def begin(self, cluster: str, places: list[Any]) -> PlacementDouble:
        self.asked = [cluster, *places]
        return self

    def news(self) -> list[AgentNews]:
        found, self.waiting = self.waiting, []
        return found

    def remove(self, **how: Any) -> None:
        self.removed.append(how)

    def close(self) -> None:
        """Ray stays."""

    def step(self, _: float) -> None:
        self.steps.pop(0)()


class ClusterRun:
    """`parcahyd run` on a configuration folder whose database is empty."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.ray = PlacementDouble()
        (folder / "MapConf.toml").write_text(f'DbUrl = "{url}"\nListIP = ["192.0.2.1"]\n')
        (folder / "WorkConf.toml").write_text('LocalInstance = false\nListIP = ["192.0.2.2", "192.0.2.1"]\n')

    def __call__(self, *words: str) -> int:
        return main(["run", "--conf", str(self.folder), *words])

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(text.encode()).fetchall()

    def finish(self, outcome: str = "done", pages: int = 3) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute("UPDATE parcahyd_hub.states SET pages = %s WHERE partition = 0", (pages,))
            connection.execute("UPDATE parcahyd_hub.runs SET outcome = %s, ended_at = started_at + 1", (outcome,))


@pytest.fixture
def run(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterRun]:
    with fresh_database(postgres) as url:
        made = ClusterRun(tmp_path, url)
        monkeypatch.setattr(RayPlacement, "begin", made.ray.begin)
        monkeypatch.setattr("parcahyd.processes.ray_placement.find_spec", lambda name: name)
        monkeypatch.setattr(
            run_on_cluster, "time", SimpleNamespace(sleep=made.ray.step, time=lambda: 1e9, monotonic=lambda: 0.0)
        )
        yield made


# --- what is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--db", "crawl.db"), "several machines cannot share a file as their database (write DbUrl = "),
        (("--set", "Map.MaxInstances=3"), "Map.MaxInstances: --set reaches no other machine (write it into"),
        (("--set", 'Map.AllowAddresses=["10.0.0.0/8"]'), "Map.AllowAddresses: --set reaches no other machine"),
        (("--set", 'Map.ListIP=["192.0.2.9"]'), "Map.ListIP: --set reaches no other machine"),
        (("--refresh",), "--refresh is not for a cluster"),
        (("file:///etc/passwd",), "it is a document of one machine"),
        (("--interval", "nan"), "is not a valid number of seconds"),
    ],
)
def test_what_no_cluster_can_do_is_refused(run: ClusterRun, capsys: Output, words: tuple[str, ...], message: str) -> None:
    assert run(*words, SEED) in (1, 2)
    assert message in capsys.readouterr().err
    assert run.ray.asked == []
    assert run.rows("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'parcahyd%'") == [(0,)]


def test_a_cluster_needs_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, run: ClusterRun) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert main(["run", SEED, "--db", run.url, "--set", "Work.LocalInstance=false"]) == 2
    assert "(name a folder that every machine has, with --conf DIR)" in capsys.readouterr().err


def test_without_the_extra_it_is_named(run: ClusterRun, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr("parcahyd.processes.ray_placement.find_spec", lambda _: None)
    assert run(SEED) == 2
    assert "pip install 'parcahyd[cluster]'" in capsys.readouterr().err


def test_one_machine_is_never_detached(run: ClusterRun, capsys: Output) -> None:
    assert run("--set", "Work.LocalInstance=true", "--detached", SEED) == 2
    assert "--attached and --detached are for a cluster" in capsys.readouterr().err


def test_a_ray_of_its_own_cannot_be_detached_from(run: ClusterRun, capsys: Output) -> None:
    run.ray.is_own = True
    assert run("--detached", SEED) == 2
    assert "start Ray first" in capsys.readouterr().err
    assert run.ray.removed == [{}]


# --- a run --------------------------------------------------------------------------------------------------------------


def test_it_makes_the_hub_places_agents_begins_the_run_and_shows_it(run: ClusterRun, capsys: Output) -> None:
    run.ray.steps = [lambda: None, run.finish]
    assert run("--interval", "0", SEED) == 0
    output = capsys.readouterr()
    ((cluster,),) = run.rows("SELECT id FROM parcahyd_hub.cluster")
    assert [line for line in output.err.splitlines() if "hint" not in line] == [
        f"parcahyd: The database had no cluster. Cluster {cluster} has 8 partitions and a lease of 20 s.",
        "parcahyd: Agents at 192.0.2.1, 192.0.2.2, by the Ray cluster at 192.0.2.1:6379.",
        "parcahyd: Run 1 begins with 1 seed.",
        "parcahyd: Run 1 is over: done.",
    ]
    assert [json.loads(line)["event"] for line in output.out.splitlines()] == ["progress", "progress", "summary"]
    hub = run.url.replace("postgresql://", "postgresql+psycopg://")
    assert run.ray.asked[0] == cluster
    assert [(place.address, place.hub, place.folder, place.forever) for place in run.ray.asked[1:]] == [
        ("192.0.2.1", hub, str(run.folder), False),
        ("192.0.2.2", hub, str(run.folder), False),
    ]
    assert run.ray.removed == [{"patience": 15.0}]


def test_a_cluster_that_is_there_is_used(run: ClusterRun, capsys: Output) -> None:
    facts, sentence = make_hub(load_configuration(run.folder), partitions=2, lease=30.0)
    assert sentence == f"Cluster {facts.id} has 2 partitions and a lease of 30 s."
    run.ray.steps = [run.finish]
    assert run(SEED) == 0
    assert "had no cluster" not in capsys.readouterr().err
    assert run.ray.asked[0] == facts.id


def test_no_password_is_told_to_ray(run: ClusterRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUB_PASSWORD", "hunter2")
    (run.folder / "MapConf.toml").write_text(f'DbUrl = "{run.url}?sslpassword=hunter3"\nDbPassword = "env:HUB_PASSWORD"\n')
    run.ray.steps = [run.finish]
    assert run("-q", SEED) == 0
    assert "hunter" not in repr(run.ray.asked)
    assert run.ray.asked[1].hub == run.url.replace("postgresql://", "postgresql+psycopg://")


def test_a_quiet_run_says_nothing(run: ClusterRun, capsys: Output) -> None:
    run.ray.steps = [run.finish]
    assert run("-q", "--forever", SEED) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert all("hint" in line for line in output.err.splitlines())
    assert all(place.forever for place in run.ray.asked[1:])


def test_the_same_command_joins_the_run_under_way(run: ClusterRun, capsys: Output) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    run.ray.steps = [interrupt]
    assert run("--detached", SEED) == 130
    assert "detached: the crawl goes on" in capsys.readouterr().err
    assert run.ray.removed == []
    run.ray.steps = [run.finish]
    assert run(SEED) == 0
    assert "Run 1 is under way; it is given 0 new seeds." in capsys.readouterr().err


def test_ctrl_c_stops_the_crawl_when_attached(run: ClusterRun, capsys: Output) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    run.ray.steps = [interrupt]
    assert run("--attached", SEED) == 130
    assert capsys.readouterr().out.endswith("Run 1 is over: stopped.\n")
    assert run.rows("SELECT outcome FROM parcahyd_hub.runs") == [("stopped",)]
    assert run.ray.removed == [{"patience": 15.0}]


def test_a_run_that_somebody_stops_was_interrupted(run: ClusterRun) -> None:
    run.ray.steps = [lambda: run.finish("stopped")]
    assert run(SEED) == 130


def test_agents_are_taken_away_where_no_run_begins(run: ClusterRun, capsys: Output) -> None:
    assert run() == 2
    assert "no seed is given" in capsys.readouterr().err
    assert run.ray.removed == [{"only_new": True}]


# --- agents -------------------------------------------------------------------------------------------------------------


def test_what_becomes_of_agents_is_told(run: ClusterRun, capsys: Output) -> None:
    def ray_is_gone() -> None:
        run.ray.is_lost = True

    there = AgentNews("192.0.2.1", is_there=True, starts=1)
    bad = AgentNews("192.0.2.1", is_there=True, starts=2, code=1, said="parcahyd: out of memory")
    away = AgentNews("192.0.2.2", is_there=False)
    run.ray.waiting = [there, bad, bad, away, away, AgentNews("192.0.2.2", is_there=True, starts=1)]
    run.ray.steps = [ray_is_gone, lambda: None, run.finish]
    assert run(SEED) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "192.0.2" in line or "Ray does" in line][1:]
    lost = (
        "parcahyd: Ray does not answer any more. Agents work on as long as Ray lets them; when it is started again, the same "
        "command goes on."
    )
    assert told == [
        "parcahyd: the agent at 192.0.2.1 has ended with exit code 1 and is started again: out of memory",
        "parcahyd: Ray's actor at 192.0.2.2 does not answer; Ray starts it again when its machine is there.",
        "parcahyd: Ray's actor at 192.0.2.2 is there again.",
        lost,
    ]


def test_where_no_agent_can_work_its_mistake_is_the_command_s(run: ClusterRun, capsys: Output) -> None:
    said = "parcahyd: the environment variable PASSWORD is not set (export it)"
    run.ray.waiting = [AgentNews(address, True, 2, 2, said) for address in run.ray.placed.addresses]
    run.ray.steps = [lambda: None]
    assert run(SEED) == 2
    assert capsys.readouterr().err.endswith(
        "the agent at 192.0.2.1 cannot work: the environment variable PASSWORD is not set (export it)\n"
    )
    assert run.ray.removed == [{}]


def test_a_program_does_not_crawl_with_such_a_configuration(run: ClusterRun) -> None:
    with pytest.raises(UserError, match="a program crawls on its own machine"):
        crawl(load_configuration(run.folder), [SEED])
