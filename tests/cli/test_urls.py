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


def _shown(capsys: pytest.CaptureFixture[str], crawl: Crawl, *options: str) -> list[str]:
    assert main(crawl.arguments("urls", *options)) == 0
    return [line.split()[-1] for line in capsys.readouterr().out.splitlines()]


def test_reason_pattern_and_limit_choose(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert _shown(capsys, crawl, "--why", "missing") == [f"{crawl.site}kettles/steam-engine.html"]
    kettles = _shown(capsys, crawl, "--match", "*/kettles/*")
    assert len(kettles) > 2
    assert all("/kettles/" in url for url in kettles)
    assert _shown(capsys, crawl, "--match", "*/kettles/*", "--limit", "2") == kettles[:2]
    assert _shown(capsys, crawl, "--match", "kettles") == []


def test_an_order_that_people_read(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    every = _shown(capsys, crawl)
    assert _shown(capsys, crawl, "--order", "url") == sorted(every)
    assert _shown(capsys, crawl, "--order", "url", "--limit", "3") == sorted(every)[:3]
    assert _shown(capsys, crawl, "--order", "depth")[0] == crawl.site
    assert _shown(capsys, crawl, "--order", "checked")[-1] == "https://www.example.org/tea.html"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--why", "robot"], '"robot" is not a reason (did you mean "robots"? reasons are address, '),
        (["--why", "because"], '"because" is not a reason (reasons are address, '),
        (["--limit", "0"], "invalid value for '--limit': 0 is not in the range x>=1"),
        (["--order", "size"], "invalid value for '--order': 'size' is not one of 'url', 'depth', 'checked'"),
        (["--match", "re:("], 'the pattern "re:(" cannot be read: '),
    ],
)
def test_what_cannot_be_chosen(crawl: Crawl, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    assert main(crawl.arguments("urls", *options)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"parcahyd: {message}")


def test_a_heading_stands_over_the_list_on_a_terminal_only(crawl: Crawl) -> None:
    command = [sys.executable, "-m", "parcahyd", *crawl.arguments("urls", "--limit", "1")]
    reading, terminal = os.openpty()
    try:
        subprocess.run(command, cwd=ROOT, stdout=terminal, check=True)
        lines = os.read(reading, 10_000).decode().splitlines()
    finally:
        os.close(reading)
        os.close(terminal)
    assert lines[0].split() == ["state", "reason", "status", "depth", "url"]
    assert len(lines) == 2
    assert lines[0].index("url") == lines[1].index("http")


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
