"""Visits to sites that answer anything, several at once, stopped at any time: what holds of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random
from urllib.parse import urlsplit

import msgspec
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.core.records import (
    Assignment,
    BadRecord,
    DueUrl,
    PageRecord,
    RobotsFact,
    RobotsRedirect,
    RobotsStatus,
    SiteLease,
    UnchangedRecord,
    VisitOver,
)
from parcahyd.core.states import State
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.linked_pages import linking, robots, text
from tests.pipeline.crawl_worker.linked_pages import table as tol_of
from tests.pipeline.crawl_worker.parted_pages import document, html, stored, tvi
from tests.pipeline.crawl_worker.parted_pages import table as tvi_of
from tests.pipeline.crawl_worker.world import World, page, redirect

HOSTS = ("site.example", "other.example", "third.example")
ADDRESSES = ("192.0.2.1", "192.0.2.2")
FAULTS = (DownloadFailure.TIMEOUT, DownloadFailure.RESET, DownloadFailure.CONNECT, DownloadFailure.SIZE)


class Chaos(World):
    """All hosts have the same pages; answers take their time."""

    def __init__(self, dice: Random, work: WorkConf) -> None:
        names = [f"/d{number % 3}/{number}.html" for number in range(dice.randrange(3, 25))]
        super().__init__({"/": page(*names), **{name: _answer(dice, names) for name in names}}, work)
        self.dice = dice
        self.names = names
        self.site |= _tables(dice, {name: self.site[name] for name in names})  # type: ignore[misc]
        self.site["/robots.txt"] = _robots(dice)
        self.site["/r.txt"] = robots("User-agent: *", "Augment: 1")

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        self.duration = self.dice.choice((0.1, 0.5, 2.0))
        super().start(request, done)

    def _answer(self, request: DownloadRequest) -> DownloadResult:
        answer = self.site.get(urlsplit(request.url).path, DownloadResult(404))
        assert isinstance(answer, DownloadResult)
        result = msgspec.structs.replace(answer)
        result.peer = request.address
        return result


def _answer(dice: Random, names: list[str]) -> DownloadResult:
    links = [*dice.choices(names, k=dice.randrange(5)), "http://far.example/"]
    feed = f"<rss><channel><item><link>{links[0]}</link></item></channel></rss>".encode() + b" " * dice.choice((1, 100_000))
    busy = (("Retry-After", dice.choice(("1", "30", "500"))),)
    answers = [
        DownloadResult(404, (("Content-Type", "text/html"),), b"no such page"),
        DownloadResult(500),
        DownloadResult(failure=dice.choice(FAULTS)),
        redirect(dice.choice([*names, "http://far.example/"])),
        DownloadResult(dice.choice((429, 503)), busy if dice.random() < 0.7 else ()),
        DownloadResult(200, (("Content-Type", "application/rss+xml"),), feed),
        html(document(str(dice.random()), "".join(f'<a href="{link}">x</a>' for link in links))),
        linking(page(*links), ("augment", f"/say{dice.randrange(12)}.txt"), ("tol", "x.TOL")),
        page(*links),
    ]
    return dice.choices(answers, (10, 6, 6, 8, 2, 8, 20, 10, 30))[0]


def _robots(dice: Random) -> DownloadResult:
    tables = dice.choice(("", "Augment: 1", "Augment: 1; tol={stem}.TOL; tvi={stem}.TVI; bundle=/site.TOL"))
    found = robots("User-agent: *", "Disallow: /d2/1", dice.choice(("", "Crawl-delay: 3")), tables)
    others = [DownloadResult(404), redirect("/r.txt"), redirect("http://far.example/robots.txt"), DownloadResult(503)]
    return dice.choice([found] * 8 + others)


def _tables(dice: Random, pages: dict[str, DownloadResult]) -> dict[str, DownloadResult]:
    made = {"/.well-known/augment": dice.choice([text(b"Augment: 1; bundle=/site.TOL"), DownloadResult(500)])}
    bundle = b""
    for name, answer in pages.items():
        folder, _, file = name.rpartition("/")
        beside = f"{folder}/{file.removesuffix('.html')}"
        if answer.body.startswith(b"<!doctype"):
            bundle += tol_of(answer, name[1:])
            made[f"{beside}.TOL"] = text(tol_of(answer, file))
        if b"data-vol" in answer.body:
            sound = tvi_of(answer.body if dice.random() < 0.8 else document("7"), file)
            made[f"{beside}.TVI"] = dice.choice(
                [tvi(sound)] * 5 + [tvi(sound[:-5]), redirect("/d0/x.TVI"), DownloadResult(503)]
            )
    return made | {"/site.TOL": text(bundle)}


def _settings(dice: Random) -> WorkConf:
    return WorkConf(
        HostDelay=dice.choice((0.0, 1.0)),
        HostConnections=dice.choice((1, 2, 5)),
        Connections=dice.choice((3, 50)),
        Eager=dice.choice(("never", "auto", "always")),
        Probe=dice.choice(("declared", "well-known", "blind")),
        Scope=dice.choice(("site", "any")),
        MaxPagesPerSite=dice.choice((0, 3, 8)),
        MaxDepth=dice.choice((None, None, 2)),
        LocalUrls=dice.choice((5, 1000)),
        VisitSeconds=dice.choice((5.0, 10_000.0)),
    )


def _assignments(dice: Random, world: Chaos) -> list[Assignment]:
    """Up to five visits; some of them know what robots.txt says."""
    made = []
    for number in range(dice.choice((1, 2, 3, 5))):
        urls = [DueUrl(key_of("/"), "/")]
        for name in dice.sample(world.names, dice.randrange(3)):
            plain = DueUrl(key_of(name), name, state=dice.choice((State.KNOWN, State.STORED, State.FAILED)), etag='"d1"')
            urls.append(dice.choice((plain, stored(document("1"), path=name))))
        fact = RobotsFact(RobotsStatus.FOUND, b"User-agent: *\nCrawl-delay: 2", 900.0, 9000.0) if dice.random() < 0.3 else None
        redirects = (RobotsRedirect(50, "/e.txt", 1),) if dice.random() < 0.2 else ()
        scheme, address = dice.choice(("http", "https")), dice.choice(ADDRESSES)
        lease = SiteLease(number, number, scheme, dice.choice(HOSTS), 80, tuple(urls), robots_redirects=redirects, robots=fact)
        made.append(Assignment(lease, address, (address,), 5000.0, dice.choice((2, 20))))
    return made


@pytest.mark.parametrize("share", range(4))
def test_any_visits(share: int) -> None:
    for seed in range(share * 100, share * 100 + 100):
        dice = Random(seed)
        work = _settings(dice)
        world = Chaos(dice, work)
        room = world.worker._room
        before = (room.urls, room.keys, room.links)
        visits = _assignments(dice, world)
        world.worker.accept(visits)
        stop = dice.choice((None, 3 * dice.random()))
        if stop is not None:
            world.run(until=1000.0 + stop)
            asked = len(world.asked)
            world.worker.stop()
            world.run()
            assert len(world.asked) == asked, seed
        world.run()
        assert (world.plugin_errors, world.worker.open_visits, world.worker.on_the_wire) == ([], 0, 0), seed
        assert (room.urls, room.keys, room.links) == before, seed
        _check_records(world, visits, seed)
        _check_delays(world, visits, work, seed)


def _check_records(world: Chaos, visits: list[Assignment], seed: int) -> None:
    """Each visit ends once, after all else; each of its URLs is recorded once, and every document that came is."""
    recorded = {record.path for record in world.records if isinstance(record, PageRecord | UnchangedRecord | BadRecord)}
    answers = {path: world.site[path] for _, url in world.asked if (path := urlsplit(url).path) in world.names}
    assert {path for path, answer in answers.items() if isinstance(answer, DownloadResult) and answer.body} <= recorded, seed
    for visit in visits:
        its_records = [record for record in world.records if getattr(record, "visit", None) == visit.lease.visit]
        assert isinstance(its_records[-1], VisitOver), seed
        ends = Counter(type(record) for record in its_records)
        assert ends[VisitOver] == 1, seed
        paths = Counter(record.path for record in its_records if isinstance(record, PageRecord | UnchangedRecord | BadRecord))
        assert set(paths.values()) <= {1}, seed


def _check_delays(world: Chaos, visits: list[Assignment], work: WorkConf, seed: int) -> None:
    asked: dict[str, list[float]] = {}
    for (at, url), request in zip(world.asked, world.requests, strict=True):
        asked.setdefault(urlsplit(url).hostname or "", []).append(at)
        asked.setdefault(request.address, []).append(at)
    for subject, times in asked.items():
        delay = work.HostDelay if subject in HOSTS else work.address_delay
        assert all(later - earlier >= delay - 1e-6 for earlier, later in pairwise(times)), (seed, subject)
    ends = {record.visit: record.at for record in world.of(VisitOver)}
    for visit in visits:
        if visit.lease.robots is not None:
            times = [at for at in asked.get(visit.lease.host, []) if at <= ends[visit.lease.visit]]
            assert all(later - earlier >= 2.0 - 1e-6 for earlier, later in pairwise(times)), (seed, visit.lease.host)


_NOFOLLOW = DownloadResult(
    200,
    (("Content-Type", "text/html"),),
    b'<!doctype html><a rel="nofollow" href="/a">x</a><a href="/a?b" rel="ugc NoFollow">x</a><a rel=nofollow href="/c">x</a>'
    b'<a href="/c">x</a><a rel=nofollow href="http://far.example/">x</a>',
)


def test_links_with_nofollow_are_refused_unless_the_settings_say_otherwise() -> None:
    world = World({"/": _NOFOLLOW})
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/", "/c"]
    refused = [link for record in world.of(PageRecord) for link in record.refused]
    assert refused == [("nofollow", "/a"), ("nofollow", "/a?b"), ("nofollow", "http://far.example/")]

    world = World({"/": _NOFOLLOW}, WorkConf(HostDelay=0.0, Directives=("noindex",)))
    world.visit("/")
    assert sorted(world.paths()) == ["/", "/a", "/a?b", "/c", "/robots.txt"]


def test_the_links_of_a_page_with_nofollow_are_refused_and_bounded() -> None:
    body = b"<!doctype html><meta name=robots content=nofollow>" + b"".join(b"<a href=/%d>x</a>" % n for n in range(500))
    world = World({"/": DownloadResult(200, (("Content-Type", "text/html"),), body)})
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/"]
    (record,) = world.of(PageRecord)
    assert record.refused == tuple(("nofollow", f"/{number}") for number in range(100))


def test_a_link_with_nofollow_on_one_page_is_followed_from_another() -> None:
    world = World({"/": _NOFOLLOW, "/c": page("/a")})
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/", "/c", "/a"]
