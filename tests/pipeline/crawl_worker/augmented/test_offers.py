"""Who may declare tables of links, and for which part of a site."""

from __future__ import annotations

import pytest

from parcahyd.augment.site_offer import Declaration, read_offer, write_offer
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import PageRecord, RobotsFact, RobotsStatus
from parcahyd.pipeline.crawl_worker.augmented.offers import Offers
from tests.pipeline.crawl_worker.linked_pages import DAY, NOW, chain, eager, linking, offer_of, robots, table, text
from tests.pipeline.crawl_worker.world import Answer, World, page


@pytest.mark.parametrize("by_header", [False, True])
def test_a_page_teaches_where_the_tables_of_others_are(by_header: bool) -> None:
    first = linking(page("b.html", "/other/c.html"), ("tol", "a.html.TOL"), ("tvi", "a.html.TVI"), by_header=by_header)
    site: dict[str, Answer] = {"/d/a.html": first, "/d/b.html": page(), "/other/c.html": page()}
    site["/d/b.html.TOL"] = text(table(page(), "b.html"))
    world = World(site, eager(HostConnections=1))
    world.visit("/d/a.html")
    assert world.paths() == ["/robots.txt", "/d/a.html", "/d/b.html.TOL", "/d/b.html", "/other/c.html"]
    assert offer_of(world).declarations == (Declaration("/d/", "{path}.TOL", "{path}.TVI", within="/d/"),)


def test_alice_does_not_speak_for_bob() -> None:
    alice = linking(page("/~bob/x.html"), ("tol", "/~bob/steal.TOL"), ("augment", "/~alice/augment.txt"))
    site: dict[str, Answer] = {
        "/~alice/p.html": alice,
        "/~alice/augment.txt": text(
            b"Augment: 1; scope=/; tol=/~alice/t{path}.TOL; bundle=/~alice/all.TOL\nAugment: 1; scope=/~bob/"
        ),
        "/~alice/all.TOL": text(table(page("/~bob/phantom.html"), "../~bob/x.html")),
        "/~bob/x.html": page("y.html"),
        "/~bob/y.html": page(),
    }
    world = World(site, eager(HostConnections=1))
    world.visit("/~alice/p.html")
    assert [path for path in world.paths() if "bob" in path] == ["/~bob/x.html", "/~bob/y.html"]
    assert "/~alice/all.TOL" in world.paths()
    assert {declaration.scope for declaration in offer_of(world).declarations} == {"/~alice/"}


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("/d/say?text=Augment", text(b"Augment: 1")),
        ("/d/page.html", text(b"Augment: 1\n", "text/html")),
        ("http://far.example/augment.txt", text(b"Augment: 1")),
    ],
)
def test_what_anybody_can_make_a_server_say_is_no_declaration(target: str, answer: DownloadResult) -> None:
    site: dict[str, Answer] = {"/d/a.html": linking(page(), ("augment", target)), target: answer}
    world = World(site, eager())
    world.visit("/d/a.html")
    assert offer_of(world).declarations == ()


def test_the_well_known_place_is_asked_for_once_in_a_week_and_only_if_the_user_wants_that() -> None:
    site = chain(3)
    site["/.well-known/augment"] = text(b"Augment: 1; bundle=/site.TOL")
    del site["/robots.txt"]
    world = World(site, eager(Probe="well-known", HostConnections=1))
    world.visit("/0.html")
    assert world.paths()[:4] == ["/robots.txt", "/.well-known/augment", "/0.html", "/site.TOL"]
    later = World(site, eager(Probe="well-known", HostConnections=1))
    later.visit("/0.html", augmentation=write_offer(offer_of(world)))
    assert later.paths()[:2] == ["/robots.txt", "/site.TOL"]
    plain = World(site, eager())
    plain.visit("/0.html")
    assert [path for path in plain.paths() if "html" not in path] == ["/robots.txt"]


@pytest.mark.parametrize("status", [403, 500])
def test_a_file_of_declarations_that_cannot_be_had_now_is_asked_for_in_the_next_visit(status: int) -> None:
    site = chain(3)
    site["/robots.txt"] = robots("User-agent: *", "Disallow:")
    site["/0.html"] = linking(page("1.html"), ("augment", "/say.txt"))
    site |= {"/.well-known/augment": DownloadResult(status), "/say.txt": DownloadResult(status)}
    world = World(site, eager(Probe="well-known", HostConnections=1))
    world.visit("/0.html")
    assert {"/.well-known/augment", "/say.txt"} <= {*world.paths()}
    assert offer_of(world).absent == ()


def test_a_file_of_declarations_that_a_visit_did_not_come_to_is_not_missing() -> None:
    world = World({"/": page()}, eager(Probe="well-known"))
    world.worker.stop()
    world.visit("/", robots=RobotsFact(RobotsStatus.ABSENT, b"", 900.0, 9000.0))
    assert world.paths() == []
    assert offer_of(world).absent == ()


def test_a_site_has_a_visit_ask_for_eight_files_of_declarations_at_most() -> None:
    pages: dict[str, Answer] = {f"/{n}.html": linking(page(f"{n + 1}.html"), ("augment", f"/say/{n}.txt")) for n in range(20)}
    world = World(pages, eager(HostConnections=1))
    world.visit("/0.html")
    assert [path for path in world.paths() if path.startswith("/say/")] == [f"/say/{n}.txt" for n in range(8)]
    assert len(world.of(PageRecord)) == 20


def test_who_asks_blindly_leaves_the_site_alone_after_three_misses() -> None:
    pages = {f"/{number}/p.html": page() for number in range(6)}
    world = World({"/": page(*pages), **pages}, eager(Probe="blind", HostConnections=1))
    world.visit("/")
    assert len([path for path in world.paths() if path.endswith(".TOL")]) == 3
    later = World({"/": page()}, eager(Probe="blind"))
    later.visit("/", augmentation=write_offer(offer_of(world)))
    assert later.paths() == ["/robots.txt", "/"]


def test_tables_of_variable_information_are_known_by_declaration_and_barred_after_three_strikes() -> None:
    offers = Offers("http://site.example", b"")
    assert offers.tvi_of("/d/x.html") is None
    offers.declare(b"Augment: 1; scope=/d/; tvi={stem}.TVI")
    assert offers.tvi_of("/d/x.html") == "/d/x.TVI"
    assert offers.tvi_of("/x.html") is None
    for _ in range(2):
        offers.strike(NOW)
    assert not offers.are_fragments_barred(NOW)
    offers.strike(NOW)
    assert offers.are_fragments_barred(NOW + 6.9 * DAY)
    assert not offers.are_fragments_barred(NOW + 7.1 * DAY)
    assert read_offer(offers.encode()).fragments_barred_until == NOW + 7 * DAY
