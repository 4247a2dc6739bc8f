"""Which tables of links are trusted, and which of their links a visit requests early."""

from __future__ import annotations

import pytest

from parcahyd.augment.site_offer import write_offer
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import BadRecord, ExternRecord, PageRecord
from tests.pipeline.crawl_worker.linked_pages import DAY, NOW, chain, eager, offer_of, robots, table, text
from tests.pipeline.crawl_worker.world import Answer, World, page, redirect


def lying(pages: int, phantoms: int) -> dict[str, Answer]:
    """A site whose bundle names links that its pages do not have."""
    real = [f"{number}.html" for number in range(pages)]
    index = page(*real)
    claims = [table(page(*real, *(f"no/{number}.html" for number in range(phantoms))), "index.html")]
    return {
        "/robots.txt": robots("Augment: 1; bundle=/site.TOL"),
        "/": index,
        **{f"/{name}": page() for name in real},
        "/site.TOL": text(b"".join(claims)),
    }


@pytest.mark.parametrize(("phantoms", "is_barred"), [(10, False), (60, True)])
def test_a_site_that_tells_too_much_is_not_believed_for_a_week(phantoms: int, is_barred: bool) -> None:
    site = lying(60, phantoms)
    world = World(site, eager(HostConnections=1))
    world.visit("/")
    offer = offer_of(world)
    assert {record.path for record in world.of(PageRecord)} == {"/", *(f"/{number}.html" for number in range(60))}
    # Once the bundle was found to be wrong, nothing is requested that only the bundle names.
    assert len([path for path in world.paths() if path.startswith("/no/")]) == (0 if is_barred else phantoms)
    if is_barred:
        assert offer.links_barred_until - NOW == pytest.approx(7 * DAY, abs=60)
        later = World(site, eager())
        later.visit("/", augmentation=write_offer(offer))
        assert "/site.TOL" not in later.paths()
    else:
        assert (offer.confirmed, offer.phantoms, offer.links_barred_until) == (60, phantoms, 0.0)


def test_a_phantom_that_is_a_page_is_stored_and_one_that_is_not_is_recorded() -> None:
    site = lying(60, 2)
    site["/no/0.html"] = page()
    world = World(site, eager())
    world.visit("/")
    assert "/no/0.html" in {record.path for record in world.of(PageRecord)}
    assert [(record.path, record.depth) for record in world.of(BadRecord)] == [("/no/1.html", 1)]


@pytest.mark.parametrize(
    ("rules", "settings"), [(("User-agent: *", "Disallow: /closed"), {}), ((), {"Exclude": ("*/closed/*",)})]
)
def test_a_page_that_is_refused_leads_no_further_by_its_table(rules: tuple[str, ...], settings: dict[str, object]) -> None:
    site: dict[str, Answer] = {"/": page("closed/a.html"), "/closed/a.html": page("/secret.html", "http://far.example/")}
    site["/site.TOL"] = text(table(page("closed/a.html"), "index.html") + table(page("/secret.html"), "closed/a.html"))
    site |= {"/robots.txt": robots(*rules, "Augment: 1; bundle=/site.TOL"), "/secret.html": page()}
    world = World(site, eager(**settings))
    world.visit("/")
    assert sorted(world.paths()) == ["/", "/robots.txt", "/site.TOL"]
    assert world.of(ExternRecord) == []


def test_links_that_authors_ask_to_leave_alone_are_left_alone() -> None:
    body = table(page("a.html", "b.html"), "index.html").replace(b"b.html\tk=a", b"b.html\tk=a\trel=nofollow")
    site: dict[str, Answer] = {
        "/robots.txt": robots("Augment: 1; bundle=/site.TOL"),
        "/": page(),
        "/a.html": page(),
        "/b.html": page(),
    }
    site["/site.TOL"] = text(body)
    world = World(site, eager())
    world.visit("/")
    assert "/b.html" not in world.paths()
    assert "/a.html" in world.paths()
    site["/site.TOL"] = text(body.replace(b"\n\n", b"\nRobots: nofollow\n\n", 1))
    silent = World(site, eager())
    silent.visit("/")
    assert "/a.html" not in silent.paths()


def test_a_cut_bundle_gives_hints() -> None:
    site = chain(6)
    whole = site["/site.TOL"]
    assert isinstance(whole, DownloadResult)
    site["/site.TOL"] = text(whole.body[: len(whole.body) // 2])
    world = World(site, eager())
    world.visit("/0.html")
    assert len(world.of(PageRecord)) == 6
    assert world.time - 1000.0 < 8 * 0.5


def test_a_long_bundle_is_read_in_a_thread() -> None:
    world = World(chain(600), eager())
    world.visit("/0.html")
    assert world.read_in_thread == 1
    assert len(world.of(PageRecord)) == 600
    assert world.most_at_once >= 8


def test_each_url_is_asked_for_once_however_many_tell_of_it() -> None:
    names = [f"{number}.html" for number in range(20)]
    site: dict[str, Answer] = {f"/{name}": page(*names, "/moved") for name in names}
    site |= {"/": page(*names), "/moved": redirect("/7.html")}
    bundle = b"".join(table(answer, path[1:] or "index.html") for path, answer in site.items() if path != "/moved")  # type: ignore[arg-type]
    site |= {
        "/robots.txt": robots("Augment: 1; bundle=/site.TOL", "Sitemap: http://site.example/3.html"),
        "/site.TOL": text(bundle),
    }
    for connections in (1, 3, 8):
        world = World(site, eager(HostConnections=connections))
        world.visit("/")
        assert len(world.paths()) == len(set(world.paths())) == 24


def test_all_room_is_given_back() -> None:
    world = World(chain(30), eager())
    room = world.worker._room
    before = (room.urls, room.keys, room.links)
    world.visit("/0.html", pages=7)
    assert len(world.of(PageRecord)) == 7
    assert (room.urls, room.keys, room.links) == before
