"""The first half hour at the command line: mistakes with their lines, seeds that cannot be fetched, and a crawl that is
asked again or forgotten."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.sample.server import SampleServer
from tests.support.crawl import CrawlFactory, Finished
from tests.support.processes import wait_until
from tests.support.site_server import SiteServer, refusing_port
from tests.support.sites import Site, redirect

_SEED = "http://127.0.0.1:9/"

# What is typed, the exit code, and the beginning of each line on standard error. {here} is the current folder.
MISTAKES: list[tuple[str, list[str], int, list[str]]] = [
    ("no-command", ["crawl"], 2, ["there is no command 'crawl'"]),
    ("a-command-misspelt", ["stauts"], 2, ["there is no command 'stauts' (did you mean 'status'?)"]),
    ("no-run", [_SEED], 2, [f"there is no command '{_SEED}' (did you mean run {_SEED}?)"]),
    ("an-option-misspelt", ["run", "--sedes", "x"], 2, ["no such option '--sedes'"]),
    ("no-seed", ["run"], 2, ["there is nothing to crawl: no seed is given, and there is no database {here}/crawl.db yet"]),
    ("htp", ["run", "htp://a.example/"], 2, ['seed "htp://a.example/": "htp" is no scheme (did you mean http://a.example/?)']),
    ("htttps", ["run", "htttps://a.example/"], 2, ['seed "htttps://a.example/": "htttps" is no scheme (did you mean https']),
    ("no-scheme", ["run", "a.example"], 2, ['seed "a.example": its scheme is missing (did you mean https://a.example/?)']),
    ("localhost", ["run", "localhost:80"], 2, ['seed "localhost:80": its scheme is missing (did you mean http://localhost']),
    ("no-colon", ["run", "http//a.example"], 2, ['seed "http//a.example": "://" must follow http (did you mean http://a.']),
    ("no-host", ["run", "http://"], 2, ['seed "http://": it has no host']),
    ("port-99999", ["run", "http://a.example:99999/"], 2, ['seed "http://a.example:99999/": its port "99999" is not a numb']),
    ("port-http", ["run", "http://a.example:http/"], 2, ['seed "http://a.example:http/": its port "http" is not a number']),
    ("a-blank", ["run", "http://a example/"], 2, ['seed "http://a example/": it has a blank in its host']),
    ("two-in-one", ["run", "http://a.example/ http://b.example/"], 2, ['seed "http://a.example/ http://b.example/": it is mo']),
    ("nothing", ["run", ""], 2, ['seed "": it is empty']),
    ("windows", ["run", r"C:\site\index.html"], 2, [r'seed "C:\site\index.html": it is the path of a file on Windows']),
    (
        "a-file",
        ["run", "/srv/index.html"],
        2,
        ['seed "/srv/index.html": it is the path of a file (did you mean file:///srv/index.html?)'],
    ),
    ("mailto", ["run", "mailto:me@a.example"], 2, ['seed "mailto:me@a.example": what begins with "mailto:" names no se']),
    ("an-address", ["run", "http://1.2.3.456/"], 2, ['seed "http://1.2.3.456/": its host "1.2.3.456" is neither a name']),
    ("two-mistakes", ["run", "a.example", "htp://b/"], 2, ['seed "a.example": its scheme', 'seed "htp://b/": "htp" is no']),
    ("a-list-as-seed", ["run", "urls.txt"], 2, ['seed "urls.txt": its scheme is missing (did you mean --seeds urls.txt?)']),
    ("a-folder-as-seed", ["run", "folder"], 2, ['seed "folder": it is not a URL (did you mean --conf folder?)']),
    ("a-bad-line", ["run", "--seeds", "urls.txt"], 2, ['urls.txt, line 3: "htp://b/": "htp" is no scheme']),
    ("no-list", ["run", "--seeds", "none.txt"], 2, ["none.txt cannot be read: No such file or directory"]),
    ("an-empty-list", ["run", "--seeds", "empty.txt"], 2, ["empty.txt has no URL in it (write one per line)"]),
    ("seeds-in-settings", ["run", "--set", 'Work.Seeds=["http://a:0/"]'], 2, ['--set Work.Seeds=["http://a:0/"]: Seeds: ']),
    ("a-foreign-database", ["run", "-q", _SEED, "--db", "places.db"], 2, ["{here}/places.db is a database of another program"]),
    (
        "no-database-file",
        ["run", "-q", _SEED, "--db", "urls.txt"],
        2,
        ["cannot open the database {here}/urls.txt: file is not a"],
    ),
    ("a-folder-as-db", ["status", "--db", "folder"], 2, ['--db: "folder" is a folder']),
    ("another-server", ["status", "--db", "mysql://h/n"], 2, ['--db DbUrl: "mysql:..." names no database']),
    ("no-server", ["status", "--db", "postgresql://127.0.0.1:1/n"], 2, ["cannot open the database postgresql+psycopg://127"]),
    ("no-crawl-status", ["status"], 2, ["there is no database {here}/crawl.db yet (run `parcahyd run` first"]),
    ("no-crawl-show", ["show", _SEED], 2, ["there is no database {here}/crawl.db yet"]),
    ("no-crawl-forget", ["forget", _SEED], 2, ["there is no database {here}/crawl.db yet"]),
    ("no-crawl-refresh", ["run", "--refresh"], 2, ["there is no database {here}/crawl.db yet"]),
    ("forget-what", ["forget"], 2, ["forget takes URLs or --site HOST"]),
    ("site-without-refresh", ["run", _SEED, "--site", "a.example"], 2, ["--site needs --refresh"]),
    ("a-setting-misspelt", ["run", _SEED, "--set", "Work.HostDelai=1"], 2, ["--set Work.HostDelai=1: HostDelai: unknown key"]),
    ("a-key-misspelt", ["config", "HostDelai"], 2, ['there is no setting "HostDelai" (did you mean Work.HostDelay?)']),
    ("no-conf", ["status", "--conf", "none"], 2, ['"{here}/none": does not exist']),
    ("a-state-misspelt", ["urls", "--state", "lost"], 2, ["invalid value for '--state': 'lost' is not one of 'known'"]),
]


@pytest.mark.parametrize(("arguments", "code", "lines"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_a_mistake_has_its_line(
    arguments: list[str],
    code: int,
    lines: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Through the program's entry point in this process: an interpreter takes longer to start than the rest."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "urls.txt").write_text("# mine\nhttp://a.example/\nhtp://b/\n" + "#" * 1000)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "folder").mkdir()
    connection = sqlite3.connect(tmp_path / "places.db")
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert main(arguments) == code
    out, err = capfd.readouterr()
    assert out == ""
    said = err.splitlines()
    assert len(said) == len(lines), err
    for line, words in zip(said, lines, strict=True):
        assert line.startswith(f"parcahyd: {words.format(here=tmp_path)}"), line
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file() and path.suffix != ".lock"}
    assert after == before, "a mistake leaves no file"


# --- runs that bring nothing --------------------------------------------------------------------------------------------


def _lines(finished: Finished) -> list[str]:
    return [line.removeprefix("parcahyd: ") for line in finished.err.splitlines()]


def test_no_seed_could_be_fetched(crawl: CrawlFactory, server: SiteServer) -> None:
    missing = server.listen().url("/none")
    server.put("", Site({}))
    running = crawl({"Map.AllowAddresses": ["127.0.0.1/32"]})
    with refusing_port() as port:
        closed = f"http://127.0.0.1:{port}/"
        said = _lines(running.run(closed, missing, "http://127.0.0.2/", code=1))
        # Without seeds it goes by those that the crawl has, and says when the next is due.
        again = _lines(running.run(code=1))
    assert said[0].startswith(
        f"{closed} could not be fetched: robots.txt could not be fetched, so nothing may be fetched for now"
    )
    assert said[1] == f"{missing} could not be fetched: The server says that there is no such document: HTTP 404"
    assert said[2].startswith(
        "http://127.0.0.2/ could not be fetched: The host's address is not public and not in AllowAddresses"
    )
    assert said[2].endswith("(If that network is yours to crawl, allow it: --set 'Map.AllowAddresses=[\"127.0.0.2/32\"]')")
    assert len(said) == 3
    assert sorted(again[:3]) == sorted(said)
    assert again[3].startswith("nothing is due before 20")


def test_one_seed_that_is_fetched_is_enough_and_then_nothing_is_due(crawl: CrawlFactory) -> None:
    running = crawl()
    with SampleServer() as sample:
        assert running.run(sample.url, f"{sample.url}none").err == ""
        stored = running.stored()
        # One that is stored and fresh: nothing to do, and no failure.
        (line,) = _lines(running.run(sample.url))
        assert line.startswith("nothing is due before 20")
        assert line.endswith("; --refresh asks again now")
        # A new seed that fails is told, although the crawl has others.
        (line,) = _lines(running.run(f"{sample.url}other", code=1))
        assert line == f"{sample.url}other could not be fetched: The server says that there is no such document: HTTP 404"
    assert running.stored() == stored


def test_seeds_that_lead_to_what_cannot_be_fetched(crawl: CrawlFactory, server: SiteServer) -> None:
    listener = server.listen()
    server.put("", Site({"/": redirect("/target"), "/circle": redirect("/circle")}))
    said = _lines(crawl().run(listener.url(), listener.url("/circle"), code=1))
    target = f"{listener.url()}, which leads to {listener.url('/target')},"
    assert said == [
        f"{target} could not be fetched: The server says that there is no such document: HTTP 404",
        f"{listener.url('/circle')} could not be fetched: Its redirects lead to no document.",
    ]


def test_what_is_stored_is_asked_for_again_and_forgotten(crawl: CrawlFactory) -> None:
    running = crawl()
    conf = ("--conf", str(running.conf))
    with SampleServer() as sample:
        running.run(sample.url)
        before = {url["url"]: url["checked_at"] for url in running.urls("--state", "stored")}
        one = next(url for url in sorted(before) if url != sample.url)
        assert running.command("run", *conf, "--refresh", one).code == 0
        after = {url["url"]: url["checked_at"] for url in running.urls("--state", "stored")}
        assert {url for url in before if after[url] != before[url]} == {one}
        assert running.command("run", *conf, "--refresh").code == 0
        last = {url["url"]: url["checked_at"] for url in running.urls("--state", "stored")}
        assert all(last[url] > after[url] for url in before)
        assert running.status()["seeds"] == 1, "a URL that is asked for again is no seed"
        forgotten = running.command("forget", *conf, one)
        assert (forgotten.code, forgotten.text) == (0, "1 URL forgotten.\n")
        assert one not in running.states()
        running.verify()
        with running.start(options=["--forever"]) as run:
            lock = running.folder / "crawl.db.lock"
            assert wait_until(lambda: lock.read_text().strip() == str(run.process.pid)), run.said()
            busy = running.command("forget", *conf, "--site", "127.0.0.1")
            assert busy.code == 2
            assert "another run is working on this database" in busy.err
            run.interrupt()
            assert run.wait() == 130
        assert running.command("forget", *conf, "--site", "127.0.0.1").code == 0
    assert list(running.states()) == ["https://www.example.org/tea.html"]
    running.verify()
