"""SeedRows: seeds of the user, and the scope that they span."""

from __future__ import annotations

import pytest

from parcahyd.core.errors import UserError
from parcahyd.core.states import Reason, State
from parcahyd.storage.schema import seeds, urls
from tests.storage.desk import Desk

A = "http://a.example"


def test_a_seed_is_taken_in_its_canonical_form_once(desk: Desk) -> None:
    assert desk.begin().empty
    desk.seed("HTTP://A.example:80/x/../#top", f"{A}/")
    desk.seed(f"{A}")
    assert [(row["url"], row["via"], row["first_seen"]) for row in desk.rows(seeds)] == [(f"{A}/", None, desk.now)]
    assert desk.states() == {f"{A}/": "known"}
    desk.now += 1
    assert not desk.begin().empty


@pytest.mark.parametrize("address", ["nonsense", "http://", "mailto:a@b.example", ""])
def test_what_is_no_url_is_refused_and_nothing_is_taken(desk: Desk, address: str) -> None:
    desk.begin()
    with pytest.raises(UserError, match="not a URL") as mistake:
        desk.seed(f"{A}/", address)
    assert mistake.value.remedy
    assert desk.rows(urls) == []


@pytest.mark.parametrize(
    ("state", "reason", "after"),
    [
        (State.FAILED, Reason.TLS, "known"),
        (State.GONE, Reason.MISSING, "known"),
        (State.REFUSED, Reason.DEPTH, "known"),
        (State.REFUSED, Reason.ROBOTS, "refused robots"),
        (State.REFUSED, Reason.ADDRESS, "refused address"),
    ],
)
def test_asking_again(desk: Desk, state: State, reason: Reason, after: str) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, state=state, reason=reason, due_at=desk.now + 500, tries=4, depth=9)], desk.now)
    desk.over(pair)
    desk.now += 1
    desk.seed(f"{A}/")
    assert desk.states() == {f"{A}/": after}
    row = desk.row("/")
    assert (row["depth"], row["seed"]) == (0, True)
    if after == "known":
        assert row["tries"] == 0
        assert len(desk.visit().urls) == 1
    else:
        assert desk.lease() == []


def test_what_is_stored_stays_stored(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), internal=("/x",))
    desk.crawl(desk.visit(), "/x")
    desk.seed(f"{A}/", f"{A}/x")
    assert desk.states() == {f"{A}/": "stored", f"{A}/x": "stored"}
    assert (desk.row("/x")["seed"], desk.row("/x")["depth"]) == (True, 0)
    assert desk.lease() == []


def test_a_new_seed_brings_back_what_was_out_of_scope(desk: Desk) -> None:
    desk.begin(MaxDepth=1)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, external=("http://b.example/1", "http://c.example/")))
    desk.write(desk.page(pair, "/deep", b"1", depth=1, external=("http://b.example/2",)))
    desk.over(pair)
    assert desk.lease() == []
    desk.seed("http://b.example/")
    states = desk.states()
    assert states["http://b.example/1"] == states["http://b.example/"] == "known"
    assert states["http://b.example/2"] == "refused depth"
    assert states["http://c.example/"] == "refused scope"
    assert {due.path for due in desk.visit().urls} == {"/", "/1"}


def test_a_new_seed_brings_its_whole_domain(desk: Desk) -> None:
    desk.begin(Scope="domain")
    desk.seed("http://www.a.example/")
    links = ("https://news.b.co.uk/", "http://b.co.uk:81/", "http://c.co.uk/", "https://shop.a.example/")
    desk.crawl(desk.visit(), external=links)
    states = desk.states()
    assert [states[link] for link in links] == ["refused scope", "refused scope", "refused scope", "known"]
    desk.seed("http://www.b.co.uk/")
    states = desk.states()
    assert [states[link] for link in links] == ["known", "known", "refused scope", "known"]
    assert len(desk.lease()) == 4
