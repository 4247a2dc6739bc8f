"""`parcahyd fetch` prints every detail of one visit (`cli/single_fetch.py`), and stores nothing."""

from __future__ import annotations

from pathlib import Path

from tests.support.crawl import CrawlFactory
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Site, html, redirect, robots


def test_a_document_with_its_headers_and_links(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    listener = server.listen()
    page = html("Root", ["/a", "http://other.test/"])
    server.put("", Site({"/": page, "/robots.txt": robots("User-agent: *\nDisallow: /private\nCrawl-delay: 2\n")}))
    running = crawl()
    target = tmp_path / "page.html"
    shown = running.command("fetch", "--conf", str(running.conf), "--output", str(target), listener.url("/#top"))
    assert shown.code == 0, shown.err
    assert server.targets() == ["/"]
    assert target.read_bytes() == page.body
    for line in ("given as", "> User-Agent: parcahyd/", "asks for 2.0 s between two requests", "/a\n", "http://other.test/\n"):
        assert line in shown.text
    assert f"document of {len(page.body)} bytes, text/html" in shown.text
    assert not list(running.conf.glob("*.db"))


def test_what_robots_forbids_is_not_fetched(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/private": html("Secret"), "/robots.txt": robots("User-agent: *\nDisallow: /private\n")}))
    running = crawl()
    shown = running.command("fetch", "--conf", str(running.conf), listener.url("/private"))
    assert shown.code == 1
    assert server.targets() == []
    assert "forbidden for parcahyd by Disallow: /private (line 2)" in shown.text


def test_redirects_failures_and_addresses_that_are_not_public(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    away = redirect("http://other.test/x")
    busy = Answer(status=503, headers=(("Retry-After", "120"),))
    server.put("", Site({"/moved": redirect("/here"), "/here": html("Here"), "/away": away, "/busy": busy}))
    running = crawl()
    base = ["fetch", "--conf", str(running.conf)]
    assert "redirect to http://other.test/x" in running.command(*base, listener.url("/away")).text
    moved = running.command(*base, listener.url("/moved")).text
    assert "/here" in moved
    assert "document of" in moved
    busy_told = running.command(*base, listener.url("/busy"))
    assert busy_told.code == 1
    assert "the server wants to be left alone until" in busy_told.text
    private = running.command(*base, "--set", "Map.AllowAddresses=[]", listener.url())
    assert private.code == 1
    assert "not public" in private.text


def test_what_is_no_url_is_a_user_error(crawl: CrawlFactory) -> None:
    running = crawl()
    shown = running.command("fetch", "--conf", str(running.conf), "mailto:nobody@example.org")
    assert shown.code == 2
    assert "is not the URL of a document on a server" in shown.err


def test_a_file_that_cannot_be_written_is_one_line(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("Root")}))
    running = crawl()
    target = tmp_path / "nowhere" / "page.html"
    shown = running.command("fetch", "--conf", str(running.conf), "--output", str(target), listener.url("/"))
    assert shown.code == 2
    assert shown.err == f"parcahyd: {str(target)!r} cannot be written: No such file or directory (give another with --output)\n"


def test_a_robots_file_on_another_site_is_told(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("Root"), "/robots.txt": redirect("http://other.test/robots.txt")}))
    running = crawl()
    shown = running.command("fetch", "--conf", str(running.conf), listener.url("/"))
    assert shown.code == 1
    assert "awaited (redirects to http://other.test/robots.txt)" in shown.text
    assert "robots.txt lies on another site." in shown.text


def test_secrets_are_sent_and_not_shown(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("Root")}))
    running = crawl()
    with (running.conf / "WorkConf.toml").open("a") as file:
        file.write('[[Host]]\nPattern = "127.0.0.1"\nCredentials = "me:horse"\n')
        file.write('Headers = { "X-Key" = "battery", "Accept-Language" = "pt", "Cookie" = "a=staple" }\n')
    shown = running.command("fetch", "--conf", str(running.conf), listener.url())
    assert shown.code == 0, shown.err
    assert "> X-Key: ***\n" in shown.text
    assert "> Accept-Language: pt\n" in shown.text
    assert not any(secret in shown.text for secret in ("horse", "battery", "staple", "bWU6aG9yc2U="))
    sent = server.requests()[-1].headers
    assert (sent["x-key"], sent["cookie"], sent["authorization"]) == ("battery", "a=staple", "Basic bWU6aG9yc2U=")
