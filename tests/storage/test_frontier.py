"""The frontier leases sites that are due, each to one visit at a time, and gets them back when the visit ends."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import cycle

import pytest

from parcahyd.config.schema import HostRule
from parcahyd.core.messages import Committed, LeaseRequest, Leases, SignalBoard
from parcahyd.core.records import MOST_LEASED, Pause, SiteAddresses, VisitOver
from parcahyd.core.states import Reason, State
from parcahyd.pipeline.url_dispatcher import UrlDispatcher
from parcahyd.pipeline.url_ip_queue import UrlIpQueue
from parcahyd.refresh.schedule import NEVER
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.schema import pauses, sites
from tests.storage.desk import REVISIT, START, Desk

A = "http://a.example"
B = "http://b.example"


def test_a_seed_is_leased_once(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/index.html")
    (pair,), following = desk.lease_and_next()
    assert (pair.scheme, pair.host, pair.port) == ("http", "a.example", 80)
    assert [(due.path, due.key, due.depth, due.seed, due.state) for due in pair.urls] == [
        ("/index.html", key_of("/index.html"), 0, True, State.KNOWN)
    ]
    assert pair.has_all_keys
    assert array("q", pair.known).tolist() == [key_of("/index.html")]
    assert following is None
    assert desk.lease_and_next() == ([], None)


def test_visits_are_numbered_for_ever(desk: Desk) -> None:
    seen = set()
    for _ in range(2):
        desk.begin()
        desk.seed(f"{A}/", f"{B}/")
        for _ in range(2):
            for pair in desk.lease():
                assert pair.visit not in seen
                seen.add(pair.visit)
                desk.over(pair)
        desk.now += 10
    assert len(seen) == 8


def test_earliest_first_and_no_more_than_asked_for(desk: Desk) -> None:
    desk.begin()
    for number in range(5):
        desk.now += 1
        desk.seed(f"http://h{number}.example/")
    desk.now += 1
    pairs, following = desk.lease_and_next(3)
    assert [pair.host for pair in pairs] == ["h0.example", "h1.example", "h2.example"]
    assert following is not None
    assert following <= desk.now
    pairs, following = desk.lease_and_next(3)
    assert [pair.host for pair in pairs] == ["h3.example", "h4.example"]
    assert following is None


def test_known_by_depth_then_by_the_time_they_were_found(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.now += 1
    desk.write(desk.page(pair, "/", internal=("/one", "/two")))
    desk.now += 1
    desk.write(desk.page(pair, "/two", b"2", depth=1, internal=("/deep",)))
    desk.write(desk.page(pair, "/three", b"3", depth=0, internal=("/late",)))
    desk.over(pair)
    pair = desk.visit()
    assert [(due.path, due.depth) for due in pair.urls] == [("/one", 1), ("/late", 1), ("/deep", 2)]


def test_a_visit_carries_no_more_than_visit_pages_and_the_rest_comes_later(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.crawl(pair, internal=tuple(f"/{number}" for number in range(7)))
    found = []
    while pairs := desk.lease(pages=3):
        assert len(pairs[0].urls) <= 3
        for due in pairs[0].urls:
            found.append(due.path)
            desk.write(desk.page(pairs[0], due.path))
        desk.over(pairs[0])
    assert sorted(found) == [f"/{number}" for number in range(7)]


def test_a_lease_is_bounded_however_many_pages_a_visit_may_ask_for(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), internal=tuple(f"/{number}" for number in range(MOST_LEASED + 1)))
    (pair,) = desk.lease(pages=2 * MOST_LEASED)
    assert (len(pair.urls), pair.is_full) == (MOST_LEASED, True)


def test_keys_come_along_up_to_meta_keys(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), internal=("/x", "/y"))
    (pair,) = desk.lease(keys=3)
    assert array("q", pair.known).tolist() == sorted(map(key_of, ("/", "/x", "/y")))
    assert pair.has_all_keys
    desk.over(pair)
    (pair,) = desk.lease(keys=2)
    assert (pair.known, pair.has_all_keys) == (b"", False)
    assert {due.path for due in pair.urls} == {"/x", "/y"}


def test_a_site_waits_for_its_not_before(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/x",)))
    desk.over(pair, not_before=desk.now + 5)
    assert desk.lease_and_next() == ([], desk.now + 5)
    desk.now += 5
    assert [due.path for due in desk.visit().urls] == ["/x"]


def test_failed_urls_are_due_at_their_time(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, due_at=desk.now + 30, tries=2)], desk.now)
    desk.over(pair)
    assert desk.lease_and_next() == ([], desk.now + 30)
    desk.now += 30
    (due,) = desk.visit().urls
    assert (due.path, due.state, due.tries) == ("/", State.FAILED, 2)


def test_stored_urls_are_due_again_once_in_a_run(desk: Desk) -> None:
    desk.begin(RevisitAfter=0)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.crawl(pair, etag='"1"', modified="yesterday")
    assert desk.lease_and_next() == ([], None)

    desk.now += 1
    desk.begin(RevisitAfter=0)
    pair = desk.visit()
    (due,) = pair.urls
    assert (due.path, due.state, due.etag, due.modified) == ("/", State.STORED, '"1"', "yesterday")
    desk.write(desk.unchanged(pair))
    desk.over(pair)
    assert desk.lease_and_next() == ([], None)


def test_what_is_due_again_waits_for_not_before_too(desk: Desk) -> None:
    """A visit that ended after VisitPages: the rest is still due in this run, after the delay."""
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.crawl(pair, internal=("/x",))
    desk.crawl(desk.visit(), "/x")
    desk.now += 2 * REVISIT
    desk.begin()
    (pair,) = desk.lease(pages=1)
    desk.write(desk.unchanged(pair, pair.urls[0].path))
    desk.over(pair, not_before=desk.now + 7)
    assert desk.lease_and_next() == ([], desk.now + 7)
    desk.now += 7
    assert len(desk.visit().urls) == 1


class _Clock:
    """The clock of a desk. Each of its steps is added when a visit is over, and then the first again."""

    def __init__(self, desk: Desk, steps: tuple[float, ...]) -> None:
        self._desk = desk
        self._steps = cycle(steps)

    def now(self) -> float:
        return self._desk.now

    def monotonic(self) -> float:
        return self._desk.now

    def step(self) -> None:
        self._desk.now += next(self._steps)


def _visits_of_a_run(desk: Desk, steps: tuple[float, ...], pages: int) -> Counter[str]:
    """Lets the URL Dispatcher lead a run to its end, so many pages a visit; returns how often each path was visited."""
    clock, queue = _Clock(desk, steps), UrlIpQueue(10)
    asked: list[LeaseRequest] = []
    dispatcher = UrlDispatcher(queue, SignalBoard(), clock, asked.append, forever=False, wait_for_retries=0.0)
    visited: Counter[str] = Counter()
    for _ in range(40):
        dispatcher.dispatch()
        while asked:
            request = asked.pop()
            pairs, following = desk.lease_and_next(request.count, pages=pages, again_before=request.again_before)
            dispatcher.leases(Leases(tuple(pairs), following))
        if dispatcher.is_over():
            return visited
        for pair in queue.take(10):
            gone = [desk.bad(pair, due.path, State.GONE, Reason.MISSING) for due in pair.urls if due.state == State.GONE]
            desk.store.store_bad(gone, desk.now)
            desk.write(*(desk.unchanged(pair, due.path) for due in pair.urls if due.state == State.STORED))
            visited.update(due.path for due in pair.urls)
            desk.over(pair, not_before=0.0)
            clock.step()
            dispatcher.committed(Committed((pair.visit,), True, 0, 0, 0, 0, 0, 0, {}, 0, 0))
    raise AssertionError(f"the run did not end: {visited.most_common(3)}")


@pytest.mark.parametrize("pages", [5, 250])
@pytest.mark.parametrize(
    "steps",
    [(0.0,), (-50 * REVISIT,), (50 * REVISIT,), (-50 * REVISIT, 49 * REVISIT), (50 * REVISIT, -90 * REVISIT)],
    ids=["still", "back", "forth", "back and forth", "forth and back"],
)
def test_a_run_visits_a_stored_url_once_whatever_the_clock_does(desk: Desk, pages: int, steps: tuple[float, ...]) -> None:
    paths = [f"/{number}" for number in range(pages)]
    desk.begin(RevisitAfter=REVISIT, RevisitMax=REVISIT)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair), *(desk.page(pair, path) for path in paths))
    desk.store.store_bad([desk.bad(pair, "/gone", State.GONE, Reason.MISSING, due_at=desk.now + REVISIT)], desk.now)
    desk.over(pair)
    for _ in range(2):
        desk.now += 1000 * REVISIT
        desk.begin(RevisitAfter=REVISIT, RevisitMax=REVISIT)
        assert _visits_of_a_run(desk, steps, pages // 4) == dict.fromkeys(["/", *paths, "/gone"], 1)


def test_refreshing_for_ever_sees_what_is_due_later(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    due = desk.first_due()
    desk.now += 1
    assert desk.lease_and_next(again_before=desk.now) == ([], due)
    assert desk.lease_and_next() == ([], None)
    desk.now += REVISIT + 1
    assert len(desk.lease(again_before=desk.now)) == 1


def test_order_within_a_visit(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/failed", "/gone", "/refused", "/known")))
    desk.store.store_bad(
        [
            desk.bad(pair, "/gone", State.GONE, Reason.MISSING, due_at=desk.now + 10),
            desk.bad(pair, "/failed", due_at=desk.now + 60),
            desk.bad(pair, "/refused", State.REFUSED, Reason.ROBOTS, due_at=desk.now + 5),
        ],
        desk.now,
    )
    desk.over(pair)
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    assert [due.path for due in pair.urls] == ["/known", "/failed", "/", "/refused", "/gone"]
    assert [bool(due.state) for due in pair.urls] == [False, True, True, True, True]


def test_validators_only_where_a_document_is_stored(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(
        desk.page(pair, etag='"e"', modified="m", internal=("/r",)),
        desk.redirect(pair, "/r", f"{A}/", etag='"r"', modified="m"),
    )
    desk.over(pair)
    desk.now += 2 * REVISIT
    desk.begin()
    assert {due.path: (due.etag, due.modified) for due in desk.visit().urls} == {"/": ('"e"', "m"), "/r": ("", "")}


def test_a_site_whose_time_is_wrong_is_put_right_and_not_leased(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    for pair in desk.lease():
        desk.crawl(pair)
    desk.now += 1
    with desk.look.begin() as connection:
        connection.execute(sites.update().where(sites.c.host == "a.example").values(due_at=START - 1))
    desk.seed(f"{B}/new")
    (pair,), following = desk.lease_and_next(1)
    assert pair.origin == B
    assert following is None
    assert {row["host"]: row["due_at"] for row in desk.rows(sites)}["a.example"] is None


def test_what_a_visit_learned_comes_with_the_next(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    assert (pair.addresses, pair.robots) == ((), None)
    desk.over(pair, addresses=("192.0.2.1", "2001:db8::1"), addresses_expire=desk.now + 99, failures=2)
    pair = desk.visit()
    assert (pair.addresses, pair.addresses_expire) == (("192.0.2.1", "2001:db8::1"), desk.now + 99)
    assert pair.failures == 2


@pytest.mark.parametrize("told", [(), ("192.0.2.9",)])
def test_an_address_that_did_not_answer_is_blanked_for_the_next_visit(desk: Desk, told: tuple[str, ...]) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.over(pair, addresses=("192.0.2.9",), addresses_expire=desk.now + 1000)
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, reason=Reason.CONNECT, blank_address=True, due_at=desk.now)], desk.now)
    desk.over(pair, addresses=told, addresses_expire=desk.now + 1000)
    assert desk.visit().addresses == ()


def test_pauses_are_kept_and_never_shortened(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    first, second = desk.lease()
    desk.over(first, pauses=(Pause("host a.example", desk.now + 5), Pause("address 192.0.2.1", desk.now + 9)))
    desk.over(second, pauses=(Pause("address 192.0.2.1", desk.now + 2), Pause("host b.example", desk.now + 1)))
    desk.now += 1
    start = desk.begin()
    assert {pause.subject: pause.not_before - START for pause in start.pauses} == {"host a.example": 5, "address 192.0.2.1": 9}
    assert len(desk.rows(pauses)) == 2


def test_addresses_are_stored_as_soon_as_they_are_known(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/", "http://c.example/")
    first, second, over = sorted(desk.lease(), key=lambda pair: pair.host)
    desk.over(over)
    before = {row["host"]: row["addresses"] for row in desk.rows(sites)}
    assert set(before.values()) == {""}
    desk.store.note_addresses(
        [
            SiteAddresses(first.visit, ("192.0.2.1", "2001:db8::1"), desk.now + 60),
            SiteAddresses(second.visit, ("192.0.2.2",), desk.now + 90),
            SiteAddresses(over.visit, ("192.0.2.3",), desk.now + 90),
        ]
    )
    known = {row["host"]: (row["addresses"], row["addresses_expire"]) for row in desk.rows(sites)}
    assert known == {
        "a.example": ("192.0.2.1,2001:db8::1", desk.now + 60),
        "b.example": ("192.0.2.2", desk.now + 90),
        "c.example": ("", 0.0),
    }
    # A run that is killed leaves them to the next, which spares them.
    desk.killed()
    start = desk.begin(AddressDelay=5.0)
    spared = {pause.subject for pause in start.pauses}
    assert {"address 192.0.2.1", "address 2001:db8::1", "address 192.0.2.2"} <= spared
    desk.now += 10
    leased = {pair.host: (pair.addresses, pair.addresses_expire) for pair in desk.lease()}
    assert leased["a.example"] == (("192.0.2.1", "2001:db8::1"), START + 60)


def test_an_address_that_does_not_answer_is_not_stored_again(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.note_addresses([SiteAddresses(pair.visit, ("192.0.2.1",), desk.now + 60)])
    desk.store.store_bad([desk.bad(pair, blank_address=True)], desk.now)
    desk.store.note_addresses([SiteAddresses(pair.visit, ("192.0.2.1",), desk.now + 60)])
    assert [(row["addresses"], row["addresses_expire"]) for row in desk.rows(sites)] == [("", 0.0)]


def test_orphaned_visits_wait_one_full_delay(desk: Desk) -> None:
    desk.begin(HostDelay=3.0, AddressDelay=0.5)
    desk.seed(f"{A}/", f"{B}/")
    first, second = sorted(desk.lease(), key=lambda pair: pair.host)
    desk.over(first, addresses=("192.0.2.1", "192.0.2.2"), addresses_expire=NEVER)
    desk.store.assign({second.visit: "192.0.2.7"})
    (first,) = desk.lease()
    desk.write(desk.page(first, internal=("/x",)))
    desk.killed()
    desk.now += 10
    start = desk.begin(HostDelay=3.0, AddressDelay=0.5)
    assert {pause.subject: pause.not_before - desk.now for pause in start.pauses} == {
        "host a.example": 3.0,
        "host b.example": 3.0,
        "address 192.0.2.1": 0.5,
        "address 192.0.2.2": 0.5,
        "address 192.0.2.7": 0.5,
    }
    assert desk.lease_and_next() == ([], desk.now + 3.0)
    assert desk.findings(running=False) == []
    desk.now += 3
    assert {pair.host: [due.path for due in pair.urls] for pair in desk.lease()} == {"a.example": ["/x"], "b.example": ["/"]}


def test_an_orphan_waits_for_the_delay_of_its_own_host(desk: Desk) -> None:
    rules = [HostRule(Pattern="a.example:8080", Delay=30.0, Credentials="env:NOWHERE"), HostRule(Pattern="b.*", Delay=0.5)]
    desk.begin(HostDelay=3.0, Host=tuple(rules), Proxy="env:NOWHERE")
    desk.seed(f"{A}:8080/", f"{B}/", "http://c.example/")
    visits = {pair.host: pair.visit for pair in desk.lease()}
    desk.store.abandon([*visits.values()], desk.now, dict.fromkeys(visits.values(), "192.0.2.1"))
    delays = {"a.example": 30.0, "b.example": 0.5, "c.example": 3.0}
    spared = {row["subject"]: row["not_before"] - desk.now for row in desk.rows(pauses)}
    assert spared.pop("address 192.0.2.1") == pytest.approx(0.3)
    assert spared == {f"host {host}": delay for host, delay in delays.items()}
    assert {row["host"]: row["not_before"] - desk.now for row in desk.rows(sites)} == delays


def test_an_abandoned_visit_is_an_orphan_and_its_late_records_change_nothing(desk: Desk) -> None:
    desk.begin(HostDelay=2.0)
    desk.seed(f"{A}/", f"{B}/")
    lost, kept = sorted(desk.lease(), key=lambda pair: pair.host)
    desk.store.abandon([lost.visit, 12345], desk.now, {lost.visit: "192.0.2.5"})
    assert {row["subject"]: row["not_before"] - desk.now for row in desk.rows(pauses)} == {
        "host a.example": 2.0,
        "address 192.0.2.5": pytest.approx(0.2),
    }
    before = desk.everything()
    assert desk.write(desk.page(lost), desk.unchanged(lost)).late == 2
    assert desk.store.store_bad([desk.bad(lost)], desk.now).late == 1
    desk.over(lost, not_before=desk.now + 99)
    assert desk.everything() == before
    desk.now += 2
    assert desk.visit().origin == A
    desk.write(desk.page(kept))
    assert desk.states()[f"{B}/"] == "stored"


def test_a_site_that_kills_worker_after_worker_is_left_alone_for_longer_each_time(desk: Desk) -> None:
    desk.begin(HostDelay=1.0, RetryDelay=10.0)
    desk.seed(f"{A}/")
    waits = []
    for _ in range(6):
        desk.store.abandon([desk.visit().visit], desk.now)
        following = desk.lease_and_next()[1]
        assert following is not None
        waits.append(following - desk.now)
        desk.now = following
    assert waits == [1.0, 1.0, 1.0, 10.0, 20.0, 40.0]
    fruitful = desk.visit()
    desk.write(desk.page(fruitful, internal=("/x",)))
    desk.store.abandon([fruitful.visit], desk.now)
    assert desk.lease_and_next() == ([], desk.now + 1.0)


def test_a_site_is_watched_after_a_worker_died_there_until_another_visit_is_found_guilty(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/", "http://c.example/")
    first = desk.lease()
    assert [pair.is_watched for pair in first] == [False] * 3
    c = next(pair for pair in first if pair.host == "c.example")
    desk.over(c)
    desk.store.abandon([pair.visit for pair in first if pair is not c], desk.now)
    desk.now += 10
    second = {pair.host: pair for pair in desk.lease()}
    assert {host: pair.is_watched for host, pair in second.items()} == {
        "a.example": True,
        "b.example": True,
        "c.example": False,
    }
    a, b = second["a.example"], second["b.example"]
    desk.store.judge([a.visit, 12345], [b.visit])
    desk.store.abandon([a.visit, b.visit, 12345], desk.now)
    desk.now += 10
    assert {pair.host: pair.is_watched for pair in desk.lease()} == {"a.example": True, "b.example": False}


def test_the_innocent_are_not_left_alone_however_often_workers_die_and_the_guilty_are_although_they_bring_pages(
    desk: Desk,
) -> None:
    desk.begin(HostDelay=1.0, RetryDelay=10.0)
    desk.seed(f"{A}/", f"{B}/")
    waits = []
    for number in range(6):
        pairs = {pair.host: pair for pair in desk.lease()}
        guilty, innocent = pairs["a.example"], pairs["b.example"]
        desk.write(desk.page(guilty, internal=(f"/{number}",)))
        desk.store.judge([guilty.visit], [innocent.visit])
        desk.store.abandon([guilty.visit, innocent.visit], desk.now)
        until = {row["host"]: row["not_before"] - desk.now for row in desk.rows(sites)}
        assert until["b.example"] == 1.0
        waits.append(until["a.example"])
        desk.now += max(until.values())
    assert waits == [1.0, 1.0, 1.0, 10.0, 20.0, 40.0]
    assert {row["failures"] for row in desk.rows(sites)} == {0}


def test_a_url_whose_worker_died_is_a_suspect_in_the_next_run_too(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/x", "/y")))
    record = desk.bad(pair, "/x", reason=Reason.WORKER_DIED)
    desk.store.store_bad([record], desk.now)
    desk.over(pair)
    desk.killed()
    desk.now += 100_000
    desk.begin()
    pair = desk.visit()
    assert {url.path: url.is_suspect for url in pair.urls if url.state != State.STORED} == {"/x": True, "/y": False}
    assert pair.is_watched
    assert pair.has_suspects


def test_a_visit_that_found_pages_unchanged_brought_something(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    for _ in range(5):
        desk.now += 40 * REVISIT
        desk.begin()
        pair = desk.visit()
        desk.write(desk.unchanged(pair))
        desk.store.abandon([pair.visit], desk.now)
        (site,) = desk.rows(sites)
        assert (site["failures"], site["not_before"]) == (0, desk.now + 1.0)


def test_a_record_for_another_site_than_its_visits_changes_nothing(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    first, second = desk.lease()
    before = desk.everything()
    assert desk.write(desk.page(first, site=second.site)).late == 1
    desk.store.release([VisitOver(first.visit, second.site, desk.now, desk.now)], desk.now)
    assert desk.everything() == before


def test_a_lease_that_was_committed_although_it_seemed_to_fail_is_given_out_again(desk: Desk) -> None:
    """The server took the transaction and the answer was lost: nobody has that visit."""
    desk.begin()
    desk.seed(f"{A}/")
    heal = desk.fail_at(1)
    with pytest.raises(Exception, match="planted"):
        desk.lease()
    heal()
    with desk.look.begin() as connection:
        connection.execute(sites.update().values(visit=77))
    assert desk.visit().origin == A


def test_what_is_left_at_the_end_of_a_run(desk: Desk) -> None:
    desk.begin()
    assert desk.store.waiting() == ({}, None)
    desk.seed(f"{A}/", f"{B}/")
    first, second = desk.lease()
    desk.store.store_bad([desk.bad(first, due_at=desk.now + 50)], desk.now)
    desk.over(first)
    desk.crawl(second, internal=("/1", "/2"))
    assert desk.store.waiting() == ({"known": 2, "failed": 1}, desk.now)
