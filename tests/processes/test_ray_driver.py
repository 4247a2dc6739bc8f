"""The process that talks to Ray, with a Ray of its own, and with ones that want a token or do not."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from parcahyd.core.errors import UserError
from parcahyd.processes.agent_keeper import AgentPlace
from parcahyd.processes.ray_placement import AgentNews, RayPlacement
from tests.cluster_lab.ray_cluster import RayCluster, why_no_ray
from tests.support.processes import wait_until

pytestmark = pytest.mark.skipif(bool(why_no_ray()), reason=why_no_ray())

HUB = "postgresql+psycopg://nobody@127.0.0.1:1/none"
_MINUTES = 300.0


@pytest.fixture
def no_ray_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as short:  # For names of sockets.
        monkeypatch.setenv("RAY_TMPDIR", short)
        yield


def _place(folder: Path, address: str = "127.0.0.1") -> AgentPlace:
    folder.mkdir(exist_ok=True)
    (folder / "MapConf.toml").write_text(f'DbUrl = "{HUB}"\n')
    return AgentPlace(address, HUB, str(folder), forever=False)


def _listening(process: psutil.Process) -> set[str]:
    found: set[str] = set()
    for one in (process, *process.children(recursive=True)):
        try:
            found.update(at.laddr.ip for at in one.net_connections("inet") if at.status == psutil.CONN_LISTEN)
        except psutil.Error:
            continue
    return found


def test_a_ray_of_its_own_listens_on_loopback_tells_of_its_agent_and_ends(no_ray_named: None, tmp_path: Path) -> None:
    placement = RayPlacement.begin("c1", [_place(tmp_path / "conf")])
    driver = psutil.Process(placement._child.pid)
    try:
        assert placement.is_own
        assert placement.placed.new == ("127.0.0.1",)
        assert _listening(driver) <= {"127.0.0.1", "::ffff:127.0.0.1"}
        news: list[AgentNews] = []

        def has_ended() -> bool:
            news.extend(placement.news())
            return any(one.code is not None for one in news)

        assert wait_until(has_ended, _MINUTES)
        # Nobody listens on port 1: the agent says so, and is started again.
        assert (news[-1].code, news[-1].address, news[-1].is_there) == (2, "127.0.0.1", True)
        assert "127.0.0.1" in news[-1].said
        processes = driver.children(recursive=True)
    finally:
        placement.remove()
    gone, left = psutil.wait_procs(processes, timeout=_MINUTES)
    assert gone
    assert [one for one in left if one.status() != psutil.STATUS_ZOMBIE] == []


def test_a_ray_that_is_there_is_tried_before_it_is_used(
    no_ray_named: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with RayCluster(["127.0.0.31"], tmp_path) as ray:
        monkeypatch.setenv("RAY_ADDRESS", ray.address)
        with pytest.raises(UserError, match="Ray's token is not known here"):
            RayPlacement.begin("c1", [_place(tmp_path / "conf", "127.0.0.31")])
        monkeypatch.setenv("RAY_AUTH_TOKEN", ray.environment["RAY_AUTH_TOKEN"])
        with pytest.raises(UserError, match=r"no node at 127\.0\.0\.32, which is in ListIP \(it has 127\.0\.0\.31\)"):
            RayPlacement.begin("c1", [_place(tmp_path / "conf", "127.0.0.32")])
        first = RayPlacement.begin("c1", [_place(tmp_path / "conf", "127.0.0.31")])
        first.close()
        again = RayPlacement.begin("c1", [_place(tmp_path / "conf", "127.0.0.31")])
        assert (first.placed.new, again.placed.new) == (("127.0.0.31",), ())
        again.close()
        with pytest.raises(UserError, match=r"the agent at 127\.0\.0\.31 was started by another command"):
            RayPlacement.begin("c1", [_place(tmp_path / "other", "127.0.0.31")])
        third = RayPlacement.begin("c1", [_place(tmp_path / "conf", "127.0.0.31")])
        third.remove()
        fourth = RayPlacement.begin("c1", [_place(tmp_path / "conf", "127.0.0.31")])
        assert fourth.placed.new == ("127.0.0.31",)
        fourth.remove()


def test_a_ray_that_lets_anybody_in_is_refused(no_ray_named: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with RayCluster(["127.0.0.33"], tmp_path, is_open=True) as ray:
        monkeypatch.setenv("RAY_ADDRESS", ray.address)
        monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        with pytest.raises(UserError, match=r"lets anybody in \(start Ray with RAY_AUTH_MODE=token on every machine"):
            RayPlacement.begin("c1", [_place(tmp_path / "conf", "127.0.0.33")])


def test_the_command_line_of_who_runs_the_crawl_is_not_told(no_ray_named: None, tmp_path: Path) -> None:
    """Ray keeps that of who connects, which is the child's."""
    placement = RayPlacement.begin("c1", [_place(tmp_path / "conf")])
    try:
        told = psutil.Process(placement._child.pid).cmdline()
    finally:
        placement.remove()
    assert told[-2:] == ["parcahyd.topology", "ray-driver"]
    assert subprocess.list2cmdline(told).count("postgresql") == 0
