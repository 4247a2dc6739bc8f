from __future__ import annotations

import re
from pathlib import Path

import pytest

from parcahyd.sample.__main__ import tour
from parcahyd.storage.reports import Reports

ROOT = Path(__file__).parents[2]


def test_the_tour_crawls_and_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = tmp_path / "the crawl"
    folder.mkdir()
    (folder / "crawl.db").write_text("an old crawl")
    assert tour(folder) == 0
    output = capfd.readouterr()
    assert output.err == ""
    commands = [line.split()[2] for line in output.out.splitlines() if line.startswith("$ parcahyd ")]
    assert commands == ["run", "run", "status", "urls", "explain", "verify"]
    assert "number of today's guests went from 37 to 52. Refresh that page:" in output.out
    assert "# The server was asked for /index.TVI, and for nothing else." in output.out
    assert re.search(r"changes: \d{3} bytes came instead of the whole page of 1,\d{3}, and the crawl has the new", output.out)
    with Reports.open(f"sqlite:///{folder / 'crawl.db'}") as reports:
        (start,) = [found.url for found in reports.urls() if found.depth == 0]
        document = reports.document(start)
        assert document is not None
        assert b'<span data-vol="guests">52</span>' in document.body
    assert "23: 0 known, 20 stored, 0 failed, 2 refused, 1 gone" in output.out
    assert "forbidden for parcahyd by Disallow: /private/" in output.out
    assert "Nothing was found" in output.out
    assert "in this order: /robots.txt, /site.TOL, /, " in output.out
    assert "ledger.TVI, declared by robots.txt for /" in output.out


def test_the_first_command_that_fails_ends_the_tour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "WorkConf.toml").write_text("NoSuchKey = 1\n")
    assert tour(tmp_path) == 2
    output = capfd.readouterr()
    assert output.out.count("$ parcahyd ") == 1
    assert output.err.startswith("parcahyd: ")
