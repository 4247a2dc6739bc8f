"""One run per database: the lock is free only when every process that holds it is gone."""

from __future__ import annotations

import subprocess
import sys
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
