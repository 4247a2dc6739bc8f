"""Different URLs whose keys are equal never take each other's place."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import ExternRecord
from parcahyd.core.states import Reason, State
from parcahyd.rules.urls.orders import ByInLinks, ByPageRank
from parcahyd.storage.schema import sites, urls
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"
B = "http://b.example"
TOP = 2**63 - 1


def few_keys(path: str) -> int:
    """Keys of which many are equal, up to the very last one."""
    return TOP - len(path) % 2


@pytest.fixture
def crowded(empty_database: str) -> Iterator[Desk]:
    desk = Desk(empty_database, few_keys)
    yield desk
    assert [finding for finding in desk.findings() if finding.kind != "key"] == []
    desk.close()


def test_each_url_has_a_place_of_its_own(crowded: Desk) -> None:
    crowded.begin()
    crowded.seed(f"{A}/", f"{A}/seed")
    pair = crowded.visit()
    paths = tuple(f"/{number}" for number in range(10))
    crowded.write(crowded.page(pair, internal=paths))
    crowded.write(crowded.page(pair, "/seed", b"s", internal=(*paths, "/more")))
    crowded.store.store_extern([ExternRecord(pair.visit, 1, (f"{A}/9", f"{A}/new"))], crowded.now)
    crowded.over(pair)
    found = {row["path"]: row["key"] for row in crowded.rows(urls)}
    assert set(found) == {"/", "/seed", *paths, "/more", "/new"}
    assert len(set(found.values())) == len(found)
    assert min(found.values()) == -(2**63)  # after the highest key comes the lowest
    (site,) = crowded.rows(sites)
    assert site["urls"] == len(found)
    pair = crowded.visit()
    assert {(due.path, due.key) for due in pair.urls} == {(path, found[path]) for path in (*paths, "/more", "/new")}
    assert array("q", pair.known).tolist() == sorted(found.values())


def test_outcomes_go_to_the_right_url(crowded: Desk) -> None:
    crowded.begin()
    crowded.seed(f"{A}/")
    pair = crowded.visit()
    crowded.write(crowded.page(pair, internal=("/a", "/b", "/c", "/d")))
    # As a worker sends them that found the links itself: with the key that the path should have.
    crowded.write(crowded.page(pair, "/b", b"b", etag='"b"'), crowded.page(pair, "/d", b"d"), crowded.page(pair, "/e", b"e"))
    crowded.store.store_bad(
        [crowded.bad(pair, "/c", State.GONE, Reason.MISSING), crowded.bad(pair, "/f", reason=Reason.TLS)], crowded.now
    )
    crowded.over(pair)
    expected = {"": "stored", "a": "known", "b": "stored", "c": "gone missing", "d": "stored", "e": "stored", "f": "failed tls"}
    assert crowded.states() == {f"{A}/{path}": state for path, state in expected.items()}

    crowded.now += 2 * REVISIT
    crowded.begin()
    pair = crowded.visit()
    assert {due.path: due.etag for due in pair.urls}["/b"] == '"b"'
    crowded.write(crowded.unchanged(pair, "/b"), crowded.page(pair, "/d", b"changed"), crowded.redirect(pair, "/a", f"{A}/g"))
    rows = {row["path"]: row for row in crowded.rows(urls)}
    assert {path: (row["checks"], row["changes"]) for path, row in rows.items() if row["checks"] > 1} == {
        "/b": (2, 0),
        "/d": (2, 1),
    }
    assert rows["/g"]["state"] == State.KNOWN


def test_new_urls_of_one_batch_make_room_for_each_other(crowded: Desk) -> None:
    crowded.begin()
    crowded.seed(f"{A}/")
    pair = crowded.visit()
    crowded.write(*(crowded.page(pair, f"/{letter}", letter.encode(), internal=(f"/{letter}{letter}",)) for letter in "abcdef"))
    assert len({row["key"] for row in crowded.rows(urls)}) == 13
    crowded.seed(f"{A}/aa", f"{A}/zz")
    assert len(crowded.rows(urls)) == 14
    assert crowded.row("/aa")["seed"]


def test_refused_links_are_stored_with_their_reason(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    far = "http://b.example/long#5000-characters-0123456789abcdef"
    refused = (("repeats", "/a/a/a"), ("session", "/s;jsessionid=1"), ("length", far), ("repeats", "/"))
    found = desk.write(desk.page(pair, internal=("/ok",), refused=refused)).found
    desk.over(pair)
    assert desk.states() == {
        f"{A}/": "stored",
        f"{A}/ok": "known",
        f"{A}/a/a/a": "refused repeats",
        f"{A}/s;jsessionid=1": "refused session",
        far: "refused length",
    }
    assert found == 4
    assert (desk.row("/a/a/a")["depth"], desk.row("/a/a/a")["due_at"]) == (1, None)
    assert {found.url for found in desk.reports.urls(state="refused")} == {f"{A}/a/a/a", f"{A}/s;jsessionid=1", far}
    assert [due.path for due in desk.visit().urls] == ["/ok"]


def test_a_redirect_that_was_refused_is_stored_once(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/r",)))
    desk.write(desk.redirect(pair, "/r", f"{A}/r;jsessionid=2", refused=(("session", "/r;jsessionid=2"),)))
    desk.over(pair)
    assert desk.states()[f"{A}/r;jsessionid=2"] == "refused session"


def test_patterns_hold_for_links_to_other_sites_but_not_for_seeds(desk: Desk) -> None:
    desk.begin(Scope="any", Exclude=("*.zip", f"{A}/"))
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_extern([ExternRecord(pair.visit, 1, ("http://b.example/1.zip", "http://b.example/1"))], desk.now)
    desk.write(desk.redirect(pair, "/", "http://c.example/start.zip"))
    desk.write(desk.page(pair, "/x", external=("http://d.example/2.zip", "http://d.example/2")))
    assert desk.states() == {
        f"{A}/": "stored redirect",
        f"{A}/x": "stored",
        "http://b.example/1.zip": "refused excluded",
        "http://b.example/1": "known",
        "http://c.example/start.zip": "known",
        "http://d.example/2.zip": "refused excluded",
        "http://d.example/2": "known",
    }
    desk.seed("http://b.example/1.zip")
    assert desk.states()["http://b.example/1.zip"] == "known"


def test_a_lease_has_the_number_of_pages_of_its_site(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    assert pair.site_pages == 0
    desk.write(desk.page(pair, internal=("/1", "/2")), desk.page(pair, "/1", b"other"))
    desk.over(pair)
    assert desk.visit().site_pages == 2


def test_options_of_the_canonical_form_hold_for_seeds_and_redirects(desk: Desk) -> None:
    desk.begin(StripParameters=("utm_*",), SortParameters=True)
    desk.seed(f"{A}/?utm_source=x&b=1&a=2")
    pair = desk.visit()
    assert [due.path for due in pair.urls] == ["/?a=2&b=1"]
    desk.write(desk.redirect(pair, "/?a=2&b=1", f"{A}/next?utm_medium=y"))
    assert set(desk.states()) == {f"{A}/?a=2&b=1", f"{A}/next"}


def test_what_links_from_important_pages_lead_to_comes_first(desk: Desk) -> None:
    desk.begin()
    order = ByPageRank()
    desk.store.set_order(order)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(
        desk.page(pair, "/", internal=("/a", "/b", "/c"), links_found=3),
        desk.page(pair, "/x", b"x", internal=("/d",), linked=("/c", "/never-stored"), links_found=3),
    )
    desk.over(pair)
    part = order.part(0, 3)
    assert {path: desk.row(path)["priority"] for path in ("/a", "/c", "/d")} == {"/a": part, "/c": 2 * part, "/d": part}
    assert f"{A}/never-stored" not in desk.states(), "what was only seen before is not known by that"
    pair = desk.visit()
    assert pair.urls[0].path == "/c"
    desk.write(desk.page(pair, "/c", b"c", internal=("/e",), linked=("/b",), links_found=2))
    assert desk.row("/e")["priority"] == order.part(2 * part, 2), "it gives what it had collected"
    assert desk.row("/b")["priority"] == part + order.part(2 * part, 2)


def test_links_of_other_topics_come_last_until_a_page_of_a_chosen_topic_has_them(desk: Desk) -> None:
    desk.begin(Topics="model", FollowTopics=("trains",))
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(
        desk.page(pair, "/", b"<p>bow", internal=("/late", "/both"), topic="violins", is_later=True),
        desk.page(pair, "/t", internal=("/soon",), topic="trains"),
    )
    desk.over(pair)
    pair = desk.visit()
    assert [(url.path, url.is_later) for url in pair.urls] == [("/soon", False), ("/both", True), ("/late", True)]
    assert len(pair.known) == 8 * 3, "what waits does not count as known to the visit"
    desk.write(desk.page(pair, "/soon", internal=("/both",), topic="trains"))
    desk.over(pair)
    assert [(url.path, url.is_later) for url in desk.visit().urls] == [("/both", False), ("/late", True)]
    assert desk.reports.status(desk.now).topics == {"trains": 1, "violins": 1}
    assert {url.url for url in desk.reports.urls(topic="trains")} == {f"{A}/t", f"{A}/soon"}


def test_a_link_that_was_refused_for_its_topic_is_followed_from_another_page(desk: Desk) -> None:
    desk.begin(Topics="model", FollowTopics=("trains",), OtherTopics="never")
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, "/", topic="violins", refused=(("topic", "/a"), ("topic", "/b"))))
    assert desk.states()[f"{A}/a"] == "refused topic"
    desk.write(desk.page(pair, "/t", internal=("/a",), topic="trains"))
    assert {desk.states()[f"{A}/{name}"] for name in "ab"} == {"known", "refused topic"}


def test_an_order_of_ones_own_decides_which_urls_come_first(desk: Desk) -> None:
    desk.begin()
    desk.store.set_order(ByInLinks(WorkConf()))
    desk.seed(f"{A}/", f"{B}/", "http://c.example/")
    desk.crawl(desk.visit(A), internal=("/1", "/2", "/3"))
    for origin, found in ((B, (f"{A}/2", f"{A}/3")), ("http://c.example", (f"{A}/3",))):
        desk.crawl(desk.visit(origin), external=found)
    assert [url.path for url in desk.visit(A).urls] == ["/3", "/2", "/1"]


def test_what_only_nofollow_leads_to_is_refused_until_another_link_leads_there(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    refused = tuple(("nofollow", path) for path in ("/a", "/b", "/c"))
    # In one batch, the link that may be followed counts, whichever page came first.
    desk.write(desk.page(pair, refused=refused), desk.page(pair, "/x", b"x", internal=("/b",)))
    desk.over(pair)
    rows = {row["path"]: row for row in desk.rows(urls)}
    assert {path: (row["state"], row["reason"]) for path, row in rows.items() if path in ("/a", "/b", "/c")} == {
        "/a": (State.REFUSED, "nofollow"),
        "/b": (State.KNOWN, None),
        "/c": (State.REFUSED, "nofollow"),
    }
    assert rows["/a"]["detail"] == "linked from /"
    # The next visit may find a link to it: its key is not among the known ones.
    pair = desk.visit()
    known = array("q", pair.known).tolist()
    assert (rows["/b"]["key"] in known, rows["/a"]["key"] in known) == (True, False)
    desk.write(desk.page(pair, "/b", b"b", internal=("/a",)))
    desk.over(pair)
    row = next(row for row in desk.rows(urls) if row["path"] == "/a")
    assert (row["state"], row["reason"], row["detail"]) == (State.KNOWN, None, None)


def test_links_with_nofollow_are_looked_at_again_only_where_that_is_no_longer_obeyed(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, refused=(("nofollow", "/a"),)))
    desk.over(pair)
    for directives, state in ((("nofollow",), State.REFUSED), (("noindex",), State.KNOWN)):
        desk.begin(Directives=directives)
        assert next(row["state"] for row in desk.rows(urls) if row["path"] == "/a") == state


def test_pages_that_ask_not_to_be_kept_are_not_counted_as_unchanged(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    written = desk.write(desk.page(pair, "/", b"", reason="noindex"), desk.page(pair, "/b", b"", reason="noarchive"))
    assert (written.stored, written.unchanged, written.not_kept) == (0, 0, {"noindex": 1, "noarchive": 1})
