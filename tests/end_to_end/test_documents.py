"""What documents declare: robots directives, links in headers, sitemaps and feeds, archives, summaries."""

from __future__ import annotations

import gzip
import io
import zipfile

from tests.support.crawl import CrawlFactory
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Request, Site, html, robots


def _page(body: str, *headers: tuple[str, str]) -> Answer:
    return Answer(f"<!doctype html><html lang=en><title>T</title>{body}".encode(), headers=headers)


def _of_type(body: bytes, media_type: str) -> Answer:
    return Answer(body, media_type=media_type)


def test_what_pages_ask_of_robots(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    links = '<a href="/from{0}">x</a>'
    pages: dict[str, Page] = {
        "/": html("Root", ["/noindex", "/nofollow", "/none", "/noarchive", "/others", "/rel"]),
        "/noindex": _page('<meta name="robots" content="noindex">' + links.format(1)),
        "/nofollow": _page(links.format(2), ("X-Robots-Tag", "nofollow")),
        "/none": _page('<meta content="NONE" name=Robots>' + links.format(3)),
        "/noarchive": _page(links.format(4), ("X-Robots-Tag", "otherbot: none"), ("X-Robots-Tag", "parcahyd: noarchive")),
        "/others": _page('<meta name="googlebot" content="none">' + links.format(5), ("X-Robots-Tag", "otherbot: none")),
        "/rel": _page('<a rel="nofollow" href="/from6">x</a><a href="/from7">y</a>'),
        **{f"/from{number}": html(f"From {number}") for number in range(1, 8)},
    }
    server.put("", Site(pages))
    running = crawl_on()
    running.run(listener.url())
    states = {url.removeprefix(listener.url("")): state for url, state in running.states().items()}
    assert states["/noindex"] == ("stored", "noindex")
    assert states["/noarchive"] == ("stored", "noarchive")
    assert states["/none"] == ("stored", "noindex")
    assert states["/nofollow"] == ("stored", "")
    stored = {path for path, state in states.items() if path.startswith("/from") and state == ("stored", "")}
    assert stored == {"/from1", "/from4", "/from5", "/from7"}
    # What only nofollow leads to is listed with its reason and with the page that links to it.
    assert {path for path, state in states.items() if state == ("refused", "nofollow")} == {"/from2", "/from3", "/from6"}
    explained = running.explain(listener.url("/from6"))
    assert "refused: nofollow" in explained
    assert "linked from /rel" in explained
    # A page with noindex is not counted as unchanged.
    counts = running.status()["last_run"]["counts"]
    assert counts.get("unchanged", 0) == 0
    shown = running.command("show", "--conf", str(running.conf), listener.url("/noindex"))
    assert shown.code == 2
    assert "its page asks for that (noindex)" in shown.err
    running.verify()

    # A document that was stored before the page forbade it is removed, unless the settings ignore directives.
    server.site().pages["/others"] = _page(links.format(5), ("X-Robots-Tag", "noindex"))
    running.run(sets={"Work.RevisitAfter": 0})
    assert running.states()[listener.url("/others")] == ("stored", "noindex")
    running.verify()
    running.run(sets={"Work.RevisitAfter": 0, "Work.Directives": []})
    assert listener.url("/others") in running.stored()
    assert {listener.url(f"/from{number}") for number in (2, 3, 6)} <= running.stored()
    running.verify()


def test_pages_speak_to_the_user_agent_that_their_host_gets(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    pages: dict[str, Page] = {
        "/": html("Root", ["/header", "/meta", "/other"]),
        "/header": _page("x", ("X-Robots-Tag", "otherbot: noindex")),
        "/meta": _page('<meta name="otherbot" content="noindex">'),
        "/other": _page("y", ("X-Robots-Tag", "parcahyd: noindex")),
    }
    server.put("", Site(pages))
    running = crawl()
    with (running.conf / "WorkConf.toml").open("a") as file:
        file.write('[[Host]]\nPattern = "127.0.0.1"\nUserAgent = "otherbot/2.0"\n')
    running.run(listener.url())
    assert {entry.headers["user-agent"] for entry in server.log} == {"otherbot/2.0"}
    assert running.stored() == {listener.url("/"), listener.url("/other")}
    assert running.states()[listener.url("/meta")] == ("stored", "noindex")


def test_sitemaps_that_robots_names_come_first(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()

    def urlset(*paths: str) -> bytes:
        entries = "".join(f"<url><loc>{listener.url(path)}</loc></url>" for path in paths)
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()

    index = "".join(f"<sitemap><loc>{listener.url(path)}</loc></sitemap>" for path in ("/map.xml.gz", "/index.xml", "/map.txt"))
    pages: dict[str, Page] = {
        "/robots.txt": robots(f"Sitemap: {listener.url('/index.xml')}\nSitemap: more.txt\n"),
        "/more.txt": _of_type(listener.url("/hidden4").encode(), "text/plain"),
        "/": html("Root"),
        "/index.xml": _of_type(f"<sitemapindex>{index}</sitemapindex>".encode(), "application/xml"),
        "/map.xml.gz": _of_type(gzip.compress(urlset("/hidden1", "/hidden2")), "application/gzip"),
        "/map.txt": _of_type(listener.url("/hidden3").encode(), "text/plain"),
        **{f"/hidden{number}": html(f"Hidden {number}") for number in range(1, 5)},
    }
    server.put("", Site(pages))
    running = crawl_on({"Work.HostConnections": 1})
    running.run(listener.url())
    assert running.stored() == {listener.url(path) for path in pages if path != "/robots.txt"}
    assert server.targets()[0] == "/index.xml"
    assert len(server.targets()) == len(set(server.targets()))
    running.verify()


def test_sitemaps_that_name_each_other_without_end(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()

    def answer(request: Request) -> Answer:
        number = int(request.target.removeprefix("/map").removesuffix(".xml"))
        names = "".join(f"<sitemap><loc>/map{one}.xml</loc></sitemap>" for one in (number, 0, number + 1, 2 * number + 3))
        return _of_type(f"<sitemapindex>{names}</sitemapindex>".encode(), "application/xml")

    class Endless(Site):
        def answer(self, request: Request) -> Answer:
            return answer(request) if request.target.startswith("/map") else super().answer(request)

    server.put("", Endless({"/robots.txt": robots(f"Sitemap: {listener.url('/map0.xml')}\n"), "/": html("Root")}))
    running = crawl()
    running.run(listener.url())
    assert set(server.targets()) == {"/", *(f"/map{number}.xml" for number in (0, 1, 3, 2, 5, 4, 9))}
    running.verify()


def test_sitemaps_can_be_left_alone(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/robots.txt": robots(f"Sitemap: {listener.url('/map.xml')}\n"), "/": html("Root")}))
    running = crawl({"Work.Sitemaps": False})
    running.run(listener.url())
    assert server.targets() == ["/"]


def test_links_in_headers_feeds_and_xhtml(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    feed = b'<rss version="2.0"><channel><item><link>/from-feed</link></item></channel></rss>'
    xhtml = b'<html xmlns="http://www.w3.org/1999/xhtml"><body><script/><a href="/from-xhtml">x</a></body></html>'
    pages: dict[str, Page] = {
        "/": _page('<a href="/feed">f</a><a href="/xhtml">x</a>', ("Link", '</from-header>; rel="next"')),
        "/feed": _of_type(feed, "application/rss+xml"),
        "/xhtml": _of_type(xhtml, "application/xhtml+xml"),
        **{path: html(path) for path in ("/from-header", "/from-feed", "/from-xhtml")},
    }
    server.put("", Site(pages))
    running = crawl()
    running.run(listener.url())
    assert running.stored() == {listener.url(path) for path in pages}
    running.verify()


def test_titles_are_kept_and_whole_summaries_where_wanted(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    server.put(
        "", Site({"/": _page("<p>Some words about kettles and kettles</p>"), "/text": _of_type(b"First\n", "text/plain")})
    )
    running = crawl_on({"Work.Summaries": "full"})
    running.run(listener.url(), listener.url("/text"))
    assert "T" in running.explain(listener.url())
    lines = {line["url"]: line for line in running.urls()}
    assert lines[listener.url()]["title"] == "T"
    assert lines[listener.url()]["language"] == "en"
    assert lines[listener.url("/text")]["title"] == "First"
    running.verify()


def test_members_of_archives_become_documents(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("docs/a.html", "<!doctype html><title>A</title>")
        archive.writestr("../b.txt", "B")
    server.put("", Site({"/": html("Root", ["/x.zip"]), "/x.zip": _of_type(packed.getvalue(), "application/zip")}))
    running = crawl_on({"Work.Expand": True})
    running.run(listener.url())
    member = listener.url("/x.zip") + "#!/docs/a.html"
    assert {listener.url(), listener.url("/x.zip"), member, listener.url("/x.zip") + "#!/b.txt"} == running.stored()
    assert running.show(member) == b"<!doctype html><title>A</title>"
    assert running.show(listener.url("/x.zip")) == packed.getvalue()
    server.forget()
    running.run(sets={"Work.RevisitAfter": 0})
    assert sorted(server.targets()) == ["/", "/x.zip"]
    running.verify()


def test_a_document_that_a_plugin_cannot_read_is_stored_all_the_same(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    broken, worse = _of_type(b"PK\x03\x04 broken", "application/zip"), _of_type(b"%PDF-1.4 x", "application/pdf")
    server.put("", Site({"/": html("Root", ["/x.zip", "/x.pdf"]), "/x.zip": broken, "/x.pdf": worse}))
    running = crawl({"Work.Expand": True, "Work.Summaries": "full"})
    running.run(listener.url())
    assert running.stored() == {listener.url(path) for path in ("/", "/x.zip", "/x.pdf")}
    running.verify()
