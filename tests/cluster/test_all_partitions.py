"""The partitions are made and migrated together, and their views are one crawl that is read through the partitions' indexes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import closing, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, select
from sqlalchemy.engine import Engine

from parcahyd.cli import main
from parcahyd.cluster.all_partitions import migrate_partitions
from parcahyd.cluster.partition_store import PartitionStore
from parcahyd.cluster.records import HeldPartition
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import DatabaseUnusable, UserError
from parcahyd.partition.by_hash import ByHash
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.cluster_schemas import IDS_OF_A_PARTITION, WHOLE_CRAWL, partition_schema
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import metadata, schema_version, seeds
from parcahyd.storage.store import Store
from tests.cluster.hub_desk import LEASE, HubDesk

VIEWS = "SELECT viewname FROM pg_views WHERE schemaname = 'parcahyd_all'"
NEWEST = "SELECT version FROM parcahyd_p0.schema_version"
PAUSE = "INSERT INTO parcahyd_p{p}.pauses (subject, not_before, reason) VALUES ('host a.example', {at}, 'timeout')"
URL_ROWS = """
    INSERT INTO parcahyd_p{p}.urls (site_id, key, path, state, depth, hops, priority, first_seen, checked_at, document_id)
    SELECT 1, number, '/' || number, {state}, 1, 0, 1, 0, {at}, {document} FROM generate_series({first}, {last}) number
"""
RUN_ROW = """
    INSERT INTO parcahyd_p{p}.runs (id, started_at, ended_at, settings, version, outcome, counts)
    VALUES ({id}, 5, 6, '{{}}', '{version}', 'done', {counts})
