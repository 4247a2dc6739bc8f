"""A run in the partitions of one database: begun, joined, followed, and idle when nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from sqlalchemy import BigInteger
from sqlalchemy.dialects import postgresql

from parcahyd.cluster.ending import end_if_done
from parcahyd.cluster.planning import publish
from parcahyd.cluster.runs import STOPPED, Runs
from parcahyd.cluster.scope import change_scope
from parcahyd.core.errors import LeaseLost, StoreFailure
from parcahyd.core.states import Reason
from parcahyd.storage.cluster_schemas import IDS_OF_A_PARTITION
from parcahyd.storage.schema import documents, fetches, metadata, runs, seeds, sites, urls
from tests.cluster.hub_desk import HubDesk, lose_commit, retried
from tests.cluster.partition_pair import Pair, PartitionDesk

A, B = "http://a0.example", "http://b1.example"


@pytest.fixture
def make(desk: HubDesk) -> Iterator[Callable[..., Pair]]:
    pairs: list[Pair] = []

    def make(**options: Any) -> Pair:
        pairs.append(Pair(desk, **options))
        return pairs[-1]

    yield make
    for pair in pairs:
        pair.close()


# --- links that cross ---------------------------------------------------------------------------------------------------


def test_a_link_is_stored_where_it_lives(make: Callable[..., Pair]) -> None:
    pair = make()
    first, second = pair
    first.give_seeds(f"{A}/")
    first.link("/", f"{B}/1", f"{A}/2", f"{B}/1?x=1")
    assert first.states() == {f"{A}/": "stored", f"{A}/2": "known"}
    assert second.states() == {}
    assert pair.exchange() == 1, "one letter for both"
    assert second.states() == {f"{B}/1": "known", f"{B}/1?x=1": "known"}
    second.link("/1", f"{A}/2", f"{A}/3")
    pair.exchange()
    assert first.states() == {f"{A}/": "stored", f"{A}/2": "known", f"{A}/3": "known"}
    for desk in pair:
        assert desk.findings() == []


def test_the_page_that_a_link_was_found_on_is_known_everywhere(make: Callable[..., Pair]) -> None:
    pair = make()
    first, second = pair
    first.give_seeds(f"{A}/")
    first.link("/", f"{B}/1")
    pair.exchange()
    ((row,), (page,)) = second.rows(urls), first.rows(urls)
    assert (row["via_site"], row["via_key"]) == (page["site_id"], page["key"])


def test_each_counts_what_its_own_sites_brought(make: Callable[..., Pair]) -> None:
    pair = make()
    first, second = pair
    first.give_seeds(f"{A}/")
    first.link("/", f"{B}/1", f"{B}/2")
    pair.exchange()
    assert [site["urls_for_others"] for site in first.rows(sites)] == [2]
    assert [(site["urls"], site["urls_from_others"]) for site in second.rows(sites)] == [(2, 2)]


def test_what_is_too_deep_is_judged_by_its_owner(make: Callable[..., Pair]) -> None:
    pair = make(MaxDepth=2)
    first, second = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.write(first.page(visit, "/", external=(f"{B}/near",), depth=1))
    first.write(first.page(visit, "/deep", b"deep", external=(f"{B}/far", f"{B}/near"), depth=2))
    first.over(visit)
    pair.exchange()
    assert second.states() == {f"{B}/near": "known", f"{B}/far": "refused depth"}


def test_a_url_that_was_too_deep_is_posted_again_when_it_is_found_nearer(make: Callable[..., Pair]) -> None:
    pair = make(MaxDepth=2)
    first, second = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.write(first.page(visit, "/deep", b"deep", external=(f"{B}/x",), depth=2))
    pair.exchange()
    assert second.states() == {f"{B}/x": "refused depth"}
    first.write(first.page(visit, "/", external=(f"{B}/x",), depth=0))
    pair.exchange()
    assert second.states() == {f"{B}/x": "known"}


def test_a_url_that_was_redirected_too_often_is_posted_again_for_a_link(make: Callable[..., Pair]) -> None:
    pair = make(MaxRedirects=1)
    first, second = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.write(first.redirect(visit, "/r", f"{B}/x", hops=1))
    pair.exchange()
    assert second.states() == {f"{B}/x": "refused redirects"}
    first.write(first.page(visit, "/2", external=(f"{B}/x",)))
    pair.exchange()
    assert second.states() == {f"{B}/x": "known"}


def test_a_link_that_may_not_be_followed_is_refused_where_it_was_found(make: Callable[..., Pair]) -> None:
    pair = make()
    first, second = pair
    first.give_seeds(f"{A}/")
    first.link("/", "gopher://g1.example:71/", "file:///etc/passwd", f"{B}/1")
    pair.exchange()
    assert second.states() == {f"{B}/1": "known"}
    assert {state for url, state in first.states().items() if not url.startswith("http")} == {"refused port", "refused local"}


def test_a_refused_link_is_refused_by_its_owner(make: Callable[..., Pair]) -> None:
    pair = make()
    first, second = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.write(first.page(visit, "/", refused=((Reason.NOFOLLOW.word, f"{B}/x"),)))
    pair.exchange()
    assert second.states() == {f"{B}/x": "refused nofollow"}
    first.write(first.page(visit, "/2", external=(f"{B}/x",)))
    pair.exchange()
    assert second.states() == {f"{B}/x": "known"}, "another link asks for nothing like that"


# --- the scope ----------------------------------------------------------------------------------------------------------


def test_the_owner_judges_the_scope_and_again_when_it_grows(make: Callable[..., Pair]) -> None:
    pair = make(Scope="site")
    first, second = pair
    first.give_seeds(f"{A}/")
    first.link("/", f"{B}/x")
    pair.exchange()
    assert second.states() == {f"{B}/x": "refused scope"}
    version = change_scope(pair.hub.hub, [("http", "b1.example", 80)])
    assert second.partition.follow_scope(second.now)
    assert second.states() == {f"{B}/x": "known"}
    assert second.noted("judged") == version
    assert not second.partition.follow_scope(second.now)


def test_a_scope_that_failed_half_way_is_followed_again(make: Callable[..., Pair]) -> None:
    pair = make(Scope="domain")
    first, second = pair
    first.give_seeds(f"{A}/")
    first.link("/", f"{B}/x")
    pair.exchange()
    change_scope(pair.hub.hub, [("http", "www.b1.example", 80)])
    second.fail_next(StoreFailure("planted"))
    with pytest.raises(StoreFailure):
        second.partition.follow_scope(second.now)
    assert second.states() == {f"{B}/x": "refused scope"}
    assert second.partition.follow_scope(second.now)
    assert second.states() == {f"{B}/x": "known"}


def test_a_seed_that_redirects_abroad_takes_its_target_into_the_scope(make: Callable[..., Pair]) -> None:
    pair = make(Scope="site")
    first, second = pair
    first.give_seeds(f"{A}/")
    second.give_seeds(f"{B}/other")
    second.crawl(second.visit(), "/other")
    visit = first.visit()
    first.write(first.redirect(visit, "/", "http://c1.example/new", seed=True))
    first.over(visit)
    letters = second.exchange()
    assert letters.has_new_work
    assert second.states() == {f"{B}/other": "stored", "http://c1.example/new": "known"}
    (target,) = [row for row in second.rows(urls) if row["path"] == "/new"]
    assert target["seed"]
    first.partition.follow_scope(first.now)
    assert [row["in_scope"] for row in first.rows(sites)] == [True]


def test_a_known_url_becomes_a_seed_when_a_seed_redirects_there(make: Callable[..., Pair]) -> None:
    pair = make()
    first, second = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.write(first.page(visit, "/p", external=(f"{B}/x",)))
    pair.exchange()
    first.write(first.redirect(visit, "/", f"{B}/x", seed=True))
    pair.exchange()
    assert [row["seed"] for row in second.rows(urls)] == [True]


def test_a_wider_scope_is_not_lost_when_its_page_is_repeated(make: Callable[..., Pair]) -> None:
    pair = make(Scope="site")
    first, _ = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    page = first.redirect(visit, "/", "http://c1.example/", seed=True)
    first.fail_next(StoreFailure("planted"))
    with pytest.raises(StoreFailure):
        first.write(page)
    first.write(page)
    assert b"c1.example" in b"".join(row[0] for row in pair.hub.rows("SELECT rules FROM parcahyd_hub.scope"))


def test_a_redirect_is_stored_also_when_the_run_has_just_ended(make: Callable[..., Pair]) -> None:
    pair = make(Scope="site")
    first, _ = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    pair.hub.change("UPDATE parcahyd_hub.runs SET outcome = 'max-pages'")
    first.write(first.redirect(visit, "/", "http://c1.example/", seed=True))
    assert first.states() == {f"{A}/": "stored redirect"}


# --- runs ---------------------------------------------------------------------------------------------------------------


def _crawl_runs(desk: PartitionDesk) -> list[tuple[int, int]]:
    return [(row["id"] % IDS_OF_A_PARTITION, row["crawl_run"] % IDS_OF_A_PARTITION) for row in desk.rows(runs)]


def test_a_run_is_begun_once_and_joined_after_that(make: Callable[..., Pair]) -> None:
    pair = make()
    first, _ = pair
    first.give_seeds(f"{A}/", f"{A}/2")
    visit = first.visit()
    first.write(first.page(visit, "/"))
    first.begin_run(pair.run)
    assert _crawl_runs(first) == [(1, 1), (2, 1)]
    first.now += 10
    taker = first.take_over()
    assert taker.begin_run(pair.run).run % IDS_OF_A_PARTITION == 3
    assert _crawl_runs(taker) == [(1, 1), (2, 1), (3, 1)]
    taker.now += 10
    assert [due.path for due in taker.visit().urls] == ["/2"], "what the run has visited is not visited again"
    assert taker.noted("run") == pair.run
    with pytest.raises(LeaseLost):
        retried(lambda: first.write(first.page(visit, "/late")))
    taker.close()


def test_the_next_run_visits_again_and_one_after_a_stop_goes_on(make: Callable[..., Pair], desk: HubDesk) -> None:
    pair = make()
    first, _ = pair
    Runs(desk.hub).want(STOPPED)
    desk.change("UPDATE parcahyd_hub.runs SET outcome = 'stopped'")
    first.begin_run(Runs(desk.hub).begin("{}", {}))
    assert _crawl_runs(first) == [(1, 1), (2, 1)]
    desk.change("UPDATE parcahyd_hub.runs SET outcome = 'done'")
    first.begin_run(Runs(desk.hub).begin("{}", {}))
    assert _crawl_runs(first) == [(1, 1), (2, 1), (3, 3)]


def test_a_tree_learns_the_time_of_the_tree_before(make: Callable[..., Pair]) -> None:
    first, _ = make()
    first.now += 500_000
    first.give_seeds(f"{A}/")
    taker = first.take_over()
    assert taker.partition.last_time == first.now
    taker.close()


# --- idle ---------------------------------------------------------------------------------------------------------------


def test_it_is_idle_when_nothing_is_left(make: Callable[..., Pair]) -> None:
    pair = make()
    first, second = pair
    first.give_seeds(f"{A}/")
    assert not first.idle(), "a URL is due"
    visit = first.visit()
    assert not first.idle(), "a visit is open"
    first.crawl(visit, "/", external=(f"{B}/",))
    assert first.idle()
    assert not second.idle(), "a letter waits"
    assert end_if_done(pair.hub.hub, pair.run) is None
    second.exchange_all()
    second.link("/")
    assert second.idle()
    assert end_if_done(pair.hub.hub, pair.run) == "done"


def test_looking_whether_it_is_idle_writes_nothing(make: Callable[..., Pair]) -> None:
    first, _ = make()
    first.give_seeds(f"{A}/")
    before = first.noted("batch")
    assert not first.idle()
    assert first.noted("batch") == before


def test_what_is_due_later_counts_as_far_as_it_is_waited_for(make: Callable[..., Pair]) -> None:
    first, _ = make()
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.store.store_bad([first.bad(visit)], first.now)
    first.over(visit)
    assert not first.idle(again=100.0)
    assert first.idle(again=10.0)


def test_a_visit_after_that_ends_the_rest(make: Callable[..., Pair]) -> None:
    first, _ = make()
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.store.store_bad([first.bad(visit)], first.now)
    first.over(visit)
    assert first.idle()
    assert first.noted("idle_since") is not None
    first.now += 100.0
    assert first.lease() != []
    assert first.noted("idle_since") is None


def test_a_scope_that_grew_is_judged_before_it_is_idle(make: Callable[..., Pair]) -> None:
    pair = make(Scope="site")
    first, second = pair
    first.give_seeds(f"{A}/")
    first.link("/", f"{B}/x")
    pair.exchange()
    version = change_scope(pair.hub.hub, [("http", "b1.example", 80)])
    assert not second.idle(), "it has become due"
    second.link("/x")
    assert second.idle()
    assert second.noted("scope") == version


def test_it_is_idle_by_the_newest_routing(make: Callable[..., Pair], desk: HubDesk) -> None:
    first, _ = make()
    version = publish(desk.planner(), "name", b"{}")
    assert first.idle()
    assert first.noted("routing") == version


# --- MaxPages -----------------------------------------------------------------------------------------------------------


def test_max_pages_is_exact_over_partitions(make: Callable[..., Pair]) -> None:
    pair = make(totals={"MaxPages": 3}, MaxPages=3)
    first, second = pair
    first.give_seeds(f"{A}/", f"{A}/2")
    second.give_seeds(f"{B}/", f"{B}/2")
    stored = 0
    for desk, paths in ((first, ("/", "/2")), (second, ("/", "/2"))):
        visit, used = desk.visit(), 0
        for path in paths:
            if desk.draw(1) > used:
                desk.write(desk.page(visit, path, path.encode()))
                used += 1
        stored += used
        desk.over(visit)
    assert stored == 3
    assert [desk.noted("pages") for desk in pair] == [2, 1]
    assert end_if_done(pair.hub.hub, pair.run) == "max-pages"


def test_a_page_counts_once_when_its_answer_was_lost_or_it_is_repeated(make: Callable[..., Pair]) -> None:
    pair = make(totals={"MaxPages": 10}, MaxPages=10)
    first, _ = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    while first.draw(5) < 3:
        pass
    lose_commit(first.writer, commits=True)
    first.write(first.page(visit, "/1", b"1"))
    lose_commit(first.writer, commits=False)
    with pytest.raises(StoreFailure):
        first.write(first.page(visit, "/2", b"2"))
    first.write(first.page(visit, "/2", b"2"))
    assert first.noted("pages") == 2
    assert pair.hub.rows("SELECT c.drawn - c.left FROM parcahyd_hub.chunks c") == [(2,)]


def test_what_nobody_asked_for_does_not_count(make: Callable[..., Pair]) -> None:
    first, _ = make(totals={"MaxPages": 10}, MaxPages=10)
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.draw(1)
    first.write(
        first.page(visit, "/archive.warc", b"archive"),
        first.page(visit, "/archive.warc#1", b"member"),
        first.redirect(visit, "/gone", f"{A}/archive.warc"),
        first.page(visit, "/hidden", b"", reason=Reason.NOINDEX.word),
    )
    assert first.noted("pages") == 1


def test_an_unchanged_page_counts(make: Callable[..., Pair]) -> None:
    first, _ = make(totals={"MaxPages": 10}, MaxPages=10)
    first.give_seeds(f"{A}/")
    visit = first.visit()
    while first.draw(5) < 2:
        pass
    first.write(first.page(visit))
    first.write(first.unchanged(visit))
    assert first.noted("pages") == 2


def test_a_page_that_was_not_drawn_ends_the_tree(make: Callable[..., Pair]) -> None:
    first, _ = make(totals={"MaxPages": 10}, MaxPages=10)
    first.give_seeds(f"{A}/")
    visit = first.visit()
    with pytest.raises(LeaseLost):
        first.write(first.page(visit))
    assert first.states() == {f"{A}/": "known"}


def test_an_idle_partition_gives_its_pages_back(make: Callable[..., Pair]) -> None:
    pair = make(totals={"MaxPages": 10}, MaxPages=10)
    first, second = pair
    first.draw(5)
    assert first.idle()
    assert pair.hub.rows("SELECT q.left FROM parcahyd_hub.quotas q") == [(10,)]
    second.draw(1)
    assert second.idle()
    assert end_if_done(pair.hub.hub, pair.run) == "done"


# --- ids ----------------------------------------------------------------------------------------------------------------


def test_two_partitions_never_share_an_id(make: Callable[..., Pair]) -> None:
    pair = make()
    ids: list[dict[str, set[int]]] = []
    for desk, origin in zip(pair, (A, B), strict=True):
        desk.give_seeds(f"{origin}/")
        desk.link("/", f"{A}/more", f"{B}/more")
        rows = {table.name: desk.rows(table) for table in (sites, documents, fetches, runs)}
        assert all(rows.values())
        ids.append({name: {row["id"] for row in found} for name, found in rows.items()})
    for name in ids[0]:
        assert {number // IDS_OF_A_PARTITION for number in ids[0][name]} == {0}
        assert {number // IDS_OF_A_PARTITION for number in ids[1][name]} == {1}


def test_every_column_that_holds_an_id_has_64_bits_on_postgresql() -> None:
    names = {"id", "site", "asker", "visit", "crawl_run", "visited_in", "rested_in", "via_site", "head_base"}
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    found = {
        f"{table.name}.{column.name}": column.type.dialect_impl(dialect)
        for table in metadata.tables.values()
        for column in table.c
        if column.name in names or column.name.endswith("_id")
    }
    del found["volatile.id"]  # a name
    assert len(found) > 25
    assert {name for name, kind in found.items() if not isinstance(kind, BigInteger)} == set()


def test_the_visits_of_a_partition_have_numbers_that_fit(make: Callable[..., Pair]) -> None:
    _, second = make()
    second.give_seeds(f"{B}/")
    visit = second.visit()
    assert 0 < visit.visit < 2**62
    second.crawl(visit)
    assert [row["visited_in"] for row in second.rows(urls)] == [IDS_OF_A_PARTITION + 1]
    assert [row["site_id"] for row in second.rows(seeds)] == [IDS_OF_A_PARTITION + 1]


def test_the_store_says_what_it_has_posted(make: Callable[..., Pair]) -> None:
    pair = make()
    first, _ = pair
    first.give_seeds(f"{A}/")
    visit = first.visit()
    first.write(first.page(visit, "/", external=(f"{B}/1", f"{B}/2")))
    first.write(first.page(visit, "/2", b"2", external=(f"{B}/1",)))
    counts = msgspec.structs.asdict(first.partition.mail_counts)
    assert counts.pop("bytes") > 0
    assert counts == {"letters": 1, "urls": 2, "spared": 1, "robots": 0}
