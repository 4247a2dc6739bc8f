"""The writer's hold on an SQLite file: one writer under all names, and no writing into a file that was taken away."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import CrawlBusy, DatabaseUnusable, RunFailure
from parcahyd.storage.claimed_file import ClaimedFile
from parcahyd.storage.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "crawl.db"
    file.write_bytes(b"")
    return file


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has locks of open files")
def test_a_file_is_claimed_once_under_all_its_names(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = tmp_path / "elsewhere" / "other.db"
    other.hardlink_to(path)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    first = ClaimedFile(str(path), wait=0.0)
    for name in (path, other, link):
        with pytest.raises(CrawlBusy, match="another run"):
            ClaimedFile(str(name), wait=0.0)
    first.close()
    ClaimedFile(str(other), wait=0.0).close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has locks of open files")
def test_two_stores_on_two_names_of_one_file(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with Store.open(f"sqlite:///{path}") as first:
        first.claim(wait=0.0)
        other.hardlink_to(path)
        with Store.open(f"sqlite:///{other}") as second, pytest.raises(CrawlBusy):
            second.claim(wait=0.0)


def test_the_claim_does_not_keep_sqlite_from_writing_nor_readers_from_reading(path: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        store.claim(wait=0.0)
        store.begin_run(Configuration(MapConf(), WorkConf()), 1.0)
        reader = sqlite3.connect(path)
        assert reader.execute("SELECT count(*) FROM runs").fetchone() == (1,)
        reader.close()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda path: path.unlink(), "was deleted or moved"),
        (lambda path: path.rename(path.with_name("moved.db")), "was deleted or moved"),
        (lambda path: os.replace(_copy(path), path), "was replaced"),
    ],
    ids=["deleted", "moved", "replaced"],
)
def test_a_transaction_on_a_file_that_was_taken_away_is_a_failure_of_the_run(path: Path, spoil: object, sentence: str) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        store.claim(wait=0.0)
        store.begin_run(Configuration(MapConf(), WorkConf()), 1.0)
        store.add_seeds(["http://a.test/"], 1.0)
        assert callable(spoil)
        spoil(path)
        with pytest.raises(RunFailure, match=sentence):
            store.add_seeds(["http://b.test/"], 1.0)


def _copy(path: Path) -> Path:
    copy = path.with_name("copy.db")
    copy.write_bytes(path.read_bytes())
    return copy


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_a_new_database_and_the_files_beside_it_are_for_this_user_alone(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        with Store.open(f"sqlite:///{tmp_path / 'crawl.db'}") as store:
            store.begin_run(Configuration(MapConf(), WorkConf()), 1.0)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["crawl.db", "crawl.db-wal", "crawl.db-shm"], 0o600)


def test_the_target_of_a_link_is_made_for_this_user_alone(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "crawl.db")
    Store.open(f"sqlite:///{tmp_path / 'link.db'}").close()
    assert stat.S_IMODE((tmp_path / "crawl.db").stat().st_mode) == 0o600


def test_the_mode_of_a_database_that_is_there_stays(path: Path) -> None:
    path.chmod(0o640)
    Store.open(f"sqlite:///{path}").close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["nothing.db", "."])
def test_a_file_that_cannot_be_opened_for_writing_is_a_user_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatabaseUnusable, match="cannot be written to") as error:
        ClaimedFile(str(tmp_path / name), wait=0.0)
    assert error.value.remedy