"""


# --- made and migrated ----------------------------------------------------------------------------------------------------


def test_every_table_has_a_view(desk: HubDesk) -> None:
    assert {name for (name,) in desk.rows(VIEWS)} == set(metadata.tables)


def test_the_partitions_have_the_tables_of_a_new_crawl(desk: HubDesk, hub_database: str) -> None:
    with closing(Store.open(hub_database)) as store:
        store.last_settings()
    columns = "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns"
    with psycopg.connect(hub_database) as connection:
        alone = connection.execute(f"{columns} WHERE table_schema = 'public' ORDER BY 1, 2".encode()).fetchall()
    assert len(alone) > 100
    for number in range(2):
        assert desk.rows(f"{columns} WHERE table_schema = '{partition_schema(number)}' ORDER BY 1, 2") == alone


def test_partitions_of_an_older_version_are_migrated_together(desk: HubDesk) -> None:
    ((newest,),) = desk.rows(NEWEST)
    # As version 4 had it, as far as the views go: a column of version 5 and a table of it are missing.
    desk.change(f"DROP SCHEMA {WHOLE_CRAWL} CASCADE")
    for number in range(2):
        schema = partition_schema(number)
        for table in ("exchanges", "own_bodies", "requests", "head_bases"):
            desk.change(f"DROP TABLE {schema}.{table}")
        for column in (
            "coding",
            "coded_sha256",
            "head",
            "head_base",
            "marks",
            "protocol",
            "started_at",
            "seconds",
            "request_id",
        ):
            desk.change(f"ALTER TABLE {schema}.fetches DROP COLUMN {column}")
        desk.change(f"ALTER TABLE {schema}.documents DROP COLUMN coding, DROP COLUMN coded_sha256, DROP COLUMN topic")
        desk.change(f"ALTER TABLE {schema}.urls DROP COLUMN via_site, DROP COLUMN via_key")
        desk.change(f"UPDATE {schema}.schema_version SET version = 4")  # noqa: S608 (a name of ours)
    with pytest.raises(DatabaseUnusable, match="cluster migrate"):
        Reader(desk.url)
    migrate_partitions(desk.hub)
    assert desk.rows("SELECT version FROM parcahyd_all.schema_version") == [(newest,)] * 2
    with closing(Reports.open(desk.url)) as reports:
        assert reports.status(1.0).documents == 0


def test_one_partition_of_an_older_version_is_told(desk: HubDesk) -> None:
    desk.change("UPDATE parcahyd_p1.schema_version SET version = 4")
    with pytest.raises(DatabaseUnusable, match=r"of an older version.*cluster migrate"):
        Reader(desk.url)
    desk.change("UPDATE parcahyd_p1.schema_version SET version = 99")
    with pytest.raises(DatabaseUnusable, match="use a newer parcahyd"):
        Reader(desk.url)


def test_a_step_that_fails_leaves_everything_as_it_was(desk: HubDesk) -> None:
    desk.change("UPDATE parcahyd_p1.schema_version SET version = 99")
    with pytest.raises(DatabaseUnusable):
        migrate_partitions(desk.hub)
    assert {name for (name,) in desk.rows(VIEWS)} == set(metadata.tables)


def test_nothing_is_migrated_while_a_partition_is_held(desk: HubDesk) -> None:
    desk.take(1, "n3")
    with pytest.raises(UserError, match=r"partition 1 is at work on n3 \(stop the cluster first"):
        migrate_partitions(desk.hub)
    desk.end(1)
    migrate_partitions(desk.hub)


def test_views_are_made_anew_without_a_migration(desk: HubDesk) -> None:
    desk.change(f"DROP SCHEMA {WHOLE_CRAWL} CASCADE")
    with pytest.raises(DatabaseUnusable, match="cluster migrate"):
        Reader(desk.url)
    migrate_partitions(desk.hub)
    with closing(Reader(desk.url)) as reader:
        assert reader.partitions == 2


# --- read as one ----------------------------------------------------------------------------------------------------------


def test_a_host_is_left_alone_as_long_as_any_partition_says(desk: HubDesk) -> None:
    desk.change(PAUSE.format(p=0, at=50))
    desk.change(PAUSE.format(p=1, at=70))
    with closing(Reports.open(desk.url)) as reports:
        assert [(spared.site, spared.until) for spared in reports.status(1.0).spared] == [("host a.example", 70.0)]


def test_how_far_the_crawl_has_come_is_read_from_all_partitions(desk: HubDesk) -> None:
    for p in (0, 1):
        desk.change(URL_ROWS.format(p=p, first=1, last=60, state=1, at="number", document="number"))
        desk.change(URL_ROWS.format(p=p, first=61, last=100, state=0, at="NULL", document="NULL"))
    with closing(Reports.open(desk.url)) as reports:
        end = reports.in_the_end()
    assert end is not None
    assert (end.pages, end.likely) == (120, 200), "no page brought anything lately"


def test_the_last_run_is_that_of_the_cluster(desk: HubDesk) -> None:
    with closing(Reports.open(desk.url)) as reports:
        assert reports.status(1.0).last_run is None
        assert reports.last_settings() is None
        run = "INSERT INTO parcahyd_hub.runs (id, wanted, settings, started_at) VALUES (%s, 'running', %s, %s)"
        desk.change(run, 1, '{"Work.MaxDepth": 3}', 5.0)
        status = reports.status(1.0).last_run
        assert status is not None
        assert (status.run, status.outcome, status.counts) == (1, None, {})
        desk.change("UPDATE parcahyd_hub.runs SET outcome = 'done', ended_at = 9")
        desk.change(run, 2, '{"Work.MaxDepth": 7}', 15.0)
        # Two trees worked for partition 0 in the second run, and one of them was killed.
        for partition, start, number, counts in (
            (0, 1, 1, """'{"stored": 100}'"""),
            (0, 2, 2, """'{"stored": 3, "received": 20}'"""),
            (0, 3, 2, "NULL"),
            (1, 2, 2, """'{"stored": 4, "gone": 1}'"""),
        ):
            desk.change(RUN_ROW.format(p=partition, id=start, version="0.2", counts=counts))
            desk.change("INSERT INTO parcahyd_hub.starts (partition, start, run) VALUES (%s, %s, %s)", partition, start, number)
        desk.change("UPDATE parcahyd_hub.runs SET outcome = 'max-pages', ended_at = 19 WHERE id = 2")
        last = reports.status(1.0).last_run
        assert last is not None
        assert (last.run, last.outcome, last.started_at, last.ended_at, last.version) == (2, "max-pages", 15.0, 19.0, "0.2")
        assert last.counts == {"stored": 7, "received": 20, "gone": 1}
        assert reports.last_settings() == {"Work.MaxDepth": 7}


def test_a_tree_that_begins_a_run_notes_its_start(desk: HubDesk) -> None:
    configuration = Configuration(MapConf(), WorkConf())
    desk.change("INSERT INTO parcahyd_hub.runs (id, wanted, settings, started_at) VALUES (4, 'running', '{}', 5)")
    holding = desk.take(1).holding
    held = HeldPartition(holding, "n1", LEASE, desk.now, desk.facts.secret, 2, run=4)
    store = PartitionStore(desk.url, held, configuration, partial(ByHash, configuration.work), bool, lambda: 7.0)
    with closing(store), closing(Reports.open(desk.url)) as reports:
        store.begin_run(configuration, 4, 7.0, forever=False)
        store.store.end_run("done", {"stored": 2}, 8.0)
        last = reports.status(1.0).last_run
    assert last is not None
    assert (last.run, last.counts) == (4, {"stored": 2})


def test_pages_go_through_all_partitions_in_their_order(desk: HubDesk) -> None:
    seed = "INSERT INTO parcahyd_p{p}.seeds (url, site_id, first_seen) VALUES ('http://{host}.example/', 1, 1)"
    for partition, hosts in ((0, "acf"), (1, "bde")):
        for host in hosts:
            desk.change(seed.format(p=partition, host=host))
    with closing(Reader(desk.url)) as reader:
        pages = [[url[7] for (url,) in page] for page in reader.pages(seeds, select(seeds.c.url), 2)]
        assert pages == [["a", "c"], ["f"], ["b", "d"], ["e"]]
        with closing(reader.partition(1)) as second:
            assert (second.partitions, len(second.rows(select(seeds)))) == (0, 3)
        assert len(reader.rows(select(seeds))) == 6, "what was read of one partition has an end"
        assert len(reader.rows(select(schema_version))) == 2


# --- plans ----------------------------------------------------------------------------------------------------------------

PARTITIONS, SITES, URLS = 3, 1500, 10
FILL = """
    SET search_path = {schema};
    INSERT INTO sites (id, scheme, host, port, in_scope, urls, pages)
      SELECT {first} + s, 'http', 'www' || s || '.p{p}.example', 80, true, {each}, {each} FROM generate_series(1, {sites}) s;
    INSERT INTO documents (id, df, sha256, length, media_type, body)
      SELECT {first} + n, n, int8send(n), 3, 'text/html', '\\x789c4b4c4a0600024d0127' FROM generate_series(1, {urls}) n;
    INSERT INTO fetches (id, site_id, key, at, status, address, headers, head, document_id, sha256, length)
      SELECT {first} + n, {first} + 1 + n % {sites}, n, n, 200, '192.0.2.1', '', '', {first} + n, sha256('abc'), 3
      FROM generate_series(1, {urls}) n;
    INSERT INTO exchanges (id, site_id, key, at, status, address, head, fetch_id)
      SELECT {first} + n, {first} + 1 + n % {sites}, n, n, 304, '192.0.2.1', '', {first} + n FROM generate_series(1, {urls}) n;
    INSERT INTO urls (site_id, key, path, state, depth, hops, priority, first_seen, due_at, document_id, fetch_id)
      SELECT {first} + 1 + n % {sites}, n, '/' || n, 1, 1, 0, 1, 1, 5, {first} + n, {first} + n
      FROM generate_series(1, {urls}) n;
    INSERT INTO volatile (fetch_id, region, "offset", content) SELECT {first} + n, 0, 1, '' FROM generate_series(1, {urls}) n;
