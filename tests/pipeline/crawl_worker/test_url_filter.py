"""Which URLs of its site a visit takes: judged when they are first seen, and before their request."""

from __future__ import annotations

from typing import Any

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import BadRecord, DueUrl, PageRecord, SiteLease, VisitOver
from parcahyd.core.states import Reason, State
from parcahyd.pipeline.crawl_worker.url_filter import UrlFilter
from parcahyd.rules.traps.budgets import MemoryBudget
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import World, page, redirect


def work(**settings: Any) -> WorkConf:
    return WorkConf(HostDelay=0.0, **settings)


def due(path: str, **more: Any) -> DueUrl:
    return DueUrl(key_of(path), path, **more)


def bad(world: World) -> dict[str, str]:
    return {record.path: record.reason for record in world.of(BadRecord)}


def refused(world: World) -> set[tuple[str, str]]:
    return {one for record in world.of(PageRecord) for one in record.refused}


def url_filter(lease: SiteLease | None = None, **settings: Any) -> UrlFilter:
    return UrlFilter(lease or SiteLease(1, 1, "http", "site.example", 80, ()), work(**settings), MemoryBudget(1000), 1000.0)


def test_patterns_judge_whole_urls_before_the_guards() -> None:
    one = url_filter(Include=("http://site.example/docs/*",), Exclude=("*.zip",))
    assert one.judge("/docs/a") is None
    assert one.judge("/docs/a.zip") is Reason.EXCLUDED
    assert one.judge("/news") is Reason.EXCLUDED
    assert one.judge("/docs/b/b/b/b/b") is Reason.REPEATS


def test_what_came_with_the_set_is_judged_by_todays_settings() -> None:
    one = url_filter(Exclude=("*/x*",), MaxPathSegments=2)
    urls = [
        due("/a/b/c"),
        due("/a/b/c", seed=True),
        due("/a/b/c", state=int(State.STORED)),
        due("/x"),
        due("/x", seed=True),
        due("/x", state=int(State.STORED)),
        due("/ok", state=int(State.FAILED)),
    ]
    assert [reason for _, reason in one.judge_all(urls)] == [
        Reason.PATH_DEPTH,
        None,
        None,
        Reason.EXCLUDED,
        None,
        Reason.EXCLUDED,
        None,
    ]


def test_a_visit_records_what_it_refuses_and_ends_without_a_request() -> None:
    world = World({}, work(Exclude=("*",)))
    world.visit("/a", "/b")
    assert bad(world) == {"/a": "excluded", "/b": "excluded"}
    assert world.paths() == []
    assert len(world.of(VisitOver)) == 1


def test_links_that_are_refused_ride_with_their_page() -> None:
    site: dict[str, Any] = {"/": page("/docs/1", "/shop", "/docs/a/a/a/a/a"), "/docs/1": page("/shop")}
    world = World(site, work(Exclude=("*/shop",)))
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/", "/docs/1"]
    assert refused(world) == {("excluded", "/shop"), ("repeats", "/docs/a/a/a/a/a")}
    assert world.of(PageRecord)[0].internal == ("/docs/1",)
    (over,) = world.of(VisitOver)
    again = World(site, work(Exclude=("*/shop",)))
    again.visit("/", guards=over.guards)
    assert again.of(VisitOver)[0].guards != b""


def test_the_pages_of_a_site_are_counted_from_visit_to_visit() -> None:
    site: dict[str, Any] = {
        "/": page("/1", "/2", "/3", "/4"),
        "/1": DownloadResult(404),
        "/2": page(),
        "/3": page(),
        "/4": page(),
    }
    world = World(site, work(MaxPagesPerSite=3, HostConnections=4))
    world.visit("/")
    stored = [record.path for record in world.of(PageRecord)]
    assert len(stored) == 3
    assert sorted(path for path, reason in bad(world).items() if reason == "site-pages") == ["/4"]
    later = World(site, work(MaxPagesPerSite=3))
    later.visit(urls=(due("/", state=int(State.STORED)), due("/4"), due("/5", seed=True)), site_pages=3)
    assert later.paths()[1:] == ["/", "/5"]
    assert bad(later)["/4"] == "site-pages"


def test_links_that_are_found_while_the_last_pages_are_on_their_way_are_not_refused_too_early() -> None:
    found = [f"/x{number}" for number in range(5)]
    site: dict[str, Any] = {"/": page("/1", "/2", "/3", "/4"), "/1": page(*found), **dict.fromkeys(found, page())}
    world = World(site, work(MaxPagesPerSite=5, HostConnections=4))
    world.visit("/")
    assert [record.path for record in world.of(PageRecord)] == ["/", "/1", *found[:3]]
    assert {path for path, reason in bad(world).items() if reason == "missing"} == {"/2", "/3", "/4"}
    assert {path for path, reason in bad(world).items() if reason == "site-pages"} == set(found[3:])


