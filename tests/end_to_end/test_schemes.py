"""Crawls of other protocols than http: ftp folders, `file:` trees, gopher holes, and rows by the example plugin."""

from __future__ import annotations

import contextlib
import shutil
import socket
import sqlite3
from pathlib import Path

import pytest

from tests.net.ftp_server import FtpServer
from tests.support.crawl import CrawlFactory, assert_user_error
from tests.support.gopher_server import GopherServer
from tests.support.site_server import SiteServer
from tests.support.sites import html, redirect

_EXAMPLE = Path(__file__).parents[2] / "plugins" / "example_rows.py"


def _page(*hrefs: str) -> str:
    return html("page", hrefs).body.decode()


# --- ftp ----------------------------------------------------------------------------------------------------------------


def test_an_ftp_folder_is_followed(crawl: CrawlFactory) -> None:
    files = {
        "/pub/read me.txt": b"hello",
        "/pub/deep/er/last.txt": b"the end",
        "/pub/deep/page.html": _page("er/last.txt", "../read%20me.txt").encode(),
        "/other/private.txt": b"above the seed",
    }
    with FtpServer(files) as server:
        running = crawl()
        running.run(f"ftp://127.0.0.1:{server.port}/pub/")
        start = f"ftp://127.0.0.1:{server.port}/pub/"
        expected = {"", "read%20me.txt", "deep/", "deep/page.html", "deep/er/", "deep/er/last.txt"}
        assert running.stored() == {start + path for path in expected}
        assert running.show(start + "deep/er/last.txt") == b"the end"
        assert b"Nov 18 12:00 deep\n" in running.show(start)
        running.verify()


def test_a_hostile_ftp_listing_gets_nothing(crawl: CrawlFactory) -> None:
    line = "-rw-r--r--   1 ftp      ftp          1024 Nov 18 12:00 "
    with FtpServer({"/pub/good.txt": b"good", "/secret.txt": b"secret"}) as server:
        server.odd_lines = [
            *(f"{line}{name}" for name in ("..", ".", "../secret.txt", "/secret.txt", "a\x01b", "..\\secret.txt", "x\x00y")),
            f"d{line[1:]}..",
            "nothing that anybody could read",
            f"{line}http://127.0.0.1/",
        ]
        running = crawl()
        start = f"ftp://127.0.0.1:{server.port}/pub/"
        running.run(start)
        assert set(running.states()) == {start, start + "good.txt"}
        assert "RETR secret.txt" not in server.commands


