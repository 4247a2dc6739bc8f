"""Pages, their links and their redirects, in one transaction."""

from __future__ import annotations

import zlib

import pytest

from parcahyd.core.records import ExternRecord, LinksRecord
from parcahyd.core.states import Reason, State
from parcahyd.refresh.schedule import NEVER
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.schema import documents, fetches, links, seeds, sites, urls, volatile
from tests.storage.desk import REVISIT, Desk

_RATE = ("change_weight", "change_span", "change_restless")
A = "http://a.example"
B = "http://b.example"


def test_a_page_and_its_links_are_stored_together(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    body = b"<a href=/x>x</a>"
    page = desk.page(pair, "/", body, etag='"1"', modified="Mon", charset="utf-8", links=b"a\t/x\n", internal=("/x",))
    written = desk.write(page)
    assert (written.stored, written.unchanged, written.received, written.found) == (1, 0, len(body), 1)

    (document,) = desk.rows(documents)
    mark = fingerprint(body)
    assert (document["df"], document["sha256"], document["length"]) == (mark.df, mark.sha256, len(body))
    assert zlib.decompress(document["body"]) == body
    assert (document["media_type"], document["charset"]) == ("text/html", "utf-8")
    (fetch,) = desk.rows(fetches)
    assert (fetch["key"], fetch["status"], fetch["address"]) == (key_of("/"), 200, "192.0.2.1")
    assert (fetch["head"], fetch["head_base"]) == (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", None)
    assert (fetch["headers"], fetch["redirect"]) == (b"", None)
    assert (fetch["sha256"], fetch["length"], fetch["document_id"]) == (mark.sha256, len(body), document["id"])
    (table,) = desk.rows(links)
    assert zlib.decompress(table["content"]) == b"a\t/x\n"
    row = desk.row("/")
    assert (row["state"], row["reason"], row["status"]) == (State.STORED, None, 200)
    assert (row["etag"], row["modified"], row["due_at"]) == ('"1"', "Mon", desk.first_due())
    assert (row["document_id"], row["fetch_id"]) == (document["id"], fetch["id"])
    assert (row["checks"], row["changes"], row["changed_at"], row["confirmed_at"]) == (1, 0, desk.now, desk.now)
    assert (row["change_weight"], row["change_span"], row["change_restless"]) == (None, None, None)
    known = desk.row("/x")
    assert (known["state"], known["depth"], known["seed"], known["due_at"]) == (State.KNOWN, 1, False, desk.now)
    (site,) = desk.rows(sites)
    assert (site["urls"], site["pages"], site["bytes"]) == (2, 1, len(body))


def test_a_page_found_in_the_same_batch_is_stored_and_not_asked_for_again(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    written = desk.write(desk.page(pair, internal=("/x", "/y")), desk.page(pair, "/x", b"x", internal=("/", "/x", "/z")))
    assert written.found == 3
    desk.over(pair)
    assert desk.states() == {f"{A}/": "stored", f"{A}/x": "stored", f"{A}/y": "known", f"{A}/z": "known"}
    assert [due.path for due in desk.visit().urls] == ["/y", "/z"]


def test_external_links_wait_in_scope_and_are_refused_outside(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    pair = desk.visit(A)
    desk.write(desk.page(pair, external=(f"{B}/linked", "https://a.example/", "http://a.example:8080/", "ftp://c.example/f")))
    assert desk.states() == {
        f"{A}/": "stored",
        f"{B}/": "known",
        f"{B}/linked": "known",
        "https://a.example/": "refused scope",
        "http://a.example:8080/": "refused scope",
        "ftp://c.example/f": "refused scope",
    }
    assert desk.row("/f")["due_at"] is None
    desk.over(pair)
    assert [pair.origin for pair in desk.lease()] == [B]


def test_links_wake_a_site_that_is_not_being_visited(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    first, second = sorted(desk.lease(), key=lambda pair: pair.host)
    desk.crawl(second)
    desk.now += 1
    desk.write(desk.page(first, external=(f"{B}/new",)))
    pair = desk.visit()
    assert (pair.origin, [due.path for due in pair.urls]) == (B, ["/new"])
    desk.now += 1
    desk.write(desk.page(first, "/2", external=(f"{B}/newer",)))
    assert desk.lease() == []
    desk.write(desk.page(pair, "/new"))
    desk.over(pair, not_before=desk.now + 5)
    desk.write(desk.page(first, "/3", external=(f"{B}/newest",)))
    assert desk.lease_and_next() == ([], desk.now + 5)
    desk.now += 5
    assert {due.path for due in desk.visit().urls} == {"/newer", "/newest"}


def test_too_deep_is_refused(desk: Desk) -> None:
    desk.begin(MaxDepth=1, Scope="any")
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/1",), external=(f"{B}/1",)))
    desk.write(desk.page(pair, "/1", b"1", depth=1, internal=("/2",), external=(f"{B}/2",)))
    assert desk.states() == {
        f"{A}/": "stored",
        f"{A}/1": "stored",
        f"{A}/2": "refused depth",
        f"{B}/1": "known",
        f"{B}/2": "refused depth",
    }


def test_a_shorter_way_counts(desk: Desk) -> None:
    desk.begin(MaxDepth=2)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, "/far", b"1", depth=2, internal=("/refused", "/stays")))
    desk.write(desk.page(pair, "/near", b"2", depth=1, internal=("/refused", "/waits")))
    desk.write(desk.page(pair, "/", b"3", depth=0, internal=("/waits",)))
    assert desk.states()[f"{A}/refused"] == "known"
    assert desk.states()[f"{A}/stays"] == "refused depth"
    assert desk.row("/waits")["depth"] == desk.row("/waits")["priority"] == 1
    desk.over(pair)
    assert [due.path for due in desk.visit().urls] == ["/waits", "/refused"]


def test_equal_bytes_share_a_document(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    first, second = desk.lease()
    desk.write(desk.page(first, "/1", b"same"), desk.page(first, "/2", b"same"), desk.page(first, "/3", b"other"))
    desk.write(desk.page(second, "/4", b"same"))
    assert len(desk.rows(documents)) == 2
    assert len(desk.rows(fetches)) == 4
    assert len({desk.row(path)["document_id"] for path in ("/1", "/2", "/4")}) == 1


def test_an_empty_document_is_a_document(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), body=b"")
    (document,) = desk.rows(documents)
    assert document["length"] == 0
    assert desk.states() == {f"{A}/": "stored"}


def test_unchanged_bytes_add_nothing(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), etag='"1"')
    before = desk.rows(documents), desk.rows(fetches)
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    written = desk.write(desk.page(pair, etag='"2"'))
    assert (written.stored, written.unchanged) == (0, 1)
    assert (desk.rows(documents), desk.rows(fetches)) == before
    row = desk.row("/")
    assert (row["checks"], row["changes"], row["changed_at"], row["checked_at"]) == (2, 0, desk.now - 2 * REVISIT, desk.now)
    assert row["etag"] == '"2"'
    assert desk.now + 2 * REVISIT < row["due_at"] <= desk.now + 3 * REVISIT


def test_a_confirmation_changes_nothing_but_the_times(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), etag='"1"', modified="Mon")
    before = desk.row("/")
    documents_before = desk.rows(documents), desk.rows(fetches)
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    assert desk.write(desk.unchanged(pair)).unchanged == 1
    after = desk.row("/")
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"status", "checked_at", "confirmed_at", "due_at", "checks", "visited_in", *_RATE}
    assert (after["checks"], after["changes"], after["confirmed_at"]) == (2, 0, desk.now)
    assert (after["change_weight"], after["change_span"]) == (1, 3 * REVISIT)
    assert desk.now + 2 * REVISIT < after["due_at"] <= desk.now + 3 * REVISIT
    assert (desk.rows(documents), desk.rows(fetches)) == documents_before


