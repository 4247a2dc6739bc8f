from __future__ import annotations

import json

import pytest

from parcahyd.cli import main

from .conftest import Crawl


def test_a_version_and_a_redirect(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("history", f"{crawl.site}about.html")) == 0
    (line,) = capsys.readouterr().out.splitlines()
    time, status, wire, took, protocol, address, brought = (part.strip() for part in line.split("  ") if part.strip())
    assert (status, protocol, address) == ("200", "1.1", "127.0.0.1")
    assert time.endswith("Z")
    assert wire.endswith("B")
    assert took.endswith("s")
    assert brought.startswith("a version of ")
    assert main(crawl.arguments("history", f"{crawl.site}opening-times")) == 0
    assert f"a redirect to {crawl.site}" in capsys.readouterr().out


def test_for_programs(crawl: Crawl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("history", "--jsonl", f"{crawl.site}about.html")) == 0
    (line,) = capsys.readouterr().out.splitlines()
    report = json.loads(line)
    assert (report["brought"], report["status"], report["redirect"]) == ("version", 200, None)
    assert report["received"] > report["length"]
    assert len(report["sha256"]) == 64


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere.html", "is not in this crawl (parcahyd explain "),
        ("private/ledger.html", "nothing was exchanged with "),
    ],
)
def test_nothing_on_record_is_a_mistake_with_a_remedy(
    crawl: Crawl, path: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(crawl.arguments("history", crawl.site + path)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
    assert output.err.count("\n") == 1
