"""The settings of a crawl stay with it: what plain `parcahyd run` goes on with, and what it asks to be repeated."""

from __future__ import annotations

import json
import shlex
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, Finished, Setting, assert_user_error
from tests.support.generated_site import generated_site
from tests.support.processes import TEST_TIMEOUT, marked_processes, wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Site, html

LOOPBACK: dict[str, Setting] = {"Map.AllowAddresses": ["127.0.0.0/8"]}


class PlainCrawl(Crawl):
    """Runs in a folder without configuration: all settings are on the command line, or remembered."""

    def __init__(self, folder: Path) -> None:
        here = folder / "here"
        here.mkdir()
        super().__init__(folder / "reading", f"sqlite:///{here / 'crawl.db'}")
        self.folder = here

    def _run_arguments(self, seeds: Iterable[str], sets: Mapping[str, Setting] | None) -> list[str]:
        return [word for word in super()._run_arguments(seeds, sets) if word not in ("--conf", str(self.conf))]

    def record(self) -> dict[str, Any]:
        """The settings of the last run, as the database has them."""
        connection = sqlite3.connect(self.folder / "crawl.db")
        (text,) = connection.execute("SELECT settings FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        connection.close()
        settings: dict[str, Any] = json.loads(text)
        return settings

    def forge(self, **settings: object) -> None:
        """Writes into the last run's row what its user never gave."""
        names = {name.replace("_", "."): value for name, value in settings.items()}
        record = self.record()
        forged = json.dumps({**record, **names, "given": {**record["given"], **dict.fromkeys(names, "--set")}})
        connection = sqlite3.connect(self.folder / "crawl.db")
        connection.execute("UPDATE runs SET settings = ?", [forged])
        connection.commit()
        connection.close()


@pytest.fixture
def plain(tmp_path: Path) -> PlainCrawl:
    return PlainCrawl(tmp_path)


def _settings_told(finished: Finished) -> list[str]:
    lines = [line.removeprefix("parcahyd: ") for line in finished.err.splitlines()]
    return [line for line in lines if line.endswith(", as in the last run") or " -> is " in line]


def _pasted(refused: Finished) -> list[str]:
    """The options that the line has for the user to paste."""
    assert_user_error(refused, "which no run takes from a database")
    return shlex.split(refused.err.partition("(repeat ")[2].partition("; or go on without")[0])


@pytest.mark.parametrize("end", ["ctrl-c", "sigterm", "kill-9"])
def test_plain_run_goes_on_with_the_settings_of_a_run_that_was_stopped(server: SiteServer, plain: PlainCrawl, end: str) -> None:
    listener = server.listen()
    site = generated_site(60)
    server.put("", site)
    excluded = next(path for path in sorted(site.bodies()) if path != "/" and path.endswith("7"))
    first: dict[str, Setting] = {
        **LOOPBACK,
        "Work.HostDelay": 0,
        "Work.HostConnections": 4,
        "Work.MaxInstances": 1,
        "Work.Exclude": [f"*{excluded}"],
        "Work.StopTimeout": TEST_TIMEOUT,
    }
    with (
        server.holding(lambda _: len(server.targets()) > 20) as release,
        plain.start(listener.url(), sets=first, options=["--interval", "0"]) as running,
    ):
        assert wait_until(lambda: len(server.targets()) > 20), running.said()
        if end == "kill-9":
            running.process.send_signal(signal.SIGKILL)
        else:
            running.process.send_signal(signal.SIGINT if end == "ctrl-c" else signal.SIGTERM)
            assert wait_until(lambda: "stopping" in running.phases()), running.said()
        release()
        running.wait()
        assert wait_until(lambda: not marked_processes(plain.mark))
    asked, states = len(server.targets()), plain.states()
    assert "known" in {state for state, _ in states.values()}, "there is something to go on with"

    refused = plain.run(code=2)
    assert _pasted(refused) == ["--set", 'Map.AllowAddresses=["127.0.0.0/8"]']
    assert (len(server.targets()), plain.states()) == (asked, states), "nothing is asked for, and no state changes"

    finished = plain.command("run", *_pasted(refused))
    assert finished.code == 0, finished.err
    assert _settings_told(finished) == [
        f'Work.Exclude = ["*{excluded}"], as in the last run',
        "Work.HostDelay = 0.0, as in the last run",
        "Work.HostConnections = 4, as in the last run",
        "Work.MaxInstances: was 1 -> is 0",
        f"Work.StopTimeout: was {float(TEST_TIMEOUT)} -> is 10.0",
    ]
    assert excluded not in server.targets()
    if end != "kill-9":
        assert max(Counter(server.targets()).values()) == 1
    assert {state for state, _ in plain.states().values()} == {"stored", "refused"}
    assert plain.states()[listener.url(excluded)] == ("refused", "excluded")
    plain.verify()


def test_each_process_works_by_what_is_taken_over(server: SiteServer, plain: PlainCrawl) -> None:
    """MaxPages counts in the coordinator, StripParameters in the worker, KeepLinks in Update Database."""
    listener = server.listen()
    pages = {f"/{number}": html(str(number), [f"/{number + 1}?sid=x"]) for number in range(9)}
    server.put("", Site({"/": html("Root", ["/0"]), **pages}))
    quick: dict[str, Setting] = {**LOOPBACK, "Work.HostDelay": 0}
    limits: dict[str, Setting] = {"Work.MaxPages": 2, "Work.StripParameters": ["sid"], "Work.KeepLinks": False}
    plain.run(listener.url(), sets={**quick, **limits})
    summary = json.loads(plain.run(sets=LOOPBACK).out.splitlines()[-1])
    assert summary["outcome"] == "max-pages"
    assert server.targets() == ["/", "/0", "/1", "/2"]
    assert plain.run(sets={**LOOPBACK, "Work.MaxPages": 3}).code == 0
    assert plain.record()["Work.StripParameters"] == ["sid"]
    assert server.targets()[4:] == ["/3", "/4", "/5"]
    connection = sqlite3.connect(plain.folder / "crawl.db")
    assert connection.execute("SELECT count(*) FROM links").fetchone() == (0,)
    connection.close()
    plain.verify()


# What the first run is given, what the second is, its exit code, and its lines about settings. All crawl an address that is
# not public, so that nothing is requested.
SECOND_RUNS: list[tuple[str, list[str], list[str], int, list[str]]] = [
    ("nothing", [], [], 1, []),
    ("the-same", ["Work.Cookies=true"], ["--set", "Work.Cookies=true"], 1, []),
    ("a-delay", ["Work.HostDelay=3"], [], 1, ["Work.HostDelay = 3.0, as in the last run"]),
    ("an-order", ["Work.Order=in-links"], [], 1, ['Work.Order = "in-links", as in the last run']),
    ("another-delay", ["Work.HostDelay=3"], ["--set", "Work.HostDelay=4"], 1, ["Work.HostDelay: was 3.0 -> is 4.0"]),
    ("a-limit-unset", ["Work.MaxPages=3"], ["--set", "Work.MaxPages="], 1, ["Work.MaxPages: was 3 -> is unset"]),
    ("workers", ["Work.MaxInstances=1"], [], 1, ["Work.MaxInstances: was 1 -> is 0"]),
    ("cookies", ["Work.Cookies=true"], [], 2, ["repeat --set Work.Cookies=true; or"]),
    ("downloader", ["Work.DownloaderClass=requests"], [], 2, ["repeat --set 'Work.DownloaderClass=\"requests\"'; or"]),
    ("resolver", ["Map.DnsResolverClass=system"], [], 2, ["repeat --set 'Map.DnsResolverClass=\"system\"'; or"]),
    ("a-name", ["Work.UserAgent=me/1 (+mailto:me@a.example)"], [], 2, ["repeat --set 'Work.UserAgent=\"me/1 (+mailto:me@a"]),
    ("a-secret", ["Work.Proxy=http://me:s3cret@127.0.0.1:9"], [], 2, ["(give Work.Proxy again; or go on without"]),
    ("without-it", ["Work.Cookies=true"], ["--as-configured"], 1, ["Work.Cookies: was true -> is false"]),
    ("refresh", ["Work.Cookies=true"], ["--refresh"], 2, ["repeat --set Work.Cookies=true; or"]),
]


@pytest.mark.parametrize(
    ("first", "second", "code", "lines"), [row[1:] for row in SECOND_RUNS], ids=[row[0] for row in SECOND_RUNS]
)
def test_the_second_run(plain: PlainCrawl, first: list[str], second: list[str], code: int, lines: list[str]) -> None:
    options = [word for one in first for word in ("--set", one)]
    seed = "http://127.0.0.1:9/"
    assert plain.command("run", seed, *options, "--set", "Work.WaitForRetries=0").code == 1
    assert b"s3cret" not in b"".join(path.read_bytes() for path in plain.folder.glob("crawl.db*"))
    urls = plain.urls()
    finished = plain.command("run", *second, "--set", "Work.WaitForRetries=0")
    assert finished.code == code, finished.err
    assert "s3cret" not in finished.err
    if code == 2:
        assert_user_error(finished, *lines)
        assert plain.urls() == urls
    else:
        assert _settings_told(finished) == lines


def test_a_database_from_others_is_neither_code_nor_policy(server: SiteServer, plain: PlainCrawl) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("Root", [])}))
    trap = plain.folder / "trap"
    trap.mkdir()
    code = f"open({str(plain.folder / 'sprung')!r}, 'w').close()\n"
    (trap / "evil.py").write_text(code)
    plain.environment["PYTHONPATH"] = str(trap)
    plain.python_path.append(trap)
    plain.run("http://127.0.0.1:9/", listener.url(), sets={"Work.WaitForRetries": 0})
    plain.forge(
        Map_AllowAddresses=["127.0.0.0/8"],
        Map_PluginDir=str(trap),
        Map_DnsResolverClass="evil:Resolver",
        Work_DownloaderClass="evil.Downloader",
        Work_Order="evil:Order",
        Work_Host=[{"Pattern": "127.0.0.1", "IgnoreRobots": True}],
    )
    refused = plain.run(code=2)
    assert_user_error(
        refused, "Map.DnsResolverClass, Map.AllowAddresses, Map.PluginDir, Work.DownloaderClass, Work.Order, Work.Host"
    )
    plain.command("run", "--as-configured", "--refresh")
    assert plain.states()[listener.url()] == ("refused", "address")
    assert server.targets() == []
    assert not (plain.folder / "sprung").exists()


def test_settings_that_are_damaged_are_one_line(plain: PlainCrawl) -> None:
    plain.run("http://127.0.0.1:9/", sets={"Work.WaitForRetries": 0})
    connection = sqlite3.connect(plain.folder / "crawl.db")
    connection.execute("UPDATE runs SET settings = '[1'")
    connection.commit()
    connection.close()
    assert_user_error(plain.run(code=2), "settings", "damaged", "restore it from a copy")
