"""robots.txt in every form of RFC 9309, section 2.3.1: found, absent, a server error, out of reach, redirected."""

from __future__ import annotations

from tests.support.crawl import CrawlFactory
from tests.support.endless_robots import EndlessRobots
from tests.support.site_server import Listener, SiteServer, refusing_port
from tests.support.sites import Answer, Request, Site, html, redirect, robots

_PRIVATE = "User-agent: *\nDisallow: /private\nAllow: /private/open\n"


def _by_port(server: SiteServer, answers: dict[str, Answer]) -> dict[str, Listener]:
    """A listener for each robots.txt, all with the same three pages."""
    listeners = {name: server.listen() for name in answers}
    by_authority = {listener.authority: answers[name] for name, listener in listeners.items()}

    def answer(request: Request) -> Answer:
        return by_authority[request.host]

    server.put(
        "",
        Site(
            {
                "/robots.txt": answer,
                "/": html("Root", ["/private/page", "/private/open", "/only-us"]),
                "/private/page": html("Private"),
                "/private/open": html("Open"),
                "/only-us": html("Not for everyone"),
            }
        ),
    )
    return listeners


def test_every_answer_that_robots_txt_can_get(server: SiteServer, crawl: CrawlFactory) -> None:
    sites = _by_port(
        server,
        {
            "absent": Answer(status=404),
            "forbidden": Answer(status=403),
            "rules": robots(_PRIVATE),
            "named": robots("User-agent: parcahyd\nDisallow: /only-us\n\nUser-agent: *\nDisallow: /\n"),
            "closed": robots("User-agent: *\nDisallow: /\n"),
            "error": Answer(status=500),
            "busy": Answer(status=429),
            "silent": Answer(silent=True),
            "moved": redirect("/robots.txt?here", 301),
        },
    )
    server.site().pages["/robots.txt?here"] = robots(_PRIVATE)
    with refusing_port() as port:
        refused = Listener("127.0.0.1", port)
        running = crawl({"Work.TimeoutIdle": 5})
        running.run(*(site.url() for site in sites.values()), refused.url())

    everything = {"/", "/private/page", "/private/open", "/only-us"}
    asked = {
        name: {
            entry.target for entry in server.log if entry.host == site.authority and not entry.target.startswith("/robots.txt")
        }
        for name, site in sites.items()
    }
    assert asked == {
        "absent": everything,
        "forbidden": everything,
        "rules": everything - {"/private/page"},
        "named": everything - {"/only-us"},
        "closed": set(),
        "error": set(),
        "busy": set(),
        "silent": set(),
        "moved": everything - {"/private/page"},
    }
    states = running.states()
    assert states[sites["rules"].url("/private/page")] == ("refused", "robots")
    assert states[sites["named"].url("/only-us")] == ("refused", "robots")
    assert states[sites["closed"].url()] == ("refused", "robots")
    assert states[sites["error"].url()] == ("failed", "robots-error")
    assert states[sites["busy"].url()] == ("failed", "robots-error")
    assert states[sites["silent"].url()] == ("failed", "robots-unreachable")
    assert states[refused.url()] == ("failed", "robots-unreachable")
    assert "Disallow: /private" in running.explain(sites["rules"].url("/private/page"))
    running.verify()


def test_a_robots_txt_that_lies_on_another_site(server: SiteServer, crawl: CrawlFactory) -> None:
    """It is fetched by the worker that owns the other address, and obeyed before the first page is requested."""
    rules = server.listen()
    (site,) = _by_port(server, {"elsewhere": redirect(rules.url("/shared/robots.txt"))}).values()
    server.site().pages["/shared/robots.txt"] = robots(_PRIVATE)
    running = crawl()
    running.run(site.url())
    assert running.stored() == {site.url(), site.url("/private/open"), site.url("/only-us")}
    assert running.states()[site.url("/private/page")] == ("refused", "robots")
    targets = [entry.target for entry in server.log if entry.target != "/robots.txt"]
    assert targets[0] == "/shared/robots.txt"
    assert "/private/page" not in targets


def test_no_robots_txt_sends_us_to_a_url_of_another_site(server: SiteServer, crawl: CrawlFactory) -> None:
    """The victim's own robots.txt forbids these URLs, and it would not be asked. Its robots.txt may be."""
    names = [f"hostile {number}" for number in range(6)]
    victim = server.listen()
    deletes = {name: redirect(victim.url(f"/private/delete?id={number}")) for number, name in enumerate(names)}
    lures = {f"lure {number}": redirect(victim.url("/robots.txt")) for number in range(6)}
    sites = _by_port(server, {**deletes, **lures})
    root = server.site().pages["/robots.txt"]
    assert callable(root)

    def robots_txt(request: Request) -> Answer:
        return robots("User-agent: *\nDisallow: /private\n") if request.host == victim.authority else root(request)

    server.site().pages["/robots.txt"] = robots_txt
    running = crawl({"Work.AddressDelay": 0})
    running.run(*(site.url() for site in sites.values()))
    asked = [entry.target for entry in server.log if entry.host == victim.authority]
    assert set(asked) == {"/robots.txt"}
    assert all(site.url("/private/page") in running.stored() for name, site in sites.items() if name in deletes)
    assert not any(site.url("/private/page") in running.stored() for name, site in sites.items() if name in lures)
    assert "which is not called robots.txt" in running.explain(sites[names[0]].url())
    running.verify()


