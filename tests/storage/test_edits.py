"""What a user changes in a crawl: URLs are asked for again, or forgotten. `verify` finds nothing afterwards (see conftest)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import CrawlBusy, DatabaseUnusable, UserError
from parcahyd.core.states import Reason, State
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.rules.urls.parameters import Canon
from parcahyd.storage import edits as module
from parcahyd.storage.connection import open_database
from parcahyd.storage.edits import Edits
from parcahyd.storage.schema import documents, fetches, links, pauses, seeds, sites, urls
from tests.storage.desk import REVISIT, Desk

A, B = "http://a.example", "http://b.example"


@contextmanager
def _edits(desk: Desk) -> Iterator[Edits]:
    edits = Edits(open_database(desk.url, create=False), desk.key_of)
    try:
        yield edits
    finally:
        edits.close()


@pytest.fixture
def crawled(desk: Desk) -> Desk:
    """Two sites: /same is on both with the same bytes, /own on the first alone, /gone and /failed without a document."""
    desk.begin()
    desk.seed(f"{A}/", f"{B}/")
    pairs = {pair.origin: pair for pair in desk.lease()}
    first, second = pairs[A], pairs[B]
    internal = ("/same", "/own", "/failed", "/gone", "/waiting")
    desk.write(
        desk.page(first, "/", b"<p>one</p>", internal=internal),
        desk.page(first, "/same", b"<p>same</p>"),
        desk.page(first, "/own", b"<p>own</p>"),
        desk.page(second, "/", b"<p>two</p>"),
        desk.page(second, "/same", b"<p>same</p>"),
    )
    desk.store.store_bad(
        [
            desk.bad(first, "/failed"),
            desk.bad(first, "/gone", State.GONE, Reason.MISSING, due_at=desk.now + 5000),
        ],
        desk.now,
    )
    desk.over(first)
    desk.over(second)
    return desk


def _due_in_a_new_run(desk: Desk) -> list[str]:
    desk.killed()
    desk.begin()
    pairs = desk.lease()
    for pair in pairs:
        desk.over(pair)
    return sorted(f"{pair.origin}{due.path}" for pair in pairs for due in pair.urls)


def test_everything_stored_is_asked_for_again(crawled: Desk) -> None:
    crawled.now += 1
    assert _due_in_a_new_run(crawled) == [f"{A}/waiting"]
    crawled.now += 1
    with _edits(crawled) as edits:
        assert edits.refresh(crawled.now) == 7
    crawled.now += 1
    every = [f"{A}/", f"{A}/failed", f"{A}/gone", f"{A}/own", f"{A}/same", f"{A}/waiting", f"{B}/", f"{B}/same"]
    assert _due_in_a_new_run(crawled) == every


def test_only_the_urls_that_are_named(crawled: Desk) -> None:
    crawled.now += 1
    with _edits(crawled) as edits:
        assert edits.refresh(crawled.now, [f"{A}/own", "HTTP://B.example:80/same"]) == 2
    crawled.now += 1
    assert _due_in_a_new_run(crawled) == [f"{A}/own", f"{A}/waiting", f"{B}/same"]


@pytest.mark.parametrize("name", ["b.example", "b.example:80", B])
def test_only_those_of_a_site(crawled: Desk, name: str) -> None:
    crawled.now += 1
    with _edits(crawled) as edits:
        assert edits.refresh(crawled.now, site=name) == 2
    crawled.now += 1
    assert _due_in_a_new_run(crawled) == [f"{A}/waiting", f"{B}/", f"{B}/same"]


def test_what_is_not_in_the_crawl_changes_nothing(crawled: Desk) -> None:
    before = crawled.everything()
    with _edits(crawled) as edits:
        with pytest.raises(UserError, match=r"http://a\.example/nowhere is not in this crawl"):
            edits.refresh(crawled.now, [f"{A}/own", f"{A}/nowhere"])
        with pytest.raises(UserError, match=r"the site c\.example is not in this crawl"):
            edits.refresh(crawled.now, site="c.example")
        with pytest.raises(UserError, match=r"http://a\.example/nowhere is not in this crawl"):
            edits.forget([f"{A}/own", f"{A}/nowhere"])
        with pytest.raises(UserError, match='"no url" is not a URL'):
            edits.forget(["no url"])
        with pytest.raises(UserError, match=r"the site c\.example is not in this crawl"):
            edits.forget_site("c.example", crawled.now)
    assert crawled.everything() == before


def test_a_url_is_found_by_the_spelling_that_the_settings_make(desk: Desk) -> None:
    desk.begin(StripParameters=("sid",))
    desk.seed(f"{A}/page?sid=1")
    canon = Canon.of(WorkConf(StripParameters=("sid",)))
    with _edits(desk) as edits:
        assert edits.forget([f"{A}/page?sid=2"], canon) == 1
    assert desk.rows(urls) == []


def test_a_forgotten_url_takes_its_versions_and_its_own_document_along(crawled: Desk) -> None:
    crawled.now += REVISIT * 2
    crawled.killed()
    crawled.begin(KeepVersions=2)
    pairs = {pair.origin: pair for pair in crawled.lease()}
    crawled.write(crawled.page(pairs[A], "/own", b"<p>own, changed</p>", internal=("/same",)))
    for pair in pairs.values():
        crawled.over(pair)
    assert len(crawled.rows(fetches)) == 6
    with _edits(crawled) as edits:
        assert edits.forget([f"{A}/own", f"{A}/same", f"{A}/failed"]) == 3
    assert {row["path"] for row in crawled.rows(urls)} == {"/", "/gone", "/waiting", "/same"}
    assert len(crawled.rows(documents)) == 3, "the bytes of /same are on the other site as well"
    assert len(crawled.rows(fetches)) == 3
    assert {row["document_id"] for row in crawled.rows(links)} <= {row["id"] for row in crawled.rows(documents)}
    site = next(row for row in crawled.rows(sites) if row["host"] == "a.example")
    assert (site["urls"], site["pages"]) == (3, 1)


def test_a_forgotten_seed_takes_its_site_out_of_the_scope(crawled: Desk) -> None:
    with _edits(crawled) as edits:
        assert edits.forget([f"{A}/"]) == 1
    assert [row["url"] for row in crawled.rows(seeds)] == [f"{B}/"]
    assert {row["host"]: bool(row["in_scope"]) for row in crawled.rows(sites)} == {"a.example": False, "b.example": True}
    assert crawled.states()[f"{A}/waiting"] == "refused scope"
    assert crawled.states()[f"{A}/own"] == "stored"


def test_the_scope_is_that_of_the_last_run(desk: Desk) -> None:
    desk.begin(Scope="any")
    desk.seed(f"{A}/", f"{B}/")
    with _edits(desk) as edits:
        edits.forget([f"{A}/"])
    assert all(row["in_scope"] for row in desk.rows(sites))


@pytest.mark.parametrize("page", [1, 2, 500])
def test_a_forgotten_site_leaves_what_others_have(crawled: Desk, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(module, "_PAGE", page)
    with _edits(crawled) as edits:
        assert edits.forget_site("a.example", crawled.now) == 6
    assert [row["host"] for row in crawled.rows(sites)] == ["b.example"]
    assert [row["url"] for row in crawled.rows(seeds)] == [f"{B}/"]
    assert {row["path"] for row in crawled.rows(urls)} == {"/", "/same"}
    assert len(crawled.rows(documents)) == len(crawled.rows(fetches)) == 2


def test_a_server_that_is_to_be_left_alone_is_not_forgotten(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.over(pair, not_before=desk.now + 600, reason=Reason.ASKED_TO_WAIT.word, failures=2)
    with _edits(desk) as edits:
        assert edits.forget_site("a.example", desk.now) == 1
    (pause,) = desk.rows(pauses)
    assert (pause["subject"], pause["not_before"], pause["reason"]) == ("host a.example", desk.now + 600, "asked-to-wait")


def test_a_site_can_be_crawled_again_after_it_was_forgotten(crawled: Desk) -> None:
    with _edits(crawled) as edits:
        edits.forget_site(A, crawled.now)
    crawled.killed()
    crawled.now += 1
    crawled.begin()
    crawled.seed(f"{A}/")
    crawled.crawl(crawled.visit(A), "/", b"<p>again</p>")
    assert crawled.states()[f"{A}/"] == "stored"


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("forgotten", [["/a"], ["/b"], ["/a", "/b"], ["/a", "/c"], ["/a", "/b", "/c"], ["/c", "/other"]])
def test_urls_that_shared_a_key_are_found_after_one_is_forgotten(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, kind: str, forgotten: list[str]
) -> None:
    """/a, /b, /c and /d have one key, and take the places behind it; that of /other is the third of them."""

    def shared(path: str) -> int:
        return {"/other": 7}.get(path, 5) if path in ("/a", "/b", "/c", "/d", "/other") else key_of(path)

    url = f"sqlite:///{tmp_path_factory.mktemp('keys') / 'crawl.db'}"
    if kind == "postgres":
        url = request.getfixturevalue("postgres_desk").url
        request.getfixturevalue("postgres_desk").clear()
    desk = Desk(url, shared)
    try:
        desk.begin()
        paths = ["/other", "/a", "/b", "/c", "/d"]
        for path in paths:
            desk.seed(f"{A}{path}")
        desk.write(*(desk.page(pair, due.path, due.path.encode(), key=due.key) for pair in desk.lease() for due in pair.urls))
        desk.killed()
        rows = {row["path"]: row for row in desk.rows(urls)}
        with _edits(desk) as edits, edits._writer.transaction() as connection:
            chosen = [(row["site_id"], row["key"]) for path, row in rows.items() if path in forgotten]
            edits._remove(connection, list(connection.execute(module._rows_at(chosen))))
        left = {path for path in paths if path not in forgotten}
        assert {row["path"] for row in desk.rows(urls)} == left
        desk.now += 1
        desk.begin()
        for path in left:
            desk.seed(f"{A}{path}")  # Looks each up: one that is not found would be inserted a second time.
        assert sorted(row["path"] for row in desk.rows(urls)) == sorted(left)
        of_fetch = {(row["site_id"], row["key"]) for row in desk.rows(fetches)}
        assert of_fetch == {(row["site_id"], row["key"]) for row in desk.rows(urls)}
    finally:
        desk.close()


def test_no_crawl_and_no_file_are_an_error(empty_database: str) -> None:
    with pytest.raises(DatabaseUnusable):
        Edits.open(empty_database)


def test_a_run_that_has_the_database_is_not_disturbed(postgres_desk: Desk) -> None:
    postgres_desk.clear()
    postgres_desk.begin()
    postgres_desk.store.claim(0)
    try:
        with pytest.raises(CrawlBusy):
            Edits.open(postgres_desk.url)
    finally:
        postgres_desk.killed()
    Edits.open(postgres_desk.url).close()
