"""Links before the document: what a visit asks for where a site has tables of links, and what it makes of them."""

from __future__ import annotations

import pytest

from parcahyd.augment.declaration import Declaration
from parcahyd.augment.of_document import tol_of
from parcahyd.augment.site_offer import SiteOffer, read_offer, write_offer
from parcahyd.config.schema import WorkConf
from parcahyd.core.life_cycle import State
from parcahyd.core.ports import DownloadRequest, DownloadResult
from parcahyd.core.records import BadRecord, DueUrl, ExternRecord, PageRecord, RobotsFact, RobotsStatus, SiteRecord
from parcahyd.rules.canonical_url import key_of
from tests.pipeline.crawl_worker.test_worker import Answer, World, page, redirect

DAY = 86_400.0
NOW = 1000.0


def robots(*lines: str) -> DownloadResult:
    return DownloadResult(200, (("Content-Type", "text/plain"),), "\n".join(lines).encode())


def table(document: DownloadResult, name: str) -> bytes:
    made = tol_of(document.body, name, header_charset="utf-8")
    assert isinstance(made, bytes)
    return made


def text(body: bytes, kind: str = "text/plain") -> DownloadResult:
    return DownloadResult(200, (("Content-Type", kind),), body)


def chain(length: int, *, far: bool = False) -> dict[str, Answer]:
    """Pages that each link to the next one, with a bundle of their tables."""
    pages = {
        f"/{number}.html": page(f"{number + 1}.html", *([f"http://far.example/{number}"] if far else []))
        for number in range(length - 1)
    }
    pages[f"/{length - 1}.html"] = page()
    bundle = b"".join(table(answer, path[1:]) for path, answer in pages.items())
    declared = robots("User-agent: *", "Allow: /", "# Augment: 1; tol={stem}.TOL; tvi={stem}.TVI; bundle=/site.TOL")
    return {"/robots.txt": declared, **pages, "/site.TOL": text(bundle)}


def eager(**settings: object) -> WorkConf:
    return WorkConf(**{"HostDelay": 0.0, "HostConnections": 8, "Eager": "always", **settings})  # type: ignore[arg-type]


def offer_of(world: World) -> SiteOffer:
    return read_offer(next((record.augmentation for record in reversed(world.of(SiteRecord)) if record.augmentation), b""))


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
    from parcahyd.rules.host_rules import HostRules

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


# --- who may speak for whom ---------------------------------------------------------------------------------------------


def linking(answer: DownloadResult, *relations: tuple[str, str], by_header: bool = False) -> DownloadResult:
    if by_header:
        value = ", ".join(f'<{target}>; rel="{relation}"' for relation, target in relations)
        return DownloadResult(200, (*answer.headers, ("Link", value)), answer.body)
    links = "".join(f'<link rel="{relation}" href="{target}">' for relation, target in relations)
    return DownloadResult(200, answer.headers, b"<!doctype html>" + links.encode() + answer.body)


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


# --- what is believed ---------------------------------------------------------------------------------------------------


def lying(pages: int, phantoms: int) -> dict[str, Answer]:
    """A site whose bundle tells of links that its pages do not have."""
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
    # Once it is known that it lied, nothing is asked for that only it told of.
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


def test_a_long_bundle_is_read_beside_the_event_loop() -> None:
    world = World(chain(600), eager())
    world.visit("/0.html")
    assert world.read_aside == 1
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


# --- only where it pays -------------------------------------------------------------------------------------------------


def test_auto_asks_for_a_bundle_where_pages_come_one_by_one() -> None:
    world = World(chain(11), eager(Eager="auto"))
    world.visit("/0.html")
    assert world.paths()[:6] == ["/robots.txt", "/0.html", "/1.html", "/2.html", "/site.TOL", "/3.html"]
    assert world.time - 1000.0 == pytest.approx(5 * 0.5)


@pytest.mark.parametrize("settings", [{"HostDelay": 0.1}, {"HostConnections": 1}, {"Connections": 1}])
def test_auto_asks_for_nothing_where_a_page_would_have_to_wait(settings: dict[str, object]) -> None:
    world = World(chain(12), eager(Eager="auto", **settings))
    world.visit("/0.html")
    assert "/site.TOL" not in world.paths()


def test_auto_asks_for_nothing_where_there_is_always_something_to_do() -> None:
    names = [f"{number}.html" for number in range(100)]
    site: dict[str, Answer] = {"/": page(*names), **{f"/{name}": page(*names) for name in names}}
    site |= {"/robots.txt": robots("Augment: 1; tol={stem}.TOL; bundle=/site.TOL")}
    world = World(site, eager(Eager="auto"))
    world.visit("/")
    assert [path for path in world.paths() if path.endswith(".TOL")] == []