def test_a_robots_txt_that_cannot_be_read_on_another_site_is_not_asked_for_again_at_once(
    server: SiteServer, crawl: CrawlFactory
) -> None:
    rules = server.listen()
    (site,) = _by_port(server, {"elsewhere": redirect(rules.url("/shared/robots.txt"))}).values()
    server.site().pages["/shared/robots.txt"] = Answer(status=500)
    running = crawl()
    running.run(site.url())
    assert sorted(entry.target for entry in server.log) == ["/robots.txt", "/shared/robots.txt"]
    assert [(spared["site"], spared["reason"]) for spared in running.status()["spared"]] == [
        (site.url().rstrip("/"), "robots-error")
    ]
    assert "spared until" in running.explain(site.url())
    running.verify()


def test_a_robots_txt_at_a_forbidden_address_does_not_keep_the_run_busy(server: SiteServer, crawl: CrawlFactory) -> None:
    (site,) = _by_port(server, {"inside": redirect("http://127.0.0.9/robots.txt")}).values()
    running = crawl({"Map.AllowAddresses": ["127.0.0.1/32"]})
    running.run(site.url())
    assert [entry.target for entry in server.log] == ["/robots.txt"]
    assert [(spared["site"], spared["reason"]) for spared in running.status()["spared"]] == [("http://127.0.0.9", "address")]
    running.verify()


def test_a_site_whose_robots_txt_recovers_is_crawled_later(server: SiteServer, crawl: CrawlFactory) -> None:
    (site,) = _by_port(server, {"error": Answer(status=503)}).values()
    running = crawl({"Work.RetryDelay": 2})
    running.run(site.url())
    assert running.stored() == set()
    server.site().pages["/robots.txt"] = robots("")
    running.run(sets={"Work.WaitForRetries": 30})
    assert len(running.stored()) == 4


def test_of_a_gigabyte_of_robots_txt_the_beginning_is_read_and_obeyed(crawl: CrawlFactory) -> None:
    server = EndlessRobots()
    try:
        running = crawl()
        running.run(f"{server.url}/")
    finally:
        server.close()
    assert sorted(server.targets) == ["/", "/open", "/robots.txt"]
    # What the client had not read when it hung up lies in the buffers of two sockets.
    assert server.sent < 64 * 2**20
    assert running.states()[f"{server.url}/private/x"] == ("refused", "robots")
    running.verify()


def test_loops_and_pages_in_the_place_of_robots_txt(server: SiteServer, crawl: CrawlFactory) -> None:
    """More than five redirects count as no robots.txt (RFC 9309, section 2.3.1.2); a page has no rules in it."""
    sites = _by_port(server, {"loop": redirect("/robots.txt", 302), "page": html("Welcome", ["/private/page"])})
    running = crawl()
    running.run(*(site.url() for site in sites.values()))
    for site in sites.values():
        assert {path for path in ("/", "/private/page", "/private/open", "/only-us") if site.url(path) in running.stored()} == {
            "/",
            "/private/page",
            "/private/open",
            "/only-us",
        }
    asked = [entry.target for entry in server.log if entry.host == sites["loop"].authority]
    assert asked.count("/robots.txt") == 6


def test_robots_txt_of_hosts_of_ones_own_may_be_ignored_and_every_run_says_so(server: SiteServer, crawl: CrawlFactory) -> None:
    own, other = _by_port(server, {"own": robots(_PRIVATE), "other": robots(_PRIVATE)}).values()
    running = crawl()
    obeying = running.run(own.url(), other.url())
    assert "IgnoreRobots" not in obeying.err
    with (running.conf / "WorkConf.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[[Host]]\nPattern = "{own.authority}"\nIgnoreRobots = true\n')
    for _ in range(2):
        ignoring = running.run()
        assert f"warning: what robots.txt forbids is fetched from {own.authority} (IgnoreRobots)" in ignoring.err
    # What was refused is looked at again, because the settings changed.
    assert own.url("/private/page") in running.stored()
    assert running.states()[other.url("/private/page")] == ("refused", "robots")
    assert "forbidden for parcahyd by Disallow: /private (line 2), which IgnoreRobots overrides" in running.explain(
        own.url("/private/page")
    )
    running.verify()
