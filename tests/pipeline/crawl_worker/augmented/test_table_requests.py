"""Links before the document: what a visit asks for where a site has tables of links, and what is remembered of it."""

from __future__ import annotations

import pytest

from parcahyd.augment.site_offer import write_offer
from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import DueUrl, ExternRecord, PageRecord, SiteRecord
from parcahyd.core.states import State
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.linked_pages import DAY, NOW, chain, eager, offer_of, robots, table, text
from tests.pipeline.crawl_worker.world import Answer, World, page, redirect


def test_a_bundle_makes_a_chain_flat() -> None:
    flat, deep = World(chain(8), eager()), World(chain(8), eager(Eager="never"))
    flat.visit("/0.html")
    deep.visit("/0.html")
    assert flat.paths() == ["/robots.txt", "/site.TOL", *(f"/{number}.html" for number in range(8))]
    assert deep.paths() == ["/robots.txt", *(f"/{number}.html" for number in range(8))]
    assert flat.time - 1000.0 == pytest.approx(3 * 0.5)  # robots.txt, bundle and first page, all others
    assert deep.time - 1000.0 == pytest.approx(9 * 0.5)
    seen = {
        name: [(record.path, record.depth, record.internal) for record in world.of(PageRecord)]
        for name, world in (("flat", flat), ("deep", deep))
    }
    # The documents still carry their links, so that both are committed together.
    assert sorted(seen["flat"]) == sorted(seen["deep"])


def test_links_to_other_sites_leave_before_their_documents_come() -> None:
    world = World(chain(3, far=True), eager())
    world.visit("/0.html")
    early = [record.urls for record in world.of(ExternRecord)][:2]
    assert world.records.index(world.of(ExternRecord)[1]) < world.records.index(world.of(PageRecord)[0])
    assert early == [("http://far.example/0",), ("http://far.example/1",)]
    assert [record.external for record in world.of(PageRecord)] == [*early, ()]


def test_a_table_is_asked_for_before_its_page_but_not_of_what_is_stored() -> None:
    site = chain(3)
    site["/robots.txt"] = robots("Augment: 1")
    site |= {f"/{number}.TOL": text(table(site[f"/{number}.html"], f"{number}.html")) for number in range(3)}  # type: ignore[arg-type]
    world = World(site, eager(HostConnections=1))
    world.visit("/0.html")
    assert world.paths()[1:] == ["/0.TOL", "/0.html", "/1.TOL", "/1.html", "/2.TOL", "/2.html"]
    again = World(site, eager(HostConnections=1))
    again.visit(urls=(DueUrl(key_of("/2.html"), "/2.html", state=State.STORED, etag='"v0"'),))
    assert again.paths() == ["/robots.txt", "/2.html"]


def test_a_visit_to_what_is_stored_asks_for_no_bundle() -> None:
    world = World(chain(3), eager())
    world.visit(urls=tuple(DueUrl(key_of(f"/{n}.html"), f"/{n}.html", state=State.STORED, etag='"v0"') for n in range(3)))
    assert sorted(world.paths()) == ["/0.html", "/1.html", "/2.html", "/robots.txt"]


@pytest.mark.parametrize("settings", [{"MaxDepth": 5}, {"Order": "fair"}, {"Eager": "never"}])
def test_where_links_are_of_no_use_early_nothing_is_asked_for(settings: dict[str, object]) -> None:
    world = World(chain(3), eager(**settings))
    world.visit("/0.html")
    assert "/site.TOL" not in world.paths()


def test_a_site_that_declares_nothing_is_asked_for_nothing_more() -> None:
    site: dict[str, Answer] = {
        "/robots.txt": robots("User-agent: *", "Disallow:"),
        "/": page("a", "b"),
        "/a": page(),
        "/b": page(),
    }
    for work in (eager(), eager(Eager="auto"), WorkConf(HostDelay=0.0)):
        world = World(site, work)
        world.visit("/")
        assert sorted(world.paths()) == ["/", "/a", "/b", "/robots.txt"]
        assert [record.augmentation for record in world.of(SiteRecord)] == [b""]