def test_auto_asks_for_a_bundle_for_the_sake_of_others_where_it_is_one_request_in_a_hundred() -> None:
    names = [f"{number}.html" for number in range(120)]
    site: dict[str, Answer] = {"/": page(*names), **{f"/{name}": page(f"http://far.example/{name}") for name in names}}
    site |= {"/robots.txt": robots("Augment: 1; bundle=/site.TOL"), "/site.TOL": text(table(page("z.html"), "0.html"))}
    asked = {}
    for scope in ("any", "site"):
        world = World(site, eager(Eager="auto", HostDelay=1.0, HostConnections=1, Scope=scope))
        world.visit("/")
        asked[scope] = (
            world.paths().count("/site.TOL"),
            [request.max_bytes for request in world.requests if "site.TOL" in request.url],
        )
    assert asked["site"] == (0, [])
    assert asked["any"][0] == 1
    assert asked["any"][1][0] < 2 * len(page(*names).body)


def test_auto_spends_one_request_in_a_hundred_for_others_however_many_bundles_there_are() -> None:
    names = [f"{number}.html" for number in range(250)]
    bundles = [f"/{number}.TOL" for number in range(50)]
    site: dict[str, Answer] = {"/": page(*names), **{f"/{name}": page() for name in names}}
    site["/robots.txt"] = robots(*(f"Augment: 1; scope=/{name}; bundle={name}" for name in bundles))
    site |= dict.fromkeys(bundles, text(table(page("z.html"), "0.html")))
    world = World(site, eager(Eager="auto", HostDelay=1.0, HostConnections=1, Scope="any"))
    world.visit("/")
    assert [path for path in world.paths() if path.endswith(".TOL")] == bundles[:1]
    assert len(world.of(PageRecord)) == 251


def test_auto_asks_for_tables_of_pages_while_a_slow_server_thinks() -> None:
    site = chain(10)
    site["/robots.txt"] = robots("Augment: 1; tol={stem}.TOL")
    site |= {f"/{number}.TOL": text(table(site[f"/{number}.html"], f"{number}.html")) for number in range(10)}  # type: ignore[arg-type]

    def times(request: DownloadRequest) -> float:
        return 2.0 if request.url.endswith(".html") else 0.1

    plain, auto = Timed(site, eager(Eager="never"), times), Timed(site, eager(Eager="auto"), times)
    plain.visit("/0.html")
    auto.visit("/0.html")
    assert plain.time - 1000.0 == pytest.approx(0.1 + 10 * 2.0)
    assert auto.time - 1000.0 < 10.0
    # Tables that take as long as pages bring nothing, and are soon left alone.
    same = Timed(site, eager(Eager="auto"), lambda request: 0.1 if "robots" in request.url else 2.0)
    same.visit("/0.html")
    assert same.time - 1000.0 <= plain.time - 1000.0


class Timed(World):
    """A world in which every answer takes its own time."""

    def __init__(self, site: dict[str, Answer], work: WorkConf, times: object) -> None:
        super().__init__(site, work)
        self._times = times

    def start(self, request: DownloadRequest, done: object) -> None:
        assert callable(self._times)
        self.duration = self._times(request)
        super().start(request, done)  # type: ignore[arg-type]


# --- for whoever refreshes by tables of variable information ------------------------------------------------------------


def test_tables_of_variable_information_are_known_by_declaration_and_barred_after_three_strikes() -> None:
    from parcahyd.core.records import Pair
    from parcahyd.pipeline.crawl_worker.tables import Tables

    pair = Pair(7, 3, "http", "site.example", 80, ())
    tables = Tables(pair, WorkConf(), None, lambda _: True)
    assert tables.tvi_of("/d/x.html") is None
    tables.begin(b"Augment: 1; scope=/d/; tvi={stem}.TVI", lambda _: True, NOW)
    assert tables.tvi_of("/d/x.html") == "/d/x.TVI"
    assert tables.tvi_of("/x.html") is None
    for _ in range(2):
        tables.strike(NOW)
    assert not tables.is_fragments_barred(NOW)
    tables.strike(NOW)
    assert tables.is_fragments_barred(NOW + 6.9 * DAY)
    assert not tables.is_fragments_barred(NOW + 7.1 * DAY)
    assert read_offer(tables.encode()).fragments_barred_until == NOW + 7 * DAY
