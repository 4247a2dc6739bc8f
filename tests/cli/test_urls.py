from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from parcahyd.cli import main
from parcahyd.sample.server import site_files

from .conftest import ROOT, Crawl


def test_every_url_in_aligned_columns(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("urls")) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines]
    assert {len(row) for row in rows} == {5}
    assert len({line.index("http") for line in lines}) == 1
    assert ["refused", "robots", "-", "1", f"{crawl.site}private/ledger.html"] in rows
    assert ["stored", "redirect", "301", "1", f"{crawl.site}opening-times"] in rows
    stored = {row[4] for row in rows if row[:3] == ["stored", "-", "200"]}
    assert stored == {
        crawl.site + path[1:] for path in site_files() if path not in ("/robots.txt", "/style.css", "/private/ledger.html")
    }


def test_state_and_site_choose(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("urls", "--state", "refused", "--site", "www.example.org")) == 0
    assert capsys.readouterr().out.split() == ["refused", "scope", "-", "1", "https://www.example.org/tea.html"]


@pytest.mark.parametrize("site", ["WWW.Example.org", "www.example.org:443", "HTTPS://www.example.org:443/tea.html"])
def test_a_site_may_be_spelt_in_any_way(site: str, crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("urls", "--site", site)) == 0
    assert capsys.readouterr().out.split()[-1] == "https://www.example.org/tea.html"


@pytest.mark.parametrize("site", ["", "a/b", "http://[", "\udcff", "mailto:x"])
def test_what_is_no_site(site: str, crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("urls", "--site", site)) == 2
    assert capsys.readouterr().err.endswith("is not a site (give a host, or scheme://host[:port])\n")


def test_a_line_of_json_has_the_promised_fields(crawl: Crawl, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(crawl.arguments("urls", "--jsonl", "--state", "gone")) == 0
    (line,) = (json.loads(line) for line in capfdbinary.readouterr().out.splitlines())
    promised = {key: line[key] for key in ("url", "state", "reason", "depth", "status", "site")}
    assert promised == {
        "url": f"{crawl.site}kettles/steam-engine.html",
        "state": "gone",
        "reason": "missing",
        "depth": 2,
        "status": 404,
        "site": crawl.site.rstrip("/"),
    }


@pytest.mark.parametrize("form", [[], ["--jsonl"]])
def test_head_is_no_failure(crawl: Crawl, form: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "parcahyd", *crawl.arguments("urls", *form)]
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(command, cwd=ROOT, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
