"""Redirects are followed by the crawler itself, as URLs of their own, within scope and never for ever."""

from __future__ import annotations

from tests.support.crawl import CrawlFactory
from tests.support.site_server import SiteServer
from tests.support.sites import Site, html, redirect

_REDIRECT = ("stored", "redirect")
_STORED = ("stored", "")


def test_chains_loops_and_long_chains(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put(
        "",
        Site(
            {
                "/": html("Start", ["/chain1", "/loop1", "/self", "/long0"]),
                "/chain1": redirect("/chain2", 301),
                "/chain2": redirect("end", 308),
                "/end": html("The end", ["/after"]),
                "/after": html("After the end"),
                "/loop1": redirect("/loop2"),
                "/loop2": redirect("/loop1", 307),
                "/self": redirect("/self"),
                **{f"/long{hop}": redirect(f"/long{hop + 1}") for hop in range(12)},
            }
        ),
    )
    running = crawl({"Work.MaxRedirects": 5})
    running.run(listener.url())
    states = {url.removeprefix(listener.url().rstrip("/")): state for url, state in running.states().items()}
    for target in ("/chain1", "/chain2", "/loop1", "/loop2", "/self", *(f"/long{hop}" for hop in range(6))):
        assert states[target] == _REDIRECT, target
    assert [states[target] for target in ("/", "/end", "/after")] == [_STORED] * 3
    assert states["/long6"] == ("refused", "redirects")
    asked = server.targets()
    assert {target for target in asked if target.startswith("/long")} == {f"/long{hop}" for hop in range(6)}
    assert sorted(asked) == sorted(set(asked))
    running.verify()


def test_the_target_of_a_seeds_redirect_joins_the_scope(server: SiteServer, crawl: CrawlFactory) -> None:
    old, new = server.listen(), server.listen()
    server.put(
        "",
        Site(
            {
                "/": lambda request: redirect(new.url("/home")) if request.host == old.authority else html("New root"),
                "/home": html("Home", ["/inner"]),
                "/inner": html("Inner"),
            }
        ),
    )
    running = crawl()
    running.run(old.url())
    assert running.stored() == {new.url("/home"), new.url("/inner")}
    assert running.states()[old.url()] == _REDIRECT
    assert new.url("/home") in running.explain(old.url())


def test_a_redirect_out_of_scope_stays_out(server: SiteServer, crawl: CrawlFactory) -> None:
    inside, outside = server.listen(), server.listen()
    server.put("", Site({"/": html("Root", ["/away", "/stay"]), "/away": redirect(outside.url("/x")), "/stay": html("Stay")}))
    running = crawl()
    running.run(inside.url())
    assert outside.connections == 0
    states = running.states()
    assert states[inside.url("/away")] == _REDIRECT
    assert states.get(outside.url("/x"), ("refused", "scope")) == ("refused", "scope")
    assert running.stored() == {inside.url(), inside.url("/stay")}


def test_where_redirects_must_not_lead(server: SiteServer, crawl: CrawlFactory) -> None:
    """Other schemes, no target, nonsense: the crawl goes on and nothing is fetched for them."""
    listener = server.listen()
    odd = [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "gopher://127.0.0.1:70/",
        "http://",
        "",
        "http://[::1",
        "data:text/html,x",
    ]
    pages = {f"/odd{number}": redirect(target) for number, target in enumerate(odd)}
    server.put("", Site({"/": html("Root", [*pages, "/good"]), **pages, "/good": html("Good")}))
    running = crawl({"Work.Scope": "any"})
    running.run(listener.url())
    assert running.stored() >= {listener.url(), listener.url("/good")}
    assert set(server.targets()) == {"/", "/good", *pages}
    assert "root:" not in running.command("urls", "--conf", str(running.conf)).text
    running.verify()
