"""What servers send: codings, framings, character sets, copies, dead links and broken answers."""

from __future__ import annotations

import gzip
from dataclasses import replace

from tests.support.crawl import CrawlFactory
from tests.support.processes import wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Site, html


def _long(title: str) -> bytes:
    return html(title, extra=f"<p>{title} goes on and on. </p>" * 2000).body


def _cut(body: bytes) -> Answer:
    """A body that a server cut before it framed it: nothing but the coding shows that."""
    return Answer(gzip.compress(body)[:-20], framing="chunked", headers=(("Content-Encoding", "gzip"),))


def test_a_page_that_a_server_cut_is_whole_after_the_repair(server: SiteServer, crawl: CrawlFactory) -> None:
    """One half of the pages came cut, with the validators of the whole: a 304 must never confirm them."""
    listener = server.listen()
    links = [f"/page{number}" for number in range(10)]
    whole = {link: Answer(_long(link), coding="gzip", etag=f'"{link[-1]}"') for link in links}
    cut = {link: replace(_cut(_long(link)), etag=whole[link].etag) for link in links[::2]}
    server.put("", Site({"/": html("Front", links), **whole, **cut}))
    running = crawl({"Work.RetryDelay": 0.01, "Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01})
    running.run(listener.url())
    assert {link for link in links if running.states()[listener.url(link)] == ("failed", "content-coding")} == {*cut}
    server.site().pages.update(whole)
    assert wait_until(lambda: (running.run(), running.stored())[1] == {listener.url(link) for link in ("/", *links)})
    assert running.show_all(map(listener.url, links)) == {listener.url(link): whole[link].body for link in links}
    running.verify()


def test_every_kind_of_answer(server: SiteServer, crawl_on: CrawlFactory, database: str) -> None:
    listener = server.listen()
    copy = html("One of three copies")
    latin = '<meta charset="iso-8859-1"><title>Stra\xdfe</title><a href="/stra\xdfe">Weiter</a>'.encode("latin-1")
    good: dict[str, Page] = {
        "/zipped": Answer(_long("Zipped"), coding="gzip"),
        "/chunked": Answer(_long("Chunked"), framing="chunked"),
        "/zipped-chunked": Answer(_long("Zipped and chunked"), coding="gzip", framing="chunked"),
        "/until-close": Answer(_long("Until close"), framing="close"),
        "/latin": Answer(latin, media_type="text/html"),
        # A path is UTF-8 whatever the page's encoding is (WHATWG URL, section 4.4).
        "/stra%C3%9Fe": html("Reached from a Latin-1 page"),
        "/empty": Answer(b""),
        "/nameless-header": Answer(_long("A header line without a name"), headers=(("", "x"),)),
        "/image": Answer(bytes(range(256)) * 40, media_type="image/png"),
        "/no-type": Answer(b"\x00\x01\x02", media_type=""),
        "/copy1": copy,
        "/copy2": copy,
        "/copy3": copy,
    }
    bad: dict[str, tuple[Page, tuple[str, str]]] = {
        "/missing": (Answer(status=404), ("gone", "missing")),
        "/was-here": (Answer(status=410), ("gone", "missing")),
        "/forbidden": (Answer(status=403), ("gone", "http-refused")),
        "/error": (Answer(status=500), ("failed", "http-error")),
        "/busy": (Answer(status=503, headers=(("Retry-After", "3600"),)), ("failed", "http-error")),
        "/cut": (Answer(_long("Cut"), cut=5000), ("failed", "truncated")),
        "/cut-chunked": (Answer(_long("Cut"), framing="chunked", cut=5000), ("failed", "truncated")),
        "/not-zipped": (Answer(b"plain", headers=(("Content-Encoding", "gzip"),)), ("failed", "content-coding")),
        "/hang-up": (Answer(hang_up=True), ("failed", "reset")),
        "/silent": (Answer(silent=True), ("failed", "timeout")),
    }
    front = html("Everything", [*(target for target in good if "%" not in target), *bad])
    server.put("", Site({"/": front, **good, **{target: page for target, (page, _) in bad.items()}}))
    running = crawl_on({"Work.TimeoutIdle": 5})
    running.run(listener.url())

    states = running.states()
    assert {target: states[listener.url(target)] for target in bad} == {target: state for target, (_, state) in bad.items()}
    bodies = server.site().bodies()
    expected = {listener.url(target): bodies[target] for target in ("/", *good)}
    assert running.show_all(running.stored()) == expected
    assert running.status()["documents"] == len(expected) - 2
    running.verify()


def test_links_in_every_place_that_is_followed(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    followed = ["a", "area", "frame", "iframe", "canonical", "alternate", "next", "refresh", "based/relative"]
    embedded = ["img.png", "script.js", "style.css", "video.mp4"]
    front = f"""<!doctype html><head>
      <base href="{listener.url("/deep/")}">
      <link rel=canonical href=canonical><link rel="alternate" href='alternate'><link rel=next href="next#part">
      <meta http-equiv=refresh content="5; url=refresh">
      <link rel=stylesheet href=style.css><script src=script.js></script>
      <body><a href=" a
      ">x</a><map><area href="&#97;rea"></map><iframe src=iframe></iframe>
      <img src=img.png><video src=video.mp4></video>
      <a href="based/relative">r</a><a href="mailto:x@y.test">m</a><a href="javascript:void(0)">j</a><a>none</a>
      <!-- <a href="in-a-comment">c</a> --><script>'<a href="in-a-script">s</a>'</script>"""
    frames = '<frameset><frame src="/deep/frame"></frameset>'
    pages: dict[str, Page] = {f"/deep/{name}": html(name) for name in followed}
    pages |= {f"/deep/{name}": Answer(name.encode(), media_type="application/octet-stream") for name in embedded}
    server.put("", Site({"/": Answer(front.encode()), **pages, "/deep/a": Answer(frames.encode())}))

    crawl().run(listener.url())
    assert set(server.targets()) == {"/", *(f"/deep/{name}" for name in followed)}
    server.forget()
    crawl({"Work.Embedded": True}).run(sets={"Work.RevisitAfter": 0})
    assert set(server.targets()) >= {f"/deep/{name}" for name in embedded}
    assert not [target for target in server.targets() if "in-a-" in target]
