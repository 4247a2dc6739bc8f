"""One run per database: the lock is free only when every process that holds it is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from parcahyd.core.errors import CrawlBusy, DatabaseUnusable
from parcahyd.runtime.run_lock import RunLock


def test_a_second_run_is_told_who_holds_the_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/crawl.db"
    first = RunLock(url)
    with pytest.raises(CrawlBusy, match="another run"):
        RunLock(url, wait=0.0)
    first.release()
    RunLock(url, wait=0.0).release()


def test_a_child_keeps_the_lock_after_its_parent_let_go(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/crawl.db"
    lock = RunLock(url)
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, pass_fds=(lock.descriptor,)
    )
    lock.release()
    with pytest.raises(CrawlBusy):
        RunLock(url, wait=0.0)
    child.kill()
    child.communicate()
    RunLock(url, wait=5.0).release()


def test_databases_without_a_file_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    one = RunLock("postgresql+psycopg://h/one", wait=0.0)
    other = RunLock("postgresql+psycopg://h/other", wait=0.0)
    with pytest.raises(CrawlBusy):
        RunLock("postgresql+psycopg://h/one", wait=0.0)
    one.release()
    other.release()


def test_a_folder_that_cannot_be_made_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseUnusable, match="lock file"):
        RunLock(f"sqlite:///{tmp_path}/file/crawl.db", wait=0.0)


def test_the_lock_holds_through_symbolic_links_to_the_file_and_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "crawl.db").write_bytes(b"")
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "crawl.db")
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    first = RunLock(f"sqlite:///{tmp_path}/real/crawl.db", wait=0.0)
    for name in ("link.db", "folder/crawl.db"):
        with pytest.raises(CrawlBusy):
            RunLock(f"sqlite:///{tmp_path}/{name}", wait=0.0)
    first.release()


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_a_lock_file_that_is_a_link_is_refused_and_what_it_leads_to_is_left_alone(
    tmp_path: Path, make: Callable[[Path, Path], None]
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    make(tmp_path / "crawl.db.lock", precious)
    with pytest.raises(DatabaseUnusable, match=r"crawl\.db\.lock is a (symbolic|hard) link") as error:
        RunLock(f"sqlite:///{tmp_path}/crawl.db", wait=0.0)
    assert "remove it" in error.value.remedy
    assert precious.read_text() == "precious"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("url", ["sqlite:///{}/crawl.db", "postgresql+psycopg://h/name"])
def test_a_lock_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    RunLock(url.format(tmp_path), wait=0.0).release()
    (file,) = tmp_path.iterdir()
    os.chown(file, 65534, 65534)
    with pytest.raises(DatabaseUnusable, match="belongs to another user"):
        RunLock(url.format(tmp_path), wait=0.0)


def test_a_pipe_in_place_of_the_lock_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "crawl.db.lock")
    with pytest.raises(DatabaseUnusable, match="is not a file"):
        RunLock(f"sqlite:///{tmp_path}/crawl.db", wait=0.0)


def test_the_lock_files_name_does_not_depend_on_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    first = RunLock("postgresql+psycopg://me:one@h/name", wait=0.0)
    for url in ("postgresql+psycopg://me:two@h/name", "postgresql+psycopg://me:two%40@h/name"):
        with pytest.raises(CrawlBusy):
            RunLock(url, wait=0.0)
    first.release()
    for secret in ("one", "two"):
        RunLock(f"postgresql+psycopg://me@h/name?password={secret}", wait=0.0).release()
    assert len(list(tmp_path.iterdir())) == 2