def test_a_site_that_is_full_records_few_of_its_links() -> None:
    world = World({"/": page(*(f"/{number}" for number in range(500)))}, work(MaxPagesPerSite=1))
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/"]
    assert len(refused(world)) == 100
    assert bad(world) == {}


def test_a_template_that_closes_is_not_asked_for_any_more() -> None:
    site: dict[str, Any] = {f"/p/{number}": page("/same") for number in range(100)}
    site["/"] = page(*site)
    site["/same"] = page("/p/200", "/p/201")
    world = World(site, work(TemplateBudget=10))
    world.visit("/")
    assert len(world.paths()) < 20
    assert set(bad(world).values()) == {"duplicates"}
    assert all(record.due_at > 1000 for record in world.of(BadRecord))
    assert {word for word, _ in refused(world)} <= {"duplicates"}
    (over,) = world.of(VisitOver)
    for days, asked in ((0, []), (1, ["/p/50"])):  # once a day, to see whether it has changed
        again = World(site, work(TemplateBudget=10))
        again.time += days * 86_400
        again.visit(*(f"/p/{number}" for number in range(50, 60)), guards=over.guards)
        assert [path for path in again.paths() if path.startswith("/p/")] == asked


def test_soft_404s_are_known_by_what_the_site_gives_with_404() -> None:
    lost = DownloadResult(404, (("Content-Type", "text/html"),), b"<p>Nothing here")
    soft = DownloadResult(200, (("Content-Type", "text/html"),), b"<p>Nothing here")
    site: dict[str, Any] = {f"/p/{number}": soft for number in range(50)}
    world = World({**site, "/lost": lost, "/": page("/lost", *site)}, work(TemplateBudget=5))
    world.visit("/")
    assert "soft-404" in bad(world).values()
    assert len(world.paths()) <= 1 + 2 + 5 + 1  # one stood in line already


def test_a_redirect_into_a_trap_is_not_followed() -> None:
    def onwards(number: int) -> DownloadResult:
        return redirect(f"/start;jsessionid=ABCDEF{number}")

    site: dict[str, Any] = {
        "/": page("/start"),
        "/start": onwards(1),
        **{f"/start;jsessionid=ABCDEF{n}": onwards(n + 1) for n in range(20)},
    }
    world = World(site, work())
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/", "/start", "/start;jsessionid=ABCDEF1"]
    assert refused(world) == {("session", "/start;jsessionid=ABCDEF2")}


def test_documents_of_other_types_are_refused() -> None:
    site: dict[str, Any] = {
        "/": page("/a.png"),
        "/a.png": DownloadResult(200, (("Content-Type", "image/png"),), b"\x89PNG\r\n\x1a\n"),
    }
    world = World(site, work(MediaTypes=("text/*",)))
    world.visit("/")
    (record,) = world.of(BadRecord)
    assert (record.path, record.reason, record.detail) == ("/a.png", "media-type", "image/png")


def test_options_of_the_canonical_form_hold_for_redirects() -> None:
    site: dict[str, Any] = {"/": redirect("/p?sid=1&b=1&a=1"), "/p?a=1&b=1": page()}
    world = World(site, work(StripParameters=("sid",), SortParameters=True))
    world.visit("/")
    assert world.paths()[1:] == ["/", "/p?a=1&b=1"]


def test_files_outside_of_the_folders_of_seeds_are_refused() -> None:
    known = (due("/etc/passwd", seed=True), due("/a/x"), due("/a/seed", seed=True))
    lease = SiteLease(1, 1, "file", "", 0, known, roots=("/a/", "/b/c/"))
    judging = url_filter(lease)
    judged = {path: judging.judge(path) for path in ("/a/x", "/b/c/", "/b/", "/ab", "/etc/passwd", "/")}
    assert [path for path, reason in judged.items() if reason is None] == ["/a/x", "/b/c/"]
    assert {reason for reason in judged.values() if reason} == {Reason.LOCAL}
    assert [(url.path, reason) for url, reason in judging.judge_all(known)] == [
        ("/etc/passwd", Reason.LOCAL),
        ("/a/x", None),
        ("/a/seed", None),
    ]
    unrooted = url_filter(SiteLease(1, 1, "file", "", 0, known))
    assert {reason for _, reason in unrooted.judge_all(known)} == {unrooted.judge("/a/y")} == {Reason.LOCAL}
