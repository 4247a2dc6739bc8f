"""Code is trusted by who can have written it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parcahyd.runtime.trusted_files import distrust


def _stat_as(monkeypatch: pytest.MonkeyPatch, *, uid: int, gid: int, mode: int) -> None:
    """Every file now has this owner, group and mode: only root can give files away for real."""
    monkeypatch.setattr(os, "stat", lambda _: os.stat_result((0o100000 | mode, 1, 1, 1, uid, gid, 0, 0, 0, 0)))


def test_ones_own_file_is_trusted(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("")
    file.chmod(0o644)
    assert distrust(str(file)) is None


@pytest.mark.parametrize("mode", [0o646, 0o666, 0o777, 0o1777])
def test_what_others_can_write_to_is_not(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "mine.py"
    file.write_text("")
    file.chmod(mode)
    why_not = distrust(str(file))
    assert why_not is not None
    assert f"mode {mode:04o}" in why_not[0]
    assert why_not[1].endswith(f"chmod go-w {file}")


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_what_belongs_to_another_user_is_not(monkeypatch: pytest.MonkeyPatch, mode: int) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    _stat_as(monkeypatch, uid=4322, gid=4321, mode=mode)
    assert distrust("mine.py") == (
        f"belongs to another user (owner 4322, mode {mode:04o})",
        "look at it, then chown 4321 mine.py",
    )


def test_what_belongs_to_root_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    _stat_as(monkeypatch, uid=0, gid=0, mode=0o644)
    assert distrust("mine.py") is None


@pytest.mark.parametrize(("gid", "is_trusted"), [(4321, True), (100, False)])
def test_a_group_of_ones_own_may_write(monkeypatch: pytest.MonkeyPatch, gid: int, is_trusted: bool) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    _stat_as(monkeypatch, uid=4321, gid=gid, mode=0o664)
    assert (distrust("mine.py") is None) is is_trusted


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_root_does_not_trust_the_file_of_another_user_nor_a_link_to_it(tmp_path: Path) -> None:
    file = tmp_path / "theirs.py"
    file.write_text("")
    os.chown(file, 65534, 65534)
    link = tmp_path / "link.py"
    link.symlink_to(file)
    for path in (file, link):
        why_not = distrust(str(path))
        assert why_not is not None
        assert "belongs to another user" in why_not[0]