def test_a_confirmation_brings_a_failed_url_back(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, due_at=desk.now, tries=3, detail="late")], desk.now)
    desk.over(pair)
    pair = desk.visit()
    desk.write(desk.unchanged(pair, etag='"new"'))
    row = desk.row("/")
    assert (row["state"], row["reason"], row["tries"], row["detail"]) == (State.STORED, None, 0, None)
    assert row["etag"] == '"new"'


def test_a_confirmation_of_what_was_never_stored_is_not_believed(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    before = desk.everything()
    assert desk.write(desk.unchanged(pair), desk.unchanged(pair, "/unseen")).unchanged == 0
    assert desk.everything() == before


def test_history_is_bounded_and_unused_documents_are_collected(desk: Desk) -> None:
    desk.begin(KeepVersions=2, LearnRegions=False)
    desk.seed(f"{A}/", f"{A}/twin")
    pair = desk.visit()
    desk.write(desk.page(pair, "/", b"version 0", links=b"a\t0\n"), desk.page(pair, "/twin", b"version 1", links=b"a\t1\n"))
    desk.over(pair)
    for number in range(1, 4):
        desk.now += 2 * REVISIT
        desk.begin(KeepVersions=2, LearnRegions=False)
        pair = desk.visit()
        assert desk.write(desk.page(pair, "/", b"version %d" % number, links=b"a\t%d\n" % number)).stored == 1
        desk.over(pair)
    row = desk.row("/")
    assert (row["checks"], row["changes"], row["changed_at"]) == (4, 3, desk.now)
    bodies = {zlib.decompress(document["body"]): document["id"] for document in desk.rows(documents)}
    assert set(bodies) == {b"version 1", b"version 2", b"version 3"}  # the first of them for the twin
    history = [fetch for fetch in desk.rows(fetches) if fetch["key"] == row["key"]]
    assert [fetch["document_id"] for fetch in history] == [bodies[b"version 2"], bodies[b"version 3"]]
    assert {table["document_id"] for table in desk.rows(links)} == set(bodies.values())


def test_volatile_regions_go_with_their_fetch(desk: Desk) -> None:
    desk.begin(KeepVersions=1)
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), body=b"skeleton")
    (fetch,) = desk.rows(fetches)
    whole = fingerprint(b"ske++leton")
    with desk.look.begin() as connection:
        content = zlib.compress(b"++")
        connection.execute(volatile.insert().values(fetch_id=fetch["id"], region=1, offset=3, content=content))
        connection.execute(fetches.update().values(sha256=whole.sha256, length=10))
    assert desk.findings() == []
    desk.now += 2 * REVISIT
    desk.begin(KeepVersions=1)
    desk.crawl(desk.visit(), body=b"another")
    assert desk.rows(volatile) == []


