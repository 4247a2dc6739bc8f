"""A new run: settings that changed take effect, and nothing else does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parcahyd.config.schema import Configuration, HostRule, MapConf, WorkConf
from parcahyd.core.errors import DatabaseUnusable
from parcahyd.core.states import SETTINGS_OF, Reason, State
from parcahyd.storage.last_settings import last_settings
from parcahyd.storage.schema import runs, urls
from tests.storage.desk import REVISIT, START, Desk

A = "http://a.example"
CHANGES: dict[Reason, dict[str, Any]] = {
    Reason.ROBOTS: {"UserAgent": "another/1"},
    Reason.NOFOLLOW: {"Directives": ("noindex",)},
    Reason.TOPIC: {"OtherTopics": "never"},
    Reason.DEPTH: {"MaxDepth": 100},
    Reason.ADDRESS: {"allow_addresses": ("127.0.0.0/8",)},
    Reason.SCHEME: {"DownloaderClass": "another"},
    Reason.SIZE: {"MaxBytes": 99},
    Reason.REDIRECTS: {"MaxRedirects": 99},
    Reason.EXCLUDED: {"Exclude": ("*/private/*",)},
    Reason.SITE_PAGES: {"MaxPagesPerSite": 99},
    Reason.MEDIA_TYPE: {"MediaTypes": ("text/*",)},
    Reason.PATH_DEPTH: {"MaxPathSegments": 99},
    Reason.REPEATS: {"MaxRepeats": 99},
    Reason.PARAMETERS: {"MaxParameters": 99},
    Reason.QUERIES: {"MaxQueryShapes": 99},
    Reason.CALENDAR: {"MaxYearsAhead": 99},
    Reason.SESSION: {"OneSession": False},
}
BUDGETS = (Reason.DUPLICATES, Reason.SOFT_404)
"""Of one setting: both are looked at again when it differs."""


def test_every_reason_that_settings_decide_is_tried_here() -> None:
    assert {*CHANGES, *BUDGETS, Reason.SCOPE} == set(SETTINGS_OF)


def test_a_run_is_recorded_without_secrets(desk: Desk) -> None:
    rule = HostRule(Pattern="a.example", Credentials="me:secret", Headers={"X-Key": "secret"}, Proxy="http://me:secret@p:1")
    work = WorkConf(
        Seeds=(f"{A}/",), DbPassword="secret", DbUser="somebody", MaxDepth=7, Proxy="http://a:secret@p", Host=(rule,)
    )
    desk.store.begin_run(Configuration(MapConf(DbUrl="postgresql://u:secret@h/d"), work), desk.now)
    (run,) = desk.rows(runs)
    settings = json.loads(run["settings"])
    assert (settings["Work.MaxDepth"], settings["Work.Seeds"], settings["Map.ArgumentUrl"]) == (7, [f"{A}/"], 10)
    assert "secret" not in run["settings"]
    assert settings["Work.Host"][0]["Pattern"] == "a.example"
    assert not any(key.partition(".")[2].startswith("Db") for key in settings)
    assert (run["started_at"], run["ended_at"], run["outcome"]) == (desk.now, None, None)


def test_the_settings_of_the_last_run_are_read_with_what_was_given(desk: Desk) -> None:
    assert desk.store.last_settings() is None, "also before there are tables"
    desk.begin(MaxDepth=4)
    desk.begin(MaxDepth=5, Scope="any")
    with desk.look.begin() as connection:
        settings = last_settings(connection)
    assert settings is not None
    assert settings == desk.store.last_settings() == desk.reports.last_settings()
    assert (settings["Work.MaxDepth"], settings["Work.Scope"], settings["Work.MaxTries"]) == (5, "any", 5)
    assert settings["given"] == dict.fromkeys(("Work.RevisitAfter", "Work.MaxDepth", "Work.Scope"), "program")


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": NaN}', '{"Work.Host": [[1]]}', '{"a":' * 100_000])
def test_settings_that_are_damaged_are_a_line(desk: Desk, text: str) -> None:
    desk.begin()
    with desk.look.begin() as connection:
        connection.execute(runs.update().values(settings=text))
    with pytest.raises(DatabaseUnusable, match="settings of the last run are damaged"):
        desk.store.last_settings()


def test_the_same_settings_again_change_nothing(desk: Desk) -> None:
    desk.begin(allow_addresses=("10.0.0.0/8",), MaxDepth=4)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, state=State.REFUSED, reason=Reason.ROBOTS)], desk.now)
    desk.over(pair)
    before = desk.rows(urls)
    desk.now += 5
    desk.begin(allow_addresses=("10.0.0.0/8",), MaxDepth=4)
    assert desk.rows(urls) == before


@pytest.mark.parametrize("reason", CHANGES, ids=lambda reason: reason.word)
def test_refused_urls_are_looked_at_again_when_their_settings_differ(desk: Desk, reason: Reason) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    others = [other for other in CHANGES if other is not reason]
    desk.store.store_bad(
        [desk.bad(pair, f"/{other.word}", State.REFUSED, other) for other in (reason, *others)],
        desk.now,
    )
    desk.write(desk.page(pair))
    desk.over(pair)
    assert desk.lease() == []
    desk.now += 5
    desk.begin(**CHANGES[reason])
    states = desk.states()
    assert states.pop(f"{A}/{reason.word}") == "known"
    assert all(state != "known" for state in states.values())
    assert [due.path for due in desk.visit().urls] == [f"/{reason.word}"]


def test_a_name_with_a_forbidden_address_is_looked_at_again_when_the_address_is_allowed(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    failed = desk.bad(pair, "/", State.FAILED, Reason.ADDRESS, due_at=desk.now + 9000, tries=1)
    desk.store.store_bad([failed, desk.bad(pair, "/reset", State.FAILED, Reason.RESET, due_at=desk.now + 9000)], desk.now)
    desk.over(pair, not_before=desk.now + 9000, failures=1, reason=Reason.ADDRESS.word)
    desk.now += 5
    desk.begin()
    assert desk.lease() == []
    desk.begin(allow_addresses=("127.0.0.0/8",))
    assert desk.states() == {f"{A}/": "known", f"{A}/reset": "failed reset"}
    assert [due.path for due in desk.visit().urls] == ["/"]


def _visit_one_of_two(desk: Desk) -> None:
    """Two stored pages, and a second run that has visited the first of them again."""
    desk.begin()
    desk.seed(f"{A}/", f"{A}/b")
    pair = desk.visit()
    desk.write(desk.page(pair), desk.page(pair, "/b"))
    desk.over(pair)
    desk.now += 2 * REVISIT
    desk.begin()
    (pair,) = desk.lease(pages=1)
    desk.write(desk.page(pair, pair.urls[0].path, b"<p>new</p>"))
    desk.over(pair)


def _due(desk: Desk) -> list[str]:
    pairs = desk.lease()
    for pair in pairs:
        desk.over(pair)
    return sorted(due.path for pair in pairs for due in pair.urls)


@pytest.mark.parametrize("outcome", ["interrupted", None], ids=["interrupted", "killed"])
def test_a_run_that_did_not_come_to_its_end_goes_on_with_the_next_start(desk: Desk, outcome: str | None) -> None:
    """However late that is, and whatever the clock says: what the run has visited, it does not visit again."""
    _visit_one_of_two(desk)
    (left,) = [row["path"] for row in desk.rows(urls) if row["visited_in"] == 1]
    if outcome is not None:
        desk.end(outcome)
    desk.killed()
    desk.now += 100 * REVISIT
    start = desk.begin()
    assert start.run == 3
    assert [row["crawl_run"] for row in desk.rows(runs)] == [1, 2, 2]
    assert _due(desk) == [left]
    desk.now += 100 * REVISIT
    desk.begin()
    assert [row["crawl_run"] for row in desk.rows(runs)] == [1, 2, 2, 4]
    assert _due(desk) == ["/", "/b"]


def test_a_page_that_falls_due_before_a_later_start_of_its_run_is_visited(desk: Desk) -> None:
    """A start in between finds the site due, because of a page that the run has visited, and nothing to visit there."""
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/b",)), desk.page(pair, "/b", b"b"))
    desk.set_due("/", START + 10)
    desk.set_due("/b", START + 300)
    desk.over(pair)
    desk.now = START + 20
    desk.begin()
    pair = desk.visit()
    desk.write(desk.page(pair))
    desk.set_due("/", START + 100)
    desk.over(pair)
    due = []
    for later in (200, 400):
        desk.killed()
        desk.now = START + later
        desk.begin()
        due.append(_due(desk))
    assert due == [[], ["/b"]]


@pytest.mark.parametrize("outcome", ["done", "limit"])
def test_a_run_that_came_to_its_end_is_followed_by_another(desk: Desk, outcome: str) -> None:
    _visit_one_of_two(desk)
    desk.end(outcome)
    desk.now += 100 * REVISIT
    desk.begin()
    assert _due(desk) == ["/", "/b"]


def test_a_start_with_other_settings_for_revisits_is_another_run(desk: Desk) -> None:
    """`--set Work.RevisitAfter=0` asks for every stored page, also after a run that was interrupted."""
    _visit_one_of_two(desk)
    desk.end("interrupted")
    desk.now += 1
    desk.begin(RevisitAfter=0)
    assert _due(desk) == ["/", "/b"]


def test_no_run_goes_on_with_one_that_refreshes_for_ever(desk: Desk) -> None:
    desk.begin(forever=True)
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    desk.killed()
    desk.now += 2 * REVISIT
    desk.begin()
    assert [row["crawl_run"] for row in desk.rows(runs)] == [None, 2]
    assert _due(desk) == ["/"]


def test_budgets_are_looked_at_again_together(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, f"/{reason.word}", State.REFUSED, reason) for reason in BUDGETS], desk.now)
    desk.crawl(pair)
    assert desk.lease() == []
    desk.now += 5
    desk.begin(TemplateBudget=0)
    assert {due.path for due in desk.visit().urls} == {f"/{reason.word}" for reason in BUDGETS}


def test_distance_is_measured_again(desk: Desk) -> None:
    desk.begin(MaxDepth=2)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, internal=("/1",)))
    desk.write(desk.page(pair, "/stored", b"1", depth=2, internal=("/3",)))
    desk.write(desk.page(pair, "/x", b"2", depth=1, internal=("/2",)))
    desk.over(pair)

    def depths(limit: int | None) -> set[str]:
        desk.now += 1
        desk.begin(MaxDepth=limit)
        return {url.removeprefix(A) for url, state in desk.states().items() if state == "known"}

    assert depths(1) == {"/1"}
    assert desk.states()[f"{A}/stored"] == "stored"
    assert depths(3) == {"/1", "/2", "/3"}
    assert depths(2) == {"/1", "/2"}
    assert depths(None) == {"/1", "/2", "/3"}
    assert {due.path for due in desk.visit().urls} == {"/1", "/2", "/3"}


def test_the_time_of_the_next_visit_follows_revisit_after(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair))
    desk.store.store_bad([desk.bad(pair, "/gone", State.GONE, Reason.MISSING, due_at=desk.now + 5 * REVISIT)], desk.now)
    desk.over(pair)
    stored_at = desk.now
    desk.now += 10
    desk.begin()
    assert desk.lease() == []
    desk.begin(RevisitAfter=3.0)
    assert stored_at + 2.7 < desk.row("/")["due_at"] <= stored_at + 3
    assert desk.row("/gone")["due_at"] == stored_at + 5 * REVISIT
    assert [due.path for due in desk.visit().urls] == ["/"]
    desk.begin(RevisitAfter=float("inf"))
    assert desk.row("/")["due_at"] is None


@pytest.mark.parametrize(
    ("setting", "earliest", "latest"), [({"RevisitMin": 5 * REVISIT}, 4.99, 5), ({"RevisitMax": REVISIT / 2}, 0.45, 0.5)]
)
def test_pages_with_a_history_follow_the_limits(desk: Desk, setting: dict[str, Any], earliest: float, latest: float) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    desk.write(desk.unchanged(pair))
    desk.over(pair)
    due = desk.row("/")["due_at"]
    desk.begin(**setting)
    assert desk.now + earliest * REVISIT <= desk.row("/")["due_at"] <= desk.now + latest * REVISIT
    desk.begin()
    assert desk.row("/")["due_at"] == pytest.approx(due)


def test_the_scope_is_drawn_anew(desk: Desk) -> None:
    desk.begin(Scope="any")
    desk.seed("http://www.a.example/")
    desk.crawl(desk.visit(), external=("http://shop.a.example/", "http://b.example/", "http://c.example/"))
    first, *_ = (pair for pair in desk.lease() if pair.host == "c.example")
    desk.store.store_bad([desk.bad(first, due_at=desk.now + 99)], desk.now)
    desk.over(first)

    def begin(scope: str) -> dict[str, str]:
        desk.now += 20
        desk.begin(Scope=scope)
        desk.now += 5
        states = desk.states()
        assert {pair.origin for pair in desk.lease()} == {url[:-1] for url, state in states.items() if state == "known"}
        return {url.split("/")[2]: state for url, state in states.items()}

    everything = begin("domain")
    assert everything == {
        "www.a.example": "stored",
        "shop.a.example": "known",
        "b.example": "refused scope",
        "c.example": "refused scope",
    }
    assert begin("site")["shop.a.example"] == "refused scope"
    assert begin("any") == {"www.a.example": "stored", "shop.a.example": "known", "b.example": "known", "c.example": "known"}


def test_domains_belong_to_the_scope(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), external=("http://b.example/", "https://www.b.example/x", "http://c.example/"))
    desk.now += 5
    desk.begin(Domains=("b.example",))
    assert {pair.origin for pair in desk.lease()} == {"http://b.example", "https://www.b.example"}
    assert desk.states()["http://c.example/"] == "refused scope"
    desk.now += 5
    desk.begin()
    assert desk.lease() == []
    assert desk.states()["http://b.example/"] == "refused scope"


def test_what_is_stored_outside_the_scope_is_left_alone(desk: Desk) -> None:
    desk.begin(Scope="any")
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), external=("http://b.example/",))
    desk.crawl(desk.visit(), internal=("/deep",))
    desk.now += 2 * REVISIT
    desk.begin(Scope="site")
    assert [pair.host for pair in desk.lease()] == ["a.example"]
    assert desk.states()["http://b.example/"] == "stored"
    assert desk.states()["http://b.example/deep"] == "refused scope"


def test_settings_do_not_reach_outside_the_scope(desk: Desk) -> None:
    desk.begin(Scope="any")
    desk.seed("http://b.example/", f"{A}/")
    for pair in desk.lease():
        desk.store.store_bad([desk.bad(pair, state=State.REFUSED, reason=Reason.SIZE)], desk.now)
        desk.over(pair)
    with desk.look.begin() as connection:
        connection.exec_driver_sql("DELETE FROM seeds WHERE url = 'http://b.example/'")
    desk.begin(Scope="site", MaxBytes=5)
    assert desk.states() == {f"{A}/": "known", "http://b.example/": "refused size"}


def test_runs_are_numbered(desk: Desk) -> None:
    assert [desk.begin().run, desk.begin().run] == [1, 2]
    desk.killed()
    assert desk.begin().run == 3
