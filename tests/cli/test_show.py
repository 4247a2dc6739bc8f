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
        ("?a=1&b=$(id)", "/?a=1&b=$(id)' says whether it could be)"),
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


def test_versions_are_listed_and_each_can_be_had(crawl: Crawl, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    url = f"{crawl.site}about.html"
    assert main(crawl.arguments("show", "--versions", url)) == 0
    (line,) = capfdbinary.readouterr().out.decode().splitlines()
    stored_at, status, _, length = line.split("  ")
    assert (status, length) == ("200", f"{len(site_files()['/about.html']):,} bytes")
    assert main(crawl.arguments("show", "--at", stored_at, url)) == 0
    assert capfdbinary.readouterr().out == site_files()["/about.html"]


@pytest.mark.parametrize(
    ("options", "path", "words"),
    [
        (
            ("--at", "2001-02-03T04:05Z"),
            "about.html",
            "at 2001-02-03 04:05:59Z is not stored: the oldest stored version is of 2",
        ),
        (("--at", "2999-01-01"), "opening-times", "was a redirect at 2999-01-01"),
        (("--at", "2999-01-01"), "nowhere.html", "is not in this crawl"),
        (("--at", "2999-01-01"), "private/ledger.html", "it is refused"),
        (("--at", "soon"), "about.html", '"soon" is not a time'),
        (("--versions",), "private/ledger.html", "it is refused"),
        (("--versions",), "nowhere.html", "is not in this crawl"),
    ],
)
def test_a_moment_of_which_nothing_is_stored(
    crawl: Crawl, options: tuple[str, ...], path: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(crawl.arguments("show", *options, crawl.site + path)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
    assert output.err.count("\n") == 1


def test_the_request_and_the_whole_exchange(crawl: Crawl, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    url = f"{crawl.site}img/kettle.png"
    assert main(crawl.arguments("show", "--request", url)) == 0
    output = capfdbinary.readouterr()
    assert output.out.startswith(b"GET /img/kettle.png HTTP/1.1\r\nHost: 127.0.0.1:")
    assert output.out.endswith(b"\r\n\r\n")
    assert b"headers with secrets are not kept" in output.err
    assert main(crawl.arguments("show", "--exchange", "--at", "2999-01-01", url)) == 0
    exchange = capfdbinary.readouterr().out
    assert exchange.startswith(output.out + b"HTTP/1.1 200 OK\r\n")
    assert exchange.endswith(b"\r\n\r\n" + site_files()["/img/kettle.png"])


@pytest.mark.parametrize(
    ("options", "path", "words"),
    [
        (("--exchange", "--at", "2001-02-03"), "about.html", "is on record: the oldest is of 2"),
        (("--exchange",), "nowhere.html", "is not in this crawl"),
        (("--request",), "private/ledger.html", "nothing was exchanged with "),
        (("--request", "--exchange"), "about.html", "exclude each other"),
    ],
)
def test_an_exchange_that_is_not_on_record(
    crawl: Crawl, options: tuple[str, ...], path: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(crawl.arguments("show", *options, crawl.site + path)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
    assert output.err.count("\n") == 1