def test_a_redirect_is_stored_with_its_target(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/old",)))
    assert desk.write(desk.redirect(pair, "/old", f"{A}/new", depth=1)).stored == 1
    row = desk.row("/old")
    assert (row["state"], row["reason"], row["document_id"], row["status"]) == (State.STORED, "redirect", None, 301)
    assert [fetch["redirect"] for fetch in desk.rows(fetches) if fetch["id"] == row["fetch_id"]] == [f"{A}/new"]
    target = desk.row("/new")
    assert (target["state"], target["depth"], target["hops"], target["seed"]) == (State.KNOWN, 1, 1, False)


def test_a_redirect_out_of_scope_is_refused_there(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/old",)), desk.redirect(pair, "/old", f"{B}/new"))
    assert desk.states()[f"{B}/new"] == "refused scope"
    assert [row["url"] for row in desk.rows(seeds)] == [f"{A}/"]


def test_the_target_of_a_seeds_redirect_joins_the_scope(desk: Desk) -> None:
    desk.begin()
    desk.seed("http://example.com/", "http://other.example/")
    pair = desk.visit("http://other.example")
    desk.crawl(pair, external=("https://www.example.com/seen",))
    assert desk.states()["https://www.example.com/seen"] == "refused scope"
    pair = desk.visit("http://example.com")
    desk.write(desk.redirect(pair, "/", "https://www.example.com"))
    desk.over(pair)
    assert {row["url"]: row["via"] for row in desk.rows(seeds)} == {
        "http://example.com/": None,
        "http://other.example/": None,
        "https://www.example.com/": "http://example.com/",
    }
    pair = desk.visit("https://www.example.com")
    assert {(due.path, due.seed, due.hops) for due in pair.urls} == {("/", True, 1), ("/seen", False, 0)}
    desk.killed()
    desk.now += 10
    desk.begin()
    desk.now += 10
    assert desk.visit().origin == "https://www.example.com"


def test_a_known_url_becomes_a_seed_when_a_seed_redirects_to_it(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{A}/start")
    pair = desk.visit()
    desk.write(desk.page(pair, "/", internal=("/home",)))
    desk.write(desk.redirect(pair, "/start", f"{A}/home"))
    assert desk.row("/home")["seed"]


@pytest.mark.parametrize("kind", ["seed", "page"])
def test_chains_of_redirects_end(desk: Desk, kind: str) -> None:
    desk.begin(MaxRedirects=2)
    desk.seed(f"{A}/")
    pair = desk.visit()
    for number in range(3):
        desk.write(desk.redirect(pair, f"/{number}", f"{B}/{number + 1}", hops=number, seed=kind == "seed"))
    states = desk.states()
    if kind == "seed":
        assert [states[f"{B}/{number}"] for number in (1, 2, 3)] == ["known", "known", "refused redirects"]
    else:
        assert [states[f"{B}/{number}"] for number in (1, 2, 3)] == ["refused scope"] * 3


def test_a_redirect_that_stays_the_same_adds_nothing(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.redirect(pair, "/", f"{A}/x"), desk.page(pair, "/x", b"x"))
    desk.over(pair)
    for target, changes in ((f"{A}/x", 0), (f"{A}/y", 1)):
        desk.now += 2 * REVISIT
        desk.begin()
        pair = desk.visit()
        written = desk.write(desk.redirect(pair, "/", target))
        assert (written.stored, written.unchanged) == (changes, 1 - changes)
        desk.over(pair)
        assert desk.row("/")["changes"] == changes
    assert len(desk.rows(fetches)) == 3


def test_between_document_and_redirect(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    for turn in range(2):
        desk.now += 2 * REVISIT
        desk.begin()
        pair = desk.visit()
        desk.write(desk.page(pair) if turn else desk.redirect(pair, "/", f"{A}/x"))
        desk.over(pair)
        row = desk.row("/")
        assert (row["reason"], row["document_id"] is None) == ((None, False) if turn else ("redirect", True))
        (site,) = desk.rows(sites)
        assert site["pages"] == turn
    assert desk.row("/")["changes"] == 2
    assert len(desk.rows(documents)) == 1


@pytest.mark.parametrize("target", ["http://", "javascript:alert(1)", "http://b.example/" + "x" * 5000])
def test_a_redirect_to_nowhere_has_no_target(desk: Desk, target: str) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.write(desk.redirect(desk.visit(), "/", target))
    assert desk.states() == {f"{A}/": "stored redirect"}


def test_a_url_twice_in_one_batch(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    written = desk.write(desk.page(pair, "/x", b"1", internal=("/a",)), desk.page(pair, "/x", b"2", internal=("/b",)))
    assert (written.stored, written.found) == (2, 3)
    row = desk.row("/x")
    assert (row["checks"], row["changes"]) == (2, 1)
    assert len(desk.rows(fetches)) == 2


def test_a_page_keeps_the_shortest_way_and_the_mark_of_a_seed(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.write(desk.page(desk.visit(), depth=4, hops=2, seed=False))
    row = desk.row("/")
    assert (row["depth"], row["hops"], row["seed"]) == (0, 0, True)


def test_never_is_not_a_time(desk: Desk) -> None:
    desk.begin(RevisitAfter=float("inf"))
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    assert desk.row("/")["due_at"] is None
    assert desk.lease_and_next(again_before=NEVER) == ([], None)


def test_hostile_text_is_stored_or_left_out(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, etag='"\0"', modified="\ud800", media_type="text/\0html\udcff", charset="\u20ac"))
    row = desk.row("/")
    assert (row["etag"], row["modified"]) == ("", "")
    (document,) = desk.rows(documents)
    assert (document["media_type"], document["charset"]) == ("text/html?", "\u20ac")
    detail = "\0\udc80" + "x" * 10_000
    desk.store.store_bad([desk.bad(pair, "/x", detail=detail, reason=Reason.TLS)], desk.now)
    assert desk.row("/x")["detail"].startswith("?xxx")
    assert len(desk.row("/x")["detail"]) == 500


def test_every_url_counts_once(desk: Desk) -> None:
    desk.begin(Scope="any")
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/1", "/2", "/1"), external=(f"{B}/", f"{B}/", f"{A}/3")))
    desk.write(desk.page(pair, "/1", b"1", internal=("/2", "/3"), external=(f"{B}/",)))
    assert {row["host"]: row["urls"] for row in desk.rows(sites)} == {"a.example": 4, "b.example": 1}
    assert len(desk.rows(urls)) == 5


def test_links_that_came_ahead_of_their_page_stay_when_the_page_never_comes(desk: Desk) -> None:
    desk.begin(Scope="any")
    desk.seed(f"{A}/")
    pair = desk.visit()
    outside = (f"{B}/y",)
    desk.store.store_extern([ExternRecord(pair.visit, 1, outside)], desk.now)
    written = desk.write(LinksRecord(pair.visit, pair.site, 1, desk.now, ("/x", "/z"), outside, (("/x", 5.0),)))
    assert written.found == 2, "the link to another site is stored already"
    desk.killed()
    desk.begin(Scope="any")
    assert desk.states() == {f"{A}/": "known", f"{A}/x": "known", f"{A}/z": "known", f"{B}/y": "known"}
    assert [row["depth"] for row in desk.rows(urls) if row["path"] != "/"] == [1, 1, 1]


def test_links_of_a_visit_that_is_over_change_nothing(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.over(pair)
    assert desk.write(LinksRecord(pair.visit, pair.site, 1, desk.now, ("/x",))).late == 1
    assert desk.states() == {f"{A}/": "known"}
