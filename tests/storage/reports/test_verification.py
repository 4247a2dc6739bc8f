"""`verify` reports every kind of damage, and nothing where there is none. So it does with what the Reader cannot read."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import Connection

from parcahyd.core.records import RobotsFact, RobotsStatus, SiteRecord
from parcahyd.core.states import Reason, State
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.reports import Reports, verification
from parcahyd.storage.schema import (
    documents,
    errands,
    fetches,
    learned,
    links,
    metadata,
    seeds,
    sites,
    summaries,
    tvis,
    urls,
    volatile,
)
from tests.storage.desk import REVISIT, Desk
from tests.support.postgres import fresh_database

A = "http://a.example"


def _crawl(desk: Desk) -> None:
    """One site of the crawl with URLs in every state, one that awaits a robots.txt of another, and volatile regions."""
    desk.begin()
    desk.seed(f"{A}/", "http://b.example/")
    first, second = sorted(desk.lease(), key=lambda pair: pair.host)
    desk.write(desk.page(first, internal=("/known",), external=("http://c.example/",), links=b"a\t/known\n", summary=b"s"))
    desk.write(desk.page(first, "/other", b"other"), desk.redirect(first, "/old", f"{A}/new"))
    desk.store.store_bad(
        [
            desk.bad(first, "/failed", due_at=desk.now + 50),
            desk.bad(first, "/gone", State.GONE, Reason.MISSING, due_at=desk.now + 70),
            desk.bad(first, "/refused", State.REFUSED, Reason.ROBOTS, due_at=desk.now + 60),
        ],
        desk.now,
    )
    desk.over(first)
    desk.write(
        SiteRecord(second.visit, second.site, RobotsFact(RobotsStatus.AWAITED), robots_redirect="http://d.example/robots.txt")
    )
    desk.over(second)
    whole = fingerprint(b"oth<>er")
    with desk.look.begin() as connection:
        fetch = desk.row("/other")["fetch_id"]
        content = zlib.compress(b"<>")
        connection.execute(volatile.insert().values(fetch_id=fetch, region=1, offset=3, content=content))
        connection.execute(fetches.update().where(fetches.c.id == fetch).values(sha256=whole.sha256, length=7))
        connection.execute(tvis.insert().values(fetch_id=fetch))
        connection.execute(learned.insert().values(fetch_id=fetch, skeleton_sha256=b"", content=b""))
    assert desk.findings(running=False) == []


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def pristine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A small crawl without a flaw, made once for each kind of database."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('pristine') / 'crawl.db'}"
        else:
            url = stack.enter_context(fresh_database(request.getfixturevalue("postgres")))
        desk = Desk(url)
        stack.callback(desk.close)
        _crawl(desk)
        yield desk


@pytest.fixture
def crawled(pristine: Desk) -> Iterator[Desk]:
    """The same, to be damaged in its rows: they are put right again afterwards."""
    rows = pristine.everything()
    yield pristine
    with pristine.look.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(table.delete())
            if rows[table.name]:
                connection.execute(table.insert(), rows[table.name])


@pytest.fixture
def doomed(doomed_desk: Desk) -> Desk:
    """The same, to be damaged in its tables."""
    _crawl(doomed_desk)
    return doomed_desk


def _set(table: Any, where: Any = None, **values: Any) -> Callable[[Connection], None]:
    def damage(connection: Connection) -> None:
        statement = table.update().values(values)
        done = connection.execute(statement if where is None else statement.where(where))
        assert done.rowcount > 0

    return damage


def _drop(table: Any, where: Any = None) -> Callable[[Connection], None]:
    def damage(connection: Connection) -> None:
        done = connection.execute(table.delete() if where is None else table.delete().where(where))
        assert done.rowcount > 0

    return damage


def _twice(connection: Connection) -> None:
    """The unique index was dropped and a document inserted again."""
    connection.exec_driver_sql("ALTER TABLE documents RENAME TO former")
    connection.exec_driver_sql("CREATE TABLE documents AS SELECT * FROM former")
    connection.exec_driver_sql(
        "INSERT INTO documents (id, df, sha256, length, media_type, charset, body)"
        " SELECT id + 100, df, sha256, length, media_type, charset, body FROM former"
    )


def _unused(connection: Connection) -> None:
    mark = fingerprint(b"x")
    row = {"id": 9, "df": mark.df, "sha256": mark.sha256, "length": 1, "body": zlib.compress(b"x")}
    connection.execute(documents.insert().values(row))


_at = urls.c.path
_hello = fingerprint(b"<p>hello</p>")

DAMAGES: dict[str, tuple[Callable[[Connection], None], str]] = {
    "bytes that are no zlib stream": (_set(documents, documents.c.id == 1, body=b"nonsense"), "document-damaged"),
    "other bytes": (_set(documents, documents.c.id == 1, body=zlib.compress(b"<p>hallo</p>")), "document-damaged"),
    "more bytes": (_set(documents, documents.c.id == 1, body=zlib.compress(b"<p>hello</p>!")), "document-damaged"),
    "a wrong length": (_set(documents, documents.c.id == 1, length=11), "document-damaged"),
    "a wrong DF": (_set(documents, documents.c.id == 1, df=_hello.df ^ 1), "document-damaged"),
    "a wrong SHA-256": (_set(documents, documents.c.id == 1, sha256=b"\0" * 32), "document-damaged"),
    "a document without a fetch": (
        _unused,
        "document-unused",
    ),
    "a lost document": (_drop(documents, documents.c.id == 1), "dangling"),
    "links that are no zlib stream": (_set(links, content=b"nonsense"), "links-damaged"),
    "links of no document": (_set(links, document_id=77), "dangling"),
    "a summary that is no zlib stream": (_set(summaries, content=b"nonsense"), "summary-damaged"),
    "a summary of no document": (_set(summaries, document_id=77), "dangling"),
    "a fetch of other bytes": (_set(fetches, fetches.c.id == 1, sha256=b"\0" * 32), "fetch-damaged"),
    "a fetch of another length": (_set(fetches, fetches.c.id == 1, length=5), "fetch-damaged"),
    "a fetch that brought nothing": (
        _set(fetches, fetches.c.redirect.is_not(None), redirect=None),
        "fetch-empty",
    ),
    "a fetch of no URL": (_set(fetches, fetches.c.id == 1, key=5), "dangling"),
    "a fetch of another document": (_set(fetches, fetches.c.id == 1, document_id=2), "dangling"),
    "a lost fetch": (_drop(fetches, fetches.c.id == 1), "dangling"),
    "a changed region": (_set(volatile, content=zlib.compress(b"!!")), "fetch-damaged"),
    "a damaged region": (_set(volatile, content=b"nonsense"), "fetch-damaged"),
    "a lost region": (_drop(volatile), "fetch-damaged"),
    "a region of no fetch": (_set(volatile, fetch_id=77), "dangling"),
    "a region at another place": (_set(volatile, offset=2), "fetch-damaged"),
    "a region beyond the end": (_set(volatile, offset=6), "fetch-damaged"),
    "a region of another length": (_set(volatile, length=3), "fetch-damaged"),
    "a region that the document should hold": (_set(volatile, content=b"", length=2), "fetch-damaged"),
    "a table of no fetch": (_set(tvis, fetch_id=77), "dangling"),
    "a learned row of no fetch": (_set(learned, fetch_id=77), "dangling"),
    "a state that there is not": (_set(urls, _at == "/known", state=9), "state"),
    "a reason that does not fit": (_set(urls, _at == "/known", reason="robots"), "state"),
    "a reason that there is not": (_set(urls, _at == "/failed", reason="bad-luck"), "state"),
    "a missing reason": (_set(urls, _at == "/gone", reason=None), "state"),
    "stored and nothing there": (_set(urls, _at == "/known", state=1), "state"),
    "a document of another URL": (_set(urls, (_at == "/") & (urls.c.site_id == 1), document_id=2), "dangling"),
    "a document from nowhere": (_set(urls, (_at == "/") & (urls.c.site_id == 1), fetch_id=None), "dangling"),
    "a key of another path": (_set(urls, _at == "/known", key=5), "key"),
    "another path": (_set(urls, _at == "/known", path="/unknown"), "key"),
    "a URL of no site": (_set(urls, _at == "/known", site_id=77), "dangling"),
    "a turn that never comes": (_set(urls, _at == "/failed", due_at=None), "due"),
    "waiting outside the scope": (_set(sites, sites.c.id == 1, in_scope=False), "scope"),
    "a site that is never visited": (_set(sites, sites.c.id == 1, due_at=None), "due"),
    "a site that is visited too late": (_set(sites, sites.c.id == 1, due_at=2e6), "due"),
    "a site that is visited too early": (_set(sites, sites.c.id == 2, due_at=5.0), "due"),
    "a site that is visited for nothing": (_set(sites, sites.c.host == "c.example", due_at=5.0), "due"),
    "a site that is never looked at again": (_set(sites, sites.c.id == 1, again_at=None), "due"),
    "a site that is looked at again too late": (_set(sites, sites.c.id == 1, again_at=2e6), "due"),
    "a wrong count of URLs": (_set(sites, sites.c.id == 1, urls=1), "count"),
    "a wrong count of pages": (_set(sites, sites.c.id == 1, pages=1), "count"),
    "a visit without a process": (_set(sites, sites.c.id == 1, visit=12), "visit"),
    "a seed of no site": (_set(seeds, seeds.c.url == f"{A}/", site_id=77), "dangling"),
    "an errand to no site": (_set(errands, site_id=77), "dangling"),
    "an errand for no site": (_set(errands, asker=77), "dangling"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found(crawled: Desk, damage: str) -> None:
    act, kind = DAMAGES[damage]
    with crawled.look.begin() as connection:
        act(connection)
    found = crawled.findings(running=False)
    assert kind in {finding.kind for finding in found}
    assert all(finding.subject and finding.sentence.endswith(".") for finding in found)


def test_a_document_twice_is_found(doomed: Desk) -> None:
    with doomed.look.begin() as connection:
        _twice(connection)
    assert "document-twice" in {finding.kind for finding in doomed.findings()}


def test_an_open_visit_is_no_finding_while_a_crawl_runs(doomed: Desk) -> None:
    assert doomed.lease()
    assert doomed.findings() == []
    assert {finding.kind for finding in doomed.findings(running=False)} == {"visit"}


def test_versions_that_are_dropped_meanwhile_are_no_finding(doomed_desk: Desk) -> None:
    """They leave the skeleton behind that they shared with later ones."""
    desk, same = doomed_desk, b"".join(b"<p>%d</p>" % number**5 for number in range(300))

    def bring(version: int, more: bytes = b"") -> None:
        desk.now += 40 * REVISIT
        desk.begin(KeepVersions=2)
        desk.crawl(desk.visit(), "/", b"<h1>Version %d of it</h1>" % version + same + more)

    desk.begin(KeepVersions=2)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, "/other", b"other"))
    desk.crawl(pair, "/", b"<h1>Version 1 of it</h1>" + same)
    bring(2)
    (_, first, second) = desk.rows(fetches)
    assert first["document_id"] == second["document_id"]
    with desk.look.begin() as connection:
        connection.execute(fetches.update().where(fetches.c.length == 5).values(length=6))
    found = desk.reports.verify()
    assert next(found).kind == "fetch-damaged"
    bring(3, b"<p>and more</p>")
    assert [row["id"] for row in desk.rows(fetches)] == [1, 3, 4]
    assert desk.rows(fetches)[2]["document_id"] == first["document_id"]
    assert list(found) == []


def test_a_finding_names_the_url(crawled: Desk) -> None:
    with crawled.look.begin() as connection:
        connection.execute(urls.update().where(_at == "/gone").values(reason=None))
    (finding,) = crawled.findings()
    assert finding.subject == f"{A}/gone"
    assert "gone" in finding.sentence


def test_a_table_that_cannot_be_read_is_a_finding(doomed: Desk) -> None:
    with doomed.look.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE volatile RENAME TO former")
    found = doomed.findings()
    assert "unreadable" in {finding.kind for finding in found}
    assert {finding.subject for finding in found} >= {"fetches", "volatile"}


@pytest.mark.parametrize("empty_database", ["sqlite"], indirect=True)
def test_a_broken_file_is_a_finding(doomed: Desk) -> None:
    """An index that does not say what its rows do."""
    with doomed.look.begin() as connection:
        connection.exec_driver_sql("PRAGMA writable_schema = ON")
        connection.exec_driver_sql(
            "UPDATE sqlite_master SET sql = 'CREATE INDEX urls_rest ON urls (site_id, state, depth)' WHERE name = 'urls_rest'"
        )
    with Reports.open(doomed.url) as reports:  # a new connection, which reads the schema again
        assert "file" in {finding.kind for finding in reports.verify(running=False)}


@pytest.mark.parametrize("page", [1, 2, 3])
def test_pages_leave_nothing_out(crawled: Desk, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    with crawled.look.begin() as connection:
        connection.execute(urls.update().values(reason="bad-luck"))
        connection.execute(sites.update().values(urls=99))
    everything = crawled.findings()
    monkeypatch.setattr(verification, "_PAGE", page)
    assert crawled.findings() == everything
    assert len(everything) > 12


def test_a_url_that_made_room_is_where_it_should_be(doomed_desk: Desk) -> None:
    """Its own place and the next one are taken, so it may be at the third."""
    doomed_desk.begin()
    doomed_desk.seed(f"{A}/")
    doomed_desk.crawl(doomed_desk.visit(), internal=("/a", "/b", "/c"))
    key = key_of("/c")
    with doomed_desk.look.begin() as connection:
        connection.execute(urls.update().where(_at == "/c").values(key=key + 2))
        connection.execute(urls.update().where(_at == "/a").values(key=key))
        connection.execute(urls.update().where(_at == "/b").values(key=key + 1))
    assert {finding.subject for finding in doomed_desk.findings()} == {f"{A}/a", f"{A}/b"}
    with doomed_desk.look.begin() as connection:
        connection.execute(urls.update().where(_at == "/b").values(key=key + 5))
    assert {finding.subject for finding in doomed_desk.findings()} == {f"{A}/a", f"{A}/b", f"{A}/c"}
