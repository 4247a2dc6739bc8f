"""Where is my crawl.db? The message names the file that was looked for, and one that lies near."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.cli.missing_database import crawl_beside

from .conftest import ROOT, Crawl


def _error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _make_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE one (two)")
    connection.close()


@pytest.mark.parametrize("command", ["status", "urls", "verify"])
def test_a_copied_configuration_has_no_crawl_yet(here: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    _make_database(here / "crawl.db")
    shutil.copytree(ROOT / "conf", here / "conf")
    line = _error(capsys, command)
    assert line == f"parcahyd: there is no database {here}/conf/crawl.db yet (did you mean --db crawl.db?)"


def test_nothing_lies_near(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "crawl.db.lock").touch()
    line = _error(capsys, "status")
    assert line == (
        f"parcahyd: there is no database {here}/crawl.db yet (run `parcahyd run` first, or name another file with --db)"
    )


def test_what_lies_near_is_a_database_and_not_the_missing_file(here: Path) -> None:
    (here / "conf").mkdir()
    missing, folder = str(here / "conf" / "mine.db"), str(here / "conf")
    assert crawl_beside(missing, folder) == ""
    (here / "mine.db").write_text("no database")
    assert crawl_beside(missing, folder) == ""
    _make_database(here / "conf" / "crawl.db")
    assert crawl_beside(missing, folder) == "conf/crawl.db"
    (here / "mine.db").unlink()
    _make_database(here / "mine.db")
    assert crawl_beside(missing, folder) == "mine.db"


def test_a_run_without_seeds_makes_no_database(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = _error(capsys, "run")
    assert line == (
        f"parcahyd: there is nothing to crawl: no seed is given, and there is no database {here}/crawl.db yet "
        "(parcahyd run URL starts a crawl)"
    )
    assert os.listdir(here) == []
    _make_database(here / "crawl.db")
    (here / "conf").mkdir()
    (here / "conf" / "MapConf.toml").touch()
    assert "--db crawl.db to go on with that crawl" in _error(capsys, "run")


def test_bad_seeds_are_listed_together_and_make_no_database(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "htp://a.example/", "http://b.example/", "--seed", "c.example"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        'parcahyd: seed "htp://a.example/": "htp" is no scheme (did you mean http://a.example/?)',
        'parcahyd: seed "c.example": its scheme is missing (did you mean https://c.example/?)',
    ]
    assert os.listdir(here) == []


def test_of_many_bad_seeds_ten_are_listed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "urls.txt").write_text("".join(f"site{number}.example\n" for number in range(15)))
    assert main(["run", "--seeds", "urls.txt"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "parcahyd: 5 more seeds are wrong"


def test_db_names_the_crawl_for_every_command_that_reads_one(
    crawl: Crawl, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.symlink(Path(crawl.conf) / "crawl.db", here / "mine.db")
    for command in (["status"], ["urls"], ["explain", crawl.site], ["verify"]):
        assert main([*command, "--db", "mine.db"]) == 0, capsys.readouterr().err
        capsys.readouterr()
    assert main(["config", "--db", "mine.db", "--set", "Map.DbUrl=sqlite:///other.db"]) == 0
    assert f"# database  sqlite:///{here}/mine.db" in capsys.readouterr().out.splitlines()
    assert main(["config", "--db", "postgresql://me:secret@db.example/crawl"]) == 0
    out = capsys.readouterr().out
    assert "# database  postgresql+psycopg://me:***@db.example/crawl" in out
    assert "secret" not in out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "--db is empty (name a file, such as crawl.db, or a postgresql:// URL)"),
        ("folder", '--db: "folder" is a folder (name a file in it, such as folder/crawl.db)'),
        ("mysql://h/n", '--db DbUrl: "mysql:..." names no database that PARCAHYD can use'),
        (":memory:", "--db DbUrl: a database in memory is refused"),
    ],
)
def test_what_db_does_not_take(here: Path, capsys: pytest.CaptureFixture[str], given: str, message: str) -> None:
    (here / "folder").mkdir()
    assert _error(capsys, "status", "--db", given).startswith(f"parcahyd: {message}")
