"""The store as a whole: the fast path of links, transactions that fail, and crawls that are killed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import text

from parcahyd.core.errors import DatabaseUnusable, StoreFailure
from parcahyd.core.records import ExternRecord, RobotsFact, RobotsStatus, SiteAddresses, SiteLease, SiteRecord
from parcahyd.core.states import Reason, State
from parcahyd.storage.schema import runs, sites
from parcahyd.storage.store import Store
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"
B = "http://b.example"


def test_links_to_other_sites_ahead_of_their_page(desk: Desk) -> None:
    desk.begin(MaxDepth=2)
    desk.seed(f"{A}/", f"{B}/")
    pair = desk.visit(A)
    found = (f"{B}/1", f"{B}/2", "https://c.example/")
    assert (
        desk.store.store_extern([ExternRecord(pair.visit, 1, found), ExternRecord(pair.visit, 3, (f"{B}/3",))], desk.now).found
        == 4
    )
    before = desk.everything()
    assert desk.store.store_extern([ExternRecord(pair.visit, 1, found)], desk.now + 5).found == 0
    assert desk.everything() == before
    states = desk.states()
    assert [states[link] for link in (*found, f"{B}/3")] == ["known", "known", "refused scope", "refused depth"]
    assert desk.write(desk.page(pair, external=found)).found == 0


def test_only_a_site_that_is_given_something_to_do_is_news(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    first = desk.visit(A)

    def ahead(*links: str) -> bool:
        return desk.store.store_extern([ExternRecord(first.visit, 1, links)], desk.now).has_new_work

    # A site that waits already, one that is being visited, one outside of the scope.
    assert not ahead(f"{B}/waits")
    second = desk.visit(B)
    assert not ahead(f"{B}/visited")
    assert not ahead("http://c.example/")
    assert not desk.write(desk.page(first, internal=("/own",), external=(f"{B}/more",))).has_new_work
    desk.write(*(desk.page(second, path) for path in ("/", "/waits", "/visited", "/more")))
    desk.over(second)
    assert ahead(f"{B}/new")
    assert not ahead(f"{B}/another")


def test_a_widened_scope_and_a_redirected_robots_txt_are_new_work(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit(A)
    assert not desk.store.store_extern([ExternRecord(pair.visit, 1, (f"{B}/x",))], desk.now).has_new_work
    assert desk.write(desk.redirect(pair, "/", f"{B}/", seed=True)).has_new_work
    assert desk.write(SiteRecord(pair.visit, pair.site, robots_redirect="http://robots.example/robots.txt")).has_new_work


def test_late_links_change_nothing(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.over(pair)
    before = desk.everything()
    assert desk.store.store_extern([ExternRecord(pair.visit, 1, (f"{B}/",))], desk.now).late == 1
    assert desk.everything() == before


def _documents(desk: Desk, pair: SiteLease) -> None:
    robots = RobotsFact(RobotsStatus.FOUND, b"Disallow: /no", desk.now, desk.now + 9)
    links = {"internal": ("/new",), "external": (f"{B}/new", "http://new.example/"), "links": b"a\t/new\n"}
    desk.write(
        desk.page(pair, "/", b"changed", **links),
        desk.redirect(pair, "/seed", "http://elsewhere.example/"),
        desk.unchanged(pair, "/same"),
        SiteRecord(pair.visit, pair.site, robots, augmentation=b"offers"),
        SiteRecord(pair.visit, pair.site, robots_redirect="http://robots.example/robots.txt"),
    )


def _extern(desk: Desk, pair: SiteLease) -> None:
    desk.store.store_extern([ExternRecord(pair.visit, 1, (f"{B}/x", "http://d.example/"))], desk.now)


def _bad(desk: Desk, pair: SiteLease) -> None:
    records = [desk.bad(pair, "/", blank_address=True), desk.bad(pair, "/bad", State.GONE, Reason.MISSING)]
    desk.store.store_bad(records, desk.now)


def _seeds(desk: Desk, pair: SiteLease) -> None:
    desk.seed(f"{B}/", "http://seed.example/")


def _release(desk: Desk, pair: SiteLease) -> None:
    desk.over(pair, addresses=("192.0.2.3",), requests=3)


def _abandon(desk: Desk, pair: SiteLease) -> None:
    desk.store.abandon([pair.visit], desk.now)


def _addresses(desk: Desk, pair: SiteLease) -> None:
    desk.store.note_addresses([SiteAddresses(pair.visit, ("192.0.2.9",), desk.now + 60)])


def _each_statement_fails_once(desk: Desk, write: Callable[[], object]) -> int:
    """Tries again and again, one statement further each time, until nothing fails any more; gives the number of failures."""
    before = desk.everything()
    for statement in count(1):
        heal = desk.fail_at(statement)
        try:
            write()
        except (StoreFailure, DatabaseUnusable):
            assert desk.everything() == before
        else:
            return statement - 1
        finally:
            heal()
    raise AssertionError("unreachable")


@pytest.mark.parametrize("write", [_documents, _extern, _bad, _seeds, _release, _abandon])
def test_a_failing_statement_leaves_everything_as_before_and_the_next_try_succeeds(
    desk: Desk, write: Callable[[Desk, SiteLease], None]
) -> None:
    desk.begin(KeepVersions=1)
    desk.seed(f"{A}/", f"{A}/seed", f"{A}/same")
    pair = desk.visit()
    desk.write(desk.page(pair, "/"), desk.page(pair, "/same", b"same"))
    desk.over(pair)
    desk.now += 2 * REVISIT
    desk.begin(KeepVersions=1)
    pair = desk.visit()
    before = desk.everything()
    assert _each_statement_fails_once(desk, lambda: write(desk, pair)) > 2
    assert desk.everything() != before
    numbers = [row["id"] for row in desk.rows(sites)]
    assert numbers == list(range(1, len(numbers) + 1)), "ids were given out in vain"


def test_addresses_that_could_not_be_written_are_written_at_the_next_try(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    assert _each_statement_fails_once(desk, lambda: _addresses(desk, pair)) > 0
    assert [row["addresses"] for row in desk.rows(sites)] == ["192.0.2.9"]


def test_a_failing_lease_leaves_everything_as_before(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    pairs: list[SiteLease] = []
    assert _each_statement_fails_once(desk, lambda: pairs.extend(desk.lease())) > 2
    assert {pair.origin for pair in pairs} == {A, B}
    assert desk.lease() == []


def test_a_failing_start_leaves_everything_as_before(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    desk.lease()
    desk.killed()
    desk.now += 100
    assert _each_statement_fails_once(desk, lambda: desk.begin(MaxDepth=3, Scope="any", RevisitAfter=5.0)) > 5
    assert len(desk.rows(runs)) == 2
    desk.now += 1
    assert len(desk.lease()) == 2


def test_a_value_that_no_column_holds_fails_its_batch_only(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    before = desk.everything()
    for poison in ({"status": 2**70}, {"address": "\ud800"}):
        with pytest.raises(StoreFailure):
            desk.write(desk.page(pair, "/x"), desk.page(pair, **poison))
        assert desk.everything() == before
    desk.write(desk.page(pair))
    assert desk.states() == {f"{A}/": "stored"}


@pytest.mark.parametrize("empty_database", ["postgres"], indirect=True)
def test_a_server_that_drops_the_connection_fails_one_transaction(doomed_desk: Desk) -> None:
    desk = doomed_desk
    desk.begin()
    desk.seed(f"{A}/")
    with desk.look.connect() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    with pytest.raises(StoreFailure):
        desk.lease()
    assert desk.visit().origin == A


def test_two_stores_on_sqlite_wait_for_each_other(tmp_path: Path) -> None:
    """Another writer, such as a command that is not allowed to be there, makes a transaction wait and not fail half-way."""
    first, second = Desk(f"sqlite:///{tmp_path / 'crawl.db'}"), Desk(f"sqlite:///{tmp_path / 'crawl.db'}")
    first.begin()
    second.begin()
    first.seed(f"{A}/")
    second.seed(f"{B}/")
    assert set(first.states()) == {f"{A}/", f"{B}/"}
    first.close()
    second.close()


def test_end_of_a_run(desk: Desk) -> None:
    desk.begin()
    desk.now += 5
    desk.store.end_run("done", {"stored": 7}, desk.now)
    (run,) = desk.rows(runs)
    assert (run["ended_at"], run["outcome"], run["counts"]) == (desk.now, "done", '{"stored":7}')


def test_an_unknown_database(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable):
        Store.open(f"sqlite:///{tmp_path / 'crawl.db'}", create=False)
