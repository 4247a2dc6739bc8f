"""What became of seeds, through their redirects."""

from __future__ import annotations

from parcahyd.core.states import Reason, State
from parcahyd.storage.reports import Reports
from tests.storage.desk import Desk

A = "http://a.example"


def test_the_state_of_a_seed_is_that_of_the_url_it_leads_to(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", f"{A}/bad", f"{A}/circle", f"{A}/waiting")
    pair = desk.visit()
    desk.write(
        desk.redirect(pair, "/", f"{A}/target", seed=True),
        desk.redirect(pair, "/circle", f"{A}/circle", seed=True),
    )
    desk.store.store_bad(
        [
            desk.bad(pair, "/bad", reason=Reason.TIMEOUT, detail="30 s"),
            desk.bad(pair, "/target", State.GONE, Reason.MISSING, due_at=desk.now + 5000),
        ],
        desk.now,
    )
    desk.over(pair)
    with Reports.open(desk.url) as reports:
        found = {outcome.seed: outcome for outcome in reports.seed_outcomes()}
        some = list(reports.seed_outcomes([f"{A}/bad", "http://nowhere.example/"]))
        assert reports.next_due() == desk.now
    assert {seed: (outcome.url, outcome.state, outcome.reason) for seed, outcome in found.items()} == {
        f"{A}/": (f"{A}/target", "gone", "missing"),
        f"{A}/bad": (f"{A}/bad", "failed", "timeout"),
        f"{A}/circle": (f"{A}/circle", "stored", "redirect"),
        f"{A}/waiting": (f"{A}/waiting", "known", None),
    }
    assert [(outcome.url, outcome.sentence, outcome.detail) for outcome in some] == [
        (f"{A}/bad", Reason.TIMEOUT.sentence, "30 s")
    ]


def test_an_empty_crawl_has_nothing_due(desk: Desk) -> None:
    desk.begin()
    with Reports.open(desk.url) as reports:
        assert list(reports.seed_outcomes()) == []
        assert reports.next_due() is None