def test_three_tables_that_are_missing_are_enough_for_a_directory() -> None:
    pages = {f"/d/{number}.html": page() for number in range(6)}
    site: dict[str, Answer] = {"/robots.txt": robots("Augment: 1"), "/": page(*pages), **pages, "/e/x.html": page()}
    world = World(site, eager(HostConnections=1))
    world.visit("/", "/e/x.html")
    assert [path for path in world.paths() if path.startswith("/d/") and path.endswith(".TOL")] == [
        f"/d/{n}.TOL" for n in range(3)
    ]
    assert "/e/x.TOL" in world.paths()
    ((directory, until),) = offer_of(world).absent
    assert directory == "/d/"
    assert until - NOW == pytest.approx(DAY, abs=60)

    later = World(site, eager(HostConnections=1))
    later.visit("/d/5.html", augmentation=write_offer(offer_of(world)))
    assert later.paths() == ["/robots.txt", "/d/5.html"]


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_table_that_cannot_be_had_now_is_not_absent(status: int) -> None:
    site = chain(6)
    site["/robots.txt"] = robots("Augment: 1; tol={stem}.TOL")
    site |= {f"/{number}.TOL": DownloadResult(status) for number in range(6)}
    world = World(site, eager(HostConnections=1))
    world.visit("/0.html")
    asked = [path for path in world.paths() if path.endswith(".TOL")]
    assert len(asked) == (1 if status == 429 else 3)  # 429: the site is left alone altogether
    assert offer_of(world).absent == ()


def test_a_bundle_that_is_missing_is_not_asked_for_within_a_week() -> None:
    site = chain(2)
    site["/site.TOL"] = text(b"<html>All is well.</html>", "text/html")
    world = World(site, eager())
    world.visit("/0.html")
    absent = dict(offer_of(world).absent)
    assert absent["/site.TOL"] - NOW == pytest.approx(7 * DAY, abs=60)
    later = World(site, eager())
    later.visit("/0.html", augmentation=write_offer(offer_of(world)))
    assert "/site.TOL" not in later.paths()


@pytest.mark.parametrize("target", ["http://other.example/site.TOL", "/elsewhere.TOL"])
def test_a_table_that_redirects_counts_as_absent(target: str) -> None:
    site = chain(3)
    site["/elsewhere.TOL"] = site["/site.TOL"]
    site["/site.TOL"] = redirect(target)
    world = World(site, eager(HostConnections=1))
    world.visit("/0.html")
    assert {url for _, url in world.asked if "elsewhere" in url or "other.example" in url} == set()
    assert "/site.TOL" in dict(offer_of(world).absent)


def test_what_robots_forbids_is_not_asked_for_as_a_table_either() -> None:
    site = chain(3)
    site["/robots.txt"] = robots(
        "User-agent: *", "Disallow: /site.TOL", "Disallow: /1.TOL", "Augment: 1; tol={stem}.TOL; bundle=/site.TOL"
    )
    world = World(site, eager())
    world.visit("/0.html")
    assert sorted(path for path in world.paths() if path.endswith(".TOL")) == ["/0.TOL", "/2.TOL"]


def test_tables_are_asked_for_without_secrets() -> None:
    from parcahyd.config.schema import HostRule
    from parcahyd.rules.urls.host_rules import HostRules

    secret = HostRule(Pattern="*", Headers={"Cookie": "sid=1", "X-Key": "k"}, Credentials="user:word", Cookies=True)
    work = eager(Host=(secret,))
    world = World(chain(2), work)
    world.worker._hosts = HostRules(work, {})
    world.visit("/0.html")
    asked = {request.url.rpartition("/")[2]: request for request in world.requests}
    assert asked["0.html"].options.credentials == "user:word"
    assert dict(asked["0.html"].headers)["Cookie"] == "sid=1"
    assert {name for name, _ in asked["site.TOL"].headers} == {"User-Agent", "Accept"}
    assert (asked["site.TOL"].options.credentials, asked["site.TOL"].options.cookies) == ("", False)
    assert asked["site.TOL"].cut
