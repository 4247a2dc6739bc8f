"""What the server said, and when: `show --request`, `show --exchange`, `history` and `diff` after a crawl."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

from tests.support.crawl import ROOT, Crawl, CrawlFactory
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Site, html, robots

_LONG = b"<p>Kettles, kettles. </p>" * 300
_ODD = (
    b"HTTP/1.1 200 Why\x1b[31mNot\r\ncontent-TYPE:text/html\r\nX-Twice:  1 \r\nX-Twice: 2\r\nContent-Length: %d\r\n\r\n"
    % len(_LONG)
)
_AGAIN = {"Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01}


def _raw(head: bytes, body: bytes) -> bytes:
    return head % len(body) + body


def _site() -> tuple[dict[str, bytes], Site]:
    """What is sent for each target, byte for byte, and the site that sends it."""
    zipped = gzip.compress(_LONG, 9, mtime=1)
    sent = {
        "/odd": _ODD + _LONG,
        "/gzip": _raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", zipped
        ),
        "/moved": _raw(b"HTTP/1.1 301 There\r\nLocation: /odd\r\nContent-Length: %d\r\n\r\n", b"<p>it moved"),
        "/missing": _raw(b"HTTP/1.1 404 Nowhere\r\nContent-Length: %d\r\n\r\n", b"<p>nothing"),
    }
    pages: dict[str, Page] = {target: Answer(raw=message) for target, message in sent.items()}
    pages["/tagged"] = Answer(_LONG + b"tagged", etag='"1"')
    pages["/robots.txt"] = robots("User-agent: *\nDisallow: /hidden\n")
    return sent, Site({"/": html("Front", [target for target in pages if target != "/robots.txt"]), **pages})


def _command(crawl: Crawl, command: str, *arguments: str) -> bytes:
    finished = crawl.command(command, "--conf", str(crawl.conf), *arguments)
    assert finished.code == 0, finished.err
    return finished.out


def test_everything_that_was_exchanged_can_be_had_again(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    sent, site = _site()
    server.put("", site)
    running = crawl_on({**_AGAIN, "Work.HostConnections": 1, "Work.UserAgent": "recorder/1.0"})
    for _ in range(2):
        _command(running, "run", "--archive", listener.url())
    request = (
        f"GET /TARGET HTTP/1.1\r\nHost: {listener.authority}\r\nUser-Agent: recorder/1.0\r\nAccept: */*\r\n"
        "Accept-Encoding: gzip, deflate, br\r\n\r\n"
    )
    for target, message in sent.items():
        url = listener.url(target)
        of_target = request.replace("/TARGET", target).encode()
        assert _command(running, "show", "--request", url) == of_target
        times = [json.loads(line)["at"] for line in _command(running, "history", "--jsonl", url).splitlines()]
        # The body of a redirect is kept with its version.
        for at in times[1:] if target == "/moved" else times:
            assert _command(running, "show", "--exchange", "--at", repr(at), url) == of_target + message, target
    logged = [entry for entry in server.log if entry.target == "/odd"][-1].headers
    names = [line.partition(": ") for line in request.splitlines()[1:-1]]
    assert {name.lower(): value for name, _, value in names}.items() <= logged.items()

    rules = _command(running, "show", "--exchange", listener.url("/robots.txt"))
    assert rules.endswith(b"".join(robots("User-agent: *\nDisallow: /hidden\n").pieces()))


def test_the_history_of_a_url_says_what_each_visit_brought(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    sent, site = _site()
    server.put("", site)
    running = crawl_on(_AGAIN)
    for _ in range(2):
        _command(running, "run", "--archive", listener.url())
    rows = {
        target: [json.loads(line) for line in _command(running, "history", "--jsonl", listener.url(target)).splitlines()]
        for target in (*sent, "/tagged")
    }
    assert {target: [(row["status"], row["brought"]) for row in found] for target, found in rows.items()} == {
        "/odd": [(200, "unchanged"), (200, "version")],
        "/gzip": [(200, "unchanged"), (200, "version")],
        "/moved": [(301, "unchanged"), (301, "redirect")],
        "/missing": [(404, "error")],
        "/tagged": [(304, "unchanged"), (200, "version")],
    }
    for target, message in sent.items():
        for row in rows[target]:
            assert row["received"] == len(message), target
            assert (row["protocol"], row["address"]) == ("1.1", "127.0.0.1")
            assert row["seconds"] > 0
            assert row["started_at"] <= row["at"]
    assert rows["/tagged"][0]["conditional"]
    assert rows["/tagged"][0]["version_at"] == rows["/tagged"][1]["at"]
    lines = _command(running, "history", listener.url("/moved")).decode().splitlines()
    assert lines[1].endswith(f"127.0.0.1        a redirect to {listener.url('/odd')}")
    assert "  the same redirect again: as of 2" in lines[0]
    assert _command(running, "history", listener.url("/tagged")).decode().splitlines()[0].split()[2] == "304"


def test_a_search_crawl_says_which_visits_are_not_on_record(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", _site()[1])
    running = crawl(_AGAIN)
    for _ in range(3):
        running.run(listener.url())
    shown = running.command("history", "--conf", str(running.conf), listener.url("/tagged"))
    assert shown.code == 0
    assert len(shown.text.splitlines()) == 1
    assert "2 more visits found" in shown.err
    assert "KeepChecks" in shown.err
    for command in (("history",), ("show", "--exchange"), ("show", "--request")):
        refused = running.command(*command, "--conf", str(running.conf), listener.url("/missing"))
        assert (refused.code, refused.out) == (2, b"")
        assert "is on record: it is gone: missing (answers with an error are kept by runs with KeepErrors" in refused.err

    # A page that is gone now has its versions still.
    del server.site().pages["/tagged"]
    running.run(listener.url())
    shown = running.command("history", "--conf", str(running.conf), listener.url("/tagged"))
    assert "is not on record: gone, missing; KeepErrors" in shown.err


def test_nothing_that_a_server_sent_reaches_a_terminal_raw(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    site = _site()[1]
    site.pages["/away"] = Answer(raw=b"HTTP/1.1 302 Off\r\nLocation: /\x1b]0;hello\x07x\r\nContent-Length: 0\r\n\r\n")
    site.pages["/"] = html("Front", ["/odd", "/away"])
    server.put("", site)
    running = crawl()
    running.run(listener.url())
    for arguments in (("show", "--exchange"), ("show", "--headers")):
        code, output, err = _on_terminal(running, *arguments, listener.url("/odd"))
        assert (code, output) == (2, b"")
        assert "control characters" in err
    code, output, _ = _on_terminal(running, "history", listener.url("/away"))
    assert code == 0
    assert output.startswith(b"time  ")
    assert b"\x1b" not in output


def test_versions_are_compared_on_a_terminal(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    running = crawl_on({**_AGAIN, "Work.KeepVersions": 5})
    for word in ("warm", "cold\x1b[2J"):
        server.put("", Site({"/": html("Front", extra=f"<p>Kettles are {word}.</p>\n<b data-vol=price>{len(word)}</b>\n")}))
        _command(running, "run", "--archive", listener.url())
    plain = _command(running, "diff", listener.url()).decode().splitlines()
    assert [line for line in plain[3:] if line[0] != " "] == [
        "-<p>Kettles are warm.</p>",
        "-<b data-vol=price>4</b>",
        "+<p>Kettles are cold\\x1b[2J.</p>",
        "+<b data-vol=price>8</b>",
        '\\ volatile in part: "price", marked by the author',
    ]
    code, output, err = _on_terminal(running, "diff", listener.url())
    assert (code, err) == (0, "")
    assert b"\x1b[32m+<b data-vol=price>8</b>\x1b[0m\r\n" in output
    assert b"\x1b[2J" not in output


def _on_terminal(crawl: Crawl, command: str, *arguments: str) -> tuple[int, bytes, str]:
    terminal, program_side = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "parcahyd", command, "--conf", str(crawl.conf), *arguments],
            cwd=ROOT,
            stdout=program_side,
            stderr=subprocess.PIPE,
            check=False,
        )
        os.set_blocking(terminal, False)
        try:
            output = os.read(terminal, 1 << 20)
        except BlockingIOError:
            output = b""
    finally:
        os.close(program_side)
        os.close(terminal)
    return done.returncode, output, done.stderr.decode()