def test_a_closed_port_is_told(crawl: CrawlFactory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    finished = crawl().run(f"ftp://127.0.0.1:{port}/", code=1)
    assert f"ftp://127.0.0.1:{port}/ could not be fetched" in finished.err
    assert "Could not connect to server" in finished.err


# --- file ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder to crawl, and beside it a file that must not be read."""
    top = (tmp_path / "tree").resolve()
    (top / "sub").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    outside = (tmp_path / "secret.txt").resolve().as_uri()
    (top / "page.html").write_text(_page("sub/b%20c.txt", "../secret.txt", outside, "sub"))
    (top / "sub" / "b c.txt").write_text("text")
    (top / "sub" / "unknown").write_bytes(b"%PDF-1.4\n")
    (top / ".hidden").write_text("hidden")
    (top / "link.txt").symlink_to(tmp_path / "secret.txt")
    (top / "up").symlink_to(tmp_path)
    (top / "sub" / "tables.html").write_text(f'<link rel="tvi" href="{outside}">' + _page("../up/secret.txt", "../link.txt"))
    return top


def test_a_file_tree_is_crawled_and_nothing_outside_of_it(crawl: CrawlFactory, tree: Path) -> None:
    running = crawl({"Work.Scope": "any", "Work.Probe": "blind"})
    top = tree.as_uri() + "/"
    running.run(top)
    expected = {"", "page.html", "sub/", "sub/b%20c.txt", "sub/unknown", "sub/tables.html"}
    assert running.stored() == {top + path for path in expected}
    assert running.show(top + "sub/b%20c.txt") == b"text"
    states = running.states()
    outside = (tree.parent / "secret.txt").as_uri()
    assert states.pop(outside) == ("refused", "local")
    assert states.pop(top + "sub") == ("stored", "redirect")
    assert states.pop(top + "link.txt") == ("gone", "http-refused")
    assert states.pop(top + "up/secret.txt") == ("gone", "missing")
    assert set(states) == {top + path for path in expected}
    explained = running.explain(outside)
    assert "Only seeds and links of the same protocol lead to it" in explained
    assert "none is asked for: its protocol has no robots.txt" in explained
    assert "none: it is a document of this machine" in explained
    assert {line["url"] for line in running.urls("--site", "file:///")} == set(running.states())
    running.verify()


def test_a_file_that_has_not_changed_is_not_read_again(crawl: CrawlFactory, tree: Path) -> None:
    running = crawl()
    top = tree.as_uri() + "/"
    running.run(top)
    (tree / "sub" / "b c.txt").write_text("changed text")
    (tree / "sub" / "new.txt").write_text("new")
    running.run(top, sets={"Work.RevisitAfter": 0})
    assert running.show(top + "sub/b%20c.txt") == b"changed text"
    assert running.show(top + "sub/new.txt") == b"new"
    status = {line["url"]: line["status"] for line in running.urls()}
    assert status[top + "page.html"] == 304


def test_which_files_are_read_is_not_taken_from_a_database(crawl: CrawlFactory, tree: Path) -> None:
    """A database that somebody else wrote: its seeds are not the user's, and a file without a seed is not read at all."""
    running = crawl()
    top = tree.as_uri() + "/"
    running.run(top, sets={"Work.MaxPages": 1})
    before = running.states()
    finished = running.run(sets={"Work.MaxPages": 0}, code=2)
    assert f"which no run takes from a database: {top} (repeat it: parcahyd run {top}; or remove it" in finished.err
    assert running.states() == before
    with contextlib.closing(sqlite3.connect(running.folder / "crawl.db")) as database:
        database.execute("DELETE FROM seeds")
        database.commit()
    running.run(sets={"Work.MaxPages": 0})
    assert running.stored() == {url for url, (state, _) in before.items() if state == "stored"}
    assert running.states()[top + "page.html"] == ("refused", "local")


def test_no_page_of_a_server_leads_to_a_file(crawl: CrawlFactory, server: SiteServer, tree: Path) -> None:
    """Not even to a file of a tree that is crawled; and such a link does not keep the tree's own links from being followed."""
    listener = server.listen()
    top = tree.as_uri() + "/"
    secret = (tree.parent / "secret.txt").as_uri()
    server.site().pages["/"] = html("page", [secret, top + "page.html", "/moved", "file://server/share"])
    server.site().pages["/moved"] = redirect(secret)
    running = crawl({"Work.Scope": "any"})
    running.run(listener.url())
    states = running.states()
    assert states[secret] == states[top + "page.html"] == ("refused", "local")
    assert running.stored() == {listener.url()}
    counts = {reason["reason"]: reason["urls"] for reason in running.status()["reasons"]}
    assert counts["local"] == 2
    running.run(top)
    states = running.states()
    assert states[top + "page.html"] == ("stored", "")
    assert states[secret] == ("refused", "local")


def test_a_seed_that_redirects_to_a_file_leads_nowhere(crawl: CrawlFactory, server: SiteServer, tree: Path) -> None:
    listener = server.listen()
    secret = (tree.parent / "secret.txt").as_uri()
    server.site().pages["/"] = redirect(secret)
    running = crawl()
    running.run(listener.url())
    assert running.states()[secret] == ("refused", "local")


def test_the_robots_txt_of_a_server_is_not_read_from_a_file(crawl: CrawlFactory, server: SiteServer, tree: Path) -> None:
    (tree / "robots.txt").write_text("")
    listener = server.listen()
    server.site().pages["/robots.txt"] = redirect((tree / "robots.txt").as_uri())
    server.site().pages["/"] = html("page")
    running = crawl()
    running.run(listener.url())
    assert running.stored() == set()
    assert "which is no URL of a web server" in running.explain(listener.url())


# --- gopher -------------------------------------------------------------------------------------------------------------


def test_a_gopher_hole_is_crawled(crawl: CrawlFactory, server: SiteServer, tree: Path) -> None:
    web = server.listen()
    server.site().pages["/"] = html("page", ())
    secret = (tree.parent / "secret.txt").as_uri()
    with GopherServer() as hole:
        hole.items[""] = (
            b"iwelcome\t\tnull.host\t1\r\n"
            + hole.menu(
                ("1", "deeper", "/deep er"), ("0", "a text", "/a.txt"), ("9", "bytes", "/x.bin"), ("7", "search", "/find")
            )[:-3]
            + f"hweb\tURL:{web.url()}\t127.0.0.1\t70\r\nhfile\tURL:{secret}\t127.0.0.1\t70\r\n".encode()
            + b"1bad host\t/x\tno/host\t70\r\n1redis\tFLUSHALL\t127.0.0.1\t6379\r\n"
            + b"0gone\t/gone\t127.0.0.1\t%d\r\n.\r\n" % hole.port
        )
        hole.items["/deep er"] = hole.menu(("0", "last", "/deep er/last"))
        hole.items["/a.txt"] = b"<a href='/0/nowhere'>a text has no links</a>\r\n.\r\n"
        hole.items["/deep er/last"] = b"last\r\n"
        hole.items["/x.bin"] = b"\x00\x01\x02"
        running = crawl({"Work.Scope": "any"})
        start = f"gopher://127.0.0.1:{hole.port}/"
        running.run(start)
        states = running.states()
        expected = {"", "1/deep%20er", "0/a.txt", "9/x.bin", "0/deep%20er/last"}
        assert running.stored() == {start + path for path in expected} | {web.url()}
        assert running.show(start) == hole.items[""]
        assert running.show(start + "9/x.bin") == b"\x00\x01\x02"
        assert states[start + "0/gone"] == ("gone", "missing")
        assert states["gopher://127.0.0.1:6379/1FLUSHALL"] == ("refused", "port")
        assert states[secret] == ("refused", "local")
        assert set(hole.selectors) == {"", "/deep er", "/a.txt", "/x.bin", "/deep er/last", "/gone"}
        running.verify()


def test_a_selector_with_a_line_break_is_never_sent(crawl: CrawlFactory) -> None:
    with GopherServer() as hole:
        running = crawl()
        seed = f"gopher://127.0.0.1:{hole.port}/0a%0D%0Ab"
        running.run(seed)
        assert running.states()[seed] == ("failed", "protocol")
        assert hole.selectors == []


def test_the_address_policy_holds_for_gopher(crawl: CrawlFactory) -> None:
    with GopherServer() as hole:
        running = crawl({"Map.AllowAddresses": []})
        seed = f"gopher://127.0.0.1:{hole.port}/"
        running.run(seed)
        assert running.states()[seed] == ("refused", "address")
        assert hole.selectors == []


# --- schemes of plugins -------------------------------------------------------------------------------------------------


def test_the_rows_of_a_database_are_crawled_by_the_example_plugin(
    crawl: CrawlFactory, server: SiteServer, tmp_path: Path
) -> None:
    databases = tmp_path / "databases"
    databases.mkdir()
    with sqlite3.connect(databases / "library.db") as library:
        library.execute('CREATE TABLE "old books" (title, year)')
        library.executemany('INSERT INTO "old books" VALUES (?, ?)', [("Walden", 1854), ("<Emma> & others", 1815)])
        library.execute("CREATE TABLE shelves (number)")
        library.executemany("INSERT INTO shelves VALUES (?)", [(number,) for number in range(1001)])
    listener = server.listen()
    server.site().pages["/"] = html("page", ("rows://library/shelves/",))
    running = crawl({"Work.Scope": "any", "Work.MaxPages": 1100})
    running.environment["ROWS"] = str(databases)
    (running.folder / "plugins").mkdir()
    shutil.copy(_EXAMPLE, running.folder / "plugins")

    running.run(listener.url())
    assert running.states()["rows://library/shelves/"] == ("refused", "local")
    running.run("rows://library/")
    stored = running.stored() - {listener.url()}
    assert stored >= {"rows://library/", "rows://library/old%20books/", "rows://library/old%20books/2"}
    assert stored >= {"rows://library/shelves/?1000", "rows://library/shelves/1001"}
    assert len(stored) == 1 + 2 + 2 + 1001 + 1
    assert b"<dt>title<dd>&lt;Emma&gt; &amp; others" in running.show("rows://library/old%20books/2")
    running.verify()


def test_a_plugin_that_cannot_be_made_fails_its_own_urls_only(crawl: CrawlFactory, server: SiteServer) -> None:
    listener = server.listen()
    server.site().pages["/"] = html("page", ())
    running = crawl()
    (running.folder / "plugins").mkdir()
    shutil.copy(_EXAMPLE, running.folder / "plugins")
    finished = running.run(listener.url(), "rows://library/")
    assert running.stored() == {listener.url()}
    assert running.states()["rows://library/"] == ("failed", "plugin")
    assert "the environment variable ROWS is not set" in finished.text + finished.err


# --- seeds --------------------------------------------------------------------------------------------------------------


def test_seeds_that_cannot_be_crawled_are_told_before_anything_is_written(crawl: CrawlFactory, tree: Path) -> None:
    running = crawl()
    top = tree.as_uri()
    for seed, sentence in {
        "file:/nowhere/at/all": "there is no such file or folder",
        top: f"it is a folder (did you mean {top}/?)",
        f"{top}/up": f"a symbolic link leads there, and none is followed (did you mean {tree.parent.as_uri()}/?)",
        "file://server/share/": "it is a file of another machine",
        "gemini://127.0.0.1/": 'nothing serves the scheme "gemini" (served are file, ftp, gopher, http, https)',
    }.items():
        finished = running.run(seed, code=2)
        assert_user_error(finished)
        assert sentence in finished.err
    assert not (running.folder / "crawl.db").exists()
