from __future__ import annotations

import os
import subprocess
import sys

import pytest

from parcahyd.cli import main
from parcahyd.sample.server import site_files

from .conftest import ROOT, Crawl


@pytest.mark.parametrize("path", ["/", "/kettles/copper.html", "/archive/copper.html", "/img/kettle.png"])
def test_byte_for_byte(crawl: Crawl, path: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(crawl.arguments("show", crawl.site + path[1:])) == 0
    assert capfdbinary.readouterr().out == site_files()[path]


def test_any_spelling_leads_there(crawl: Crawl, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(crawl.arguments("show", f"{crawl.site.upper()}visit/../%61bout.html#top")) == 0
    assert capfdbinary.readouterr().out == site_files()["/about.html"]


def test_headers_come_first(crawl: Crawl, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(crawl.arguments("show", "--headers", f"{crawl.site}img/kettle.png")) == 0
    head, _, body = capfdbinary.readouterr().out.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nContent-Type: image/png" in head
    assert body == site_files()["/img/kettle.png"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere.html", "is not in this crawl (parcahyd explain "),
        ("opening-times", "is a redirect (parcahyd show "),
        ("private/ledger.html", "it is refused (parcahyd explain "),
    ],
)
def test_what_is_not_stored_is_a_mistake_with_a_remedy(
    crawl: Crawl, path: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(crawl.arguments("show", crawl.site + path)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
    assert output.err.count("\n") == 1


def test_binary_documents_are_kept_from_a_terminal(crawl: Crawl) -> None:
    terminal, program_side = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "parcahyd", *crawl.arguments("show", f"{crawl.site}img/kettle.png")],
            cwd=ROOT,
            stdout=program_side,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(program_side)
        os.close(terminal)
    assert done.returncode == 2
    assert "control characters" in done.stderr