"""
URL = f"http://www7.p1.example/{SITES + 6}"
_SCAN = re.compile(r"Seq Scan on (sites|urls|documents|fetches|exchanges|volatile)\b")
_SORT = re.compile(r"^\s*(?:->\s+)?(?:Incremental )?Sort\b", re.MULTILINE)
_MEANT = re.compile(r"SELECT count\(\*\) AS count_1\s+FROM (fetches|exchanges)\s*$")
"""An export counts once what it goes through."""


@pytest.fixture(scope="module")
def large(postgres: str) -> Iterator[str]:
    """A cluster with 45,000 URLs."""
    from tests.support.postgres import fresh_database

    with fresh_database(postgres) as url:
        HubDesk(url, PARTITIONS).close()
        with psycopg.connect(url, autocommit=True) as connection:
            for number in range(PARTITIONS):
                names: dict[str, Any] = {"p": number, "schema": partition_schema(number), "sites": SITES, "each": URLS}
                names |= {"first": number * IDS_OF_A_PARTITION, "urls": SITES * URLS}
                connection.execute(FILL.format(**names).encode())
            path = URL.rpartition("example")[2]
            for table in ("urls", "fetches", "exchanges"):
                moved = f"UPDATE parcahyd_p1.{table} SET key = %s WHERE site_id = %s AND key = %s"  # noqa: S608 (the same)
                connection.execute(moved.encode(), (key_of(path), IDS_OF_A_PARTITION + 7, int(path[1:])))
            connection.execute("ANALYZE")
        yield url


@pytest.mark.parametrize(
    "arguments",
    [
        ("urls", "--limit", "40000"),
        ("urls", "--site", "www3.p2.example"),
        ("show", URL),
        ("show", "--exchange", URL),
        ("history", URL),
        ("explain", URL),
        ("export", "warc", "OUT", "--site", "www3.p2.example"),
        ("export", "files", "OUT", "--site", "www3.p2.example"),
    ],
    ids=" ".join,
)
def test_no_statement_looks_at_all_rows_of_a_partition_for_one_url(
    large: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "WorkConf.toml").touch()
    plans: dict[str, str] = {}

    def explain(connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT") and statement not in plans and not _MEANT.match(statement):
            cursor = connection.connection.cursor()
            cursor.execute(f"EXPLAIN {statement}", parameters)
            plans[statement] = "\n".join(line for (line,) in cursor.fetchall())

    event.listen(Engine, "before_cursor_execute", explain)
    try:
        with redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            arguments = tuple(str(tmp_path / "out") if word == "OUT" else word for word in arguments)
            assert main([*arguments, "--conf", str(tmp_path), "--db", large]) == 0
    finally:
        event.remove(Engine, "before_cursor_execute", explain)
    crawl = {
        statement: plan for statement, plan in plans.items() if re.search(r"(Index|Seq|Bitmap \w+) .*on (urls|fetches)", plan)
    }
    assert crawl
    assert {statement: plan for statement, plan in plans.items() if _SCAN.search(plan)} == {}
    assert {statement: plan for statement, plan in crawl.items() if "LIMIT" in statement and _sorts_many(plan)} == {}


def _sorts_many(plan: str) -> bool:
    """Whether rows are sorted that no condition has chosen through an index."""
    return _SORT.search(plan) is not None and "Index Cond" not in plan
