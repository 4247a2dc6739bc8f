"""Where the user stands is no place of code: neither modules nor plugins are taken from there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.crawl import ROOT, Crawl, CrawlFactory, Finished, assert_user_error
from tests.support.generated_site import generated_site
from tests.support.processes import TEST_TIMEOUT
from tests.support.site_server import SiteServer

_SETTINGS = ("--set", 'Map.AllowAddresses=["127.0.0.0/8"]', "--set", "Work.HostDelay=0", "--set", "Work.MaxInstances=2")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder to stand in, with another folder for plugins beside it."""
    (tmp_path / "here").mkdir()
    (tmp_path / "plugins").mkdir()
    return tmp_path / "here"


def _trap(path: Path) -> Path:
    """A Python file that leaves a trace when it is run, and the path of that trace."""
    trace = path.with_suffix(".was-run")
    path.write_text(f"open({str(trace)!r}, 'w').close()\nraise ImportError('hostile')\n")
    return trace


def _program(folder: Path, *arguments: str, safe_path: bool = True, python_path: str = str(ROOT)) -> Finished:
    """The command as its script starts it, which does not look into the current directory, or as `python -m` does."""
    done = subprocess.run(
        [sys.executable, *(["-P"] if safe_path else []), "-m", "parcahyd", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        check=False,
        timeout=TEST_TIMEOUT,
    )
    return Finished(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def test_no_process_of_a_run_imports_a_module_from_the_current_directory(server: SiteServer, here: Path) -> None:
    server.put("", generated_site(6))
    traces = [_trap(here / name) for name in ("socket.py", "msgspec.py", "isal.py", "sitecustomize.py")]
    done = _program(here, "run", "--seed", server.listen().url(), *_SETTINGS)
    assert [trace.name for trace in traces if trace.exists()] == []
    assert done.code == 0, done.err
    assert Crawl(here / "other", f"sqlite:///{here}/crawl.db").status()["states"]["stored"] == 6


def test_a_module_of_the_current_directory_is_no_plugin_even_for_python_m(here: Path) -> None:
    trace = _trap(here / "mine.py")
    done = _program(here, "plugins", "--set", "Work.DownloaderClass=mine:Downloader", safe_path=False)
    assert not trace.exists()
    done = _program(here, "run", "http://127.0.0.1/", "--set", "Work.DownloaderClass=mine:Downloader", safe_path=False)
    assert_user_error(done, "mine", "there is no module")
    assert not trace.exists()


def test_a_module_of_pythonpath_is_found_by_every_process(server: SiteServer, here: Path) -> None:
    """What the user put there is wanted, also where it is the current directory."""
    server.put("", generated_site(3))
    source = ROOT / "tests" / "end_to_end" / "third_party" / "third_party.py"
    (here / "third_party.py").write_text(source.read_text())
    arguments = (
        "run",
        "--seed",
        server.listen().url(),
        *_SETTINGS,
        "--set",
        "Work.DownloaderClass=third_party.PlainDownloader",
    )
    done = _program(here, *arguments, python_path=f"{ROOT}{os.pathsep}{here}")
    assert done.code == 0, done.err
    assert {entry.headers.get("x-plugin") for entry in server.log} == {"plain"}


def test_without_a_configuration_folder_no_plugin_file_is_run(here: Path) -> None:
    trace = _trap(here.parent / "plugins" / "mine.py")
    done = _program(here, "plugins")
    assert done.code == 0, done.err
    assert not trace.exists()


@pytest.mark.parametrize("spoilt", ["mine.py", "."])
def test_a_plugin_that_others_can_write_to_is_a_user_error(crawl: CrawlFactory, spoilt: str) -> None:
    running = crawl()
    folder = running.folder / "plugins"
    folder.mkdir()
    trace = _trap(folder / "mine.py")
    (folder / spoilt).chmod(0o777)
    done = running.command("run", "--conf", str(running.conf), "--seed", "http://127.0.0.1:9/")
    assert_user_error(done, "mode 0777", "owner ", "chmod go-w")
    assert not trace.exists()
