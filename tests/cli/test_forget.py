"""`parcahyd forget` on a copy of the sample crawl."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.runtime.run_lock import RunLock

from .conftest import Crawl


@pytest.fixture
def copy(crawl: Crawl, tmp_path: Path) -> str:
    shutil.copytree(crawl.conf, tmp_path / "copy")
    return str(tmp_path / "copy" / "crawl.db")


def _main(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out + err


def test_urls_and_sites_are_forgotten(crawl: Crawl, copy: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = f"{crawl.site}opening-times"
    assert _main(capsys, "forget", "--db", copy, page, page) == (0, "1 URL forgotten.\n")
    assert page not in _main(capsys, "urls", "--db", copy)[1]
    assert _main(capsys, "forget", "--db", copy, page)[1].startswith(f"parcahyd: {page} is not in this crawl (")
    assert _main(capsys, "forget", "--db", copy, "--site", "127.0.0.1") == (0, "21 URLs forgotten.\n")
    assert _main(capsys, "urls", "--db", copy)[1].split()[-1:] == ["https://www.example.org/tea.html"]
    assert _main(capsys, "verify", "--db", copy)[0] == 0


def test_a_crawl_that_runs_is_left_alone(copy: str, capsys: pytest.CaptureFixture[str]) -> None:
    lock = RunLock(f"sqlite:///{copy}")
    try:
        code, said = _main(capsys, "forget", "--db", copy, "--site", "127.0.0.1")
    finally:
        lock.release()
    assert code == 2
    assert said.startswith("parcahyd: another run is working on this database")


@pytest.mark.parametrize("arguments", [[], ["http://a.example/", "--site", "a.example"]])
def test_urls_or_a_site(copy: str, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    code, said = _main(capsys, "forget", "--db", copy, *arguments)
    assert code == 2
    assert said.startswith("parcahyd: forget takes URLs or --site HOST (")
