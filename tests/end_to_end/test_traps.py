"""Sites that make URLs without end: the crawl ends, says what it refused and why, and takes all that is real."""

from __future__ import annotations

import hashlib
from collections import Counter
from urllib.parse import parse_qsl, urlencode

from tests.support.crawl import CrawlFactory, Setting
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Request, Site, html, redirect

_REAL = {"/about": html("About", ["/"]), "/articles/2024/05/first": html("First"), "/articles/2024/06/second": html("Second")}
_SETTINGS: dict[str, Setting | None] = {
    "Work.MaxYearsAhead": 1,
    "Work.MaxYearsBack": 60,
    "Work.MaxQueryShapes": 20,
    "Work.TemplateBudget": 30,
    "Work.MaxUrlLength": 500,
}
_MANY = 100_000


def _calendar(request: Request) -> Answer:
    year, month = map(int, request.target.split("/")[2:4])
    later, earlier = (year + month // 12, month % 12 + 1), (year - (month == 1), (month - 2) % 12 + 1)
    return html(f"{year}-{month}", [f"/calendar/{a}/{b:02}" for a, b in (later, earlier)])


class _Trap:
    """Answers every path below its own kinds of traps, for ever."""

    def __init__(self) -> None:
        self._sessions = 0

    def __call__(self, request: Request) -> Answer:
        kind = request.target.split("/")[1].partition("?")[0]
        answer = getattr(self, f"_{kind}", None)
        found: Answer = answer(request) if answer is not None else Answer(b"<p>no such page", status=404)
        return found

    def _calendar(self, request: Request) -> Answer:
        return _calendar(request)

    def _session(self, request: Request) -> Answer:
        """Every link has a session id that was never there before."""
        self._sessions += 1
        session = hashlib.sha256(b"%d" % self._sessions).hexdigest()[:32]
        return html(request.target, [f"/session/{page}?PHPSESSID={session}" for page in range(5)])

    def _relative(self, _request: Request) -> Answer:
        """A broken link that leads one level deeper each time; a page like it is everywhere."""
        return html("Relative", ["left/", "right/"])

    def _same(self, _request: Request) -> Answer:
        return html("Always the same")

    def _filter(self, request: Request) -> Answer:
        """Each parameter can be chosen on every page."""
        chosen = dict(parse_qsl(request.target.partition("?")[2]))
        others = [{**chosen, f"f{number}": "1"} for number in range(12) if f"f{number}" not in chosen]
        return html(request.target, [f"/filter?{urlencode(choice)}" for choice in others])

    def _growing(self, request: Request) -> Answer:
        return html(str(len(request.target)), [f"{request.target}{len(request.target)}xy"])

    def _onward(self, request: Request) -> Answer:
        return redirect(f"/onward/{int(request.target.rpartition('/')[2]) + 1}")


def _site() -> Site:
    pages: dict[str, Page] = {
        **_REAL,
        "/loop/a": redirect("/loop/b"),
        "/loop/b": redirect("/loop/a"),
        "/list": html("List", [f"/same/{number}" for number in range(2000)]),
        "/many": html("Many", [f"/a/b/a/b/a/b/{number}" for number in range(_MANY)]),
    }
    traps = ["/calendar/2026/05", "/session/0", "/relative/", "/filter?f0=1", "/growing?x=1", "/onward/1"]
    return Site({"/": html("Home", [*pages, *traps]), **pages}, _Trap())


def test_the_crawl_ends_and_takes_what_is_real(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", _site())
    running = crawl(_SETTINGS)
    running.run(listener.url())
    running.verify()

    assert running.stored() >= {listener.url(target) for target in ("/", *_REAL, "/list", "/many")}
    kinds = Counter(target.split("/")[1].partition("?")[0] for target in server.targets())
    assert kinds["calendar"] <= 12 * 63
    assert kinds["session"] <= 6
    assert kinds["same"] <= 30 + 16  # those that were under way when the budget was used up
    assert kinds["onward"] == 11
    assert kinds["loop"] == 2
    assert kinds["filter"] <= 21
    assert kinds["relative"] <= 100
    assert kinds["growing"] <= 100
    assert "a" not in kinds  # a hundred thousand links that repeat themselves

    refused = running.urls("--state", "refused")
    reasons = Counter(line["reason"] for line in refused)
    assert {"calendar", "session", "repeats", "queries", "duplicates", "length", "redirects"} <= set(reasons)
    assert reasons["repeats"] < 1000
    long = next(line["url"] for line in refused if line["reason"] == "length")
    assert "refused: length" in running.explain(long)
    assert len(running.urls()) < 5000


def test_a_guard_that_is_lifted_lets_in_what_it_refused(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    deep = "/" + "/".join(f"level{number}" for number in range(6))
    pages: dict[str, Page] = {deep: html("Deep"), "/shop/1": html("Shop"), "/shop/2": html("Shop too"), "/a.txt": Answer(b"x")}
    server.put("", Site({"/": html("Home", pages), **pages}))
    running = crawl({"Work.MaxPathSegments": 5, "Work.Exclude": ["*/shop/*"], "Work.MediaTypes": ["text/html"]})
    running.run(listener.url())
    states = running.states()
    assert states[listener.url(deep)] == ("refused", "path-depth")
    assert states[listener.url("/shop/1")] == ("refused", "excluded")
    running.configure(f"sqlite:///{running.folder / 'crawl.db'}", {"Work.Exclude": ["re:/shop/[2-9]"]})
    running.run()
    states = running.states()
    assert states.pop(listener.url("/shop/2")) == ("refused", "excluded")
    assert set(states.values()) == {("stored", "")}
    assert 'Exclude has "re:/shop/[2-9]"' in running.explain(listener.url("/shop/2"))
    assert "no pattern of Exclude fits" in running.explain(listener.url("/shop/1"))
    running.verify()


def test_pages_per_site(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    pages: dict[str, Page] = {f"/{number}": html(f"Page {number}", [f"/{number + 1}"]) for number in range(40)}
    server.put("", Site({"/": html("Home", pages), **pages}))
    running = crawl_on({"Work.MaxPagesPerSite": 10, "Work.VisitPages": 4})
    running.run(listener.url())
    assert len(running.stored()) == 10
    assert {reason for state, reason in running.states().values() if state != "stored"} == {"site-pages"}
    running.run(sets={"Work.MaxPagesPerSite": 15})
    assert len(running.stored()) == 15
    running.verify()


def test_one_spelling_for_all_orders_and_trackers(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    links = ["/p?b=1&a=2&utm_source=x", "/p?a=2&b=1", "/moved", "/p?utm_medium=z&a=2&b=1"]
    pages: dict[str, Page] = {"/p?a=2&b=1": html("Page"), "/moved": redirect("/p?utm_campaign=1&b=1&a=2")}
    server.put("", Site({"/": html("Home", links), **pages}))
    running = crawl({"Work.StripParameters": ["utm_*"], "Work.SortParameters": True})
    running.run(listener.url("/?utm_source=seed"))
    assert sorted(server.targets()) == ["/", "/moved", "/p?a=2&b=1"]
    assert "stored" in running.explain(listener.url("/p?b=1&utm_source=x&a=2"))
    running.verify()
