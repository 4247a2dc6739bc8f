"""What `verify` finds in a hub and between partitions. Every check can fail, and none fails on a sound cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from parcahyd.cluster.verification import cluster_findings, finished_run
from parcahyd.storage.cluster_schemas import IDS_OF_A_PARTITION as IDS
from parcahyd.storage.reports.reader import Reader
from tests.cluster.hub_desk import HubDesk, want

SITE = "INSERT INTO parcahyd_p{p}.sites (id, scheme, host, port, in_scope) VALUES ({id}, 'http', 'a.example', 80, true)"
URL = """
    INSERT INTO parcahyd_p{p}.urls (site_id, key, path, state, depth, hops, priority, first_seen)
    VALUES ({id}, 5, '/page', {state}, 0, 0, 0, 0)
"""
RUN = (
    "INSERT INTO parcahyd_hub.runs (id, wanted, settings, started_at, ended_at, outcome) VALUES (1, 'running', '{}', 1, 2, %s)"
)
LETTER = "INSERT INTO parcahyd_hub.mail (partition, kind, routing, body) VALUES (1, 'urls', 0, '')"
KEPT = "INSERT INTO parcahyd_hub.outbox (sender, partition, kind, routing, body) VALUES (1, 0, 'urls', 0, '')"


@pytest.fixture
def reader(desk: HubDesk) -> Iterator[Reader]:
    with closing(Reader(desk.url)) as reader:
        yield reader


def kinds(reader: Reader, *, one_home: bool = True) -> list[tuple[str, str, int | None]]:
    findings = list(cluster_findings(reader, one_home=one_home))
    assert all(finding.sentence.endswith(".") and finding.sentence.count(". ") == 0 for finding in findings)
    return [(finding.kind, finding.subject, finding.partition) for finding in findings]


def test_a_new_cluster_is_sound(reader: Reader) -> None:
    assert kinds(reader) == []


def test_a_number_that_two_rows_have(desk: HubDesk, reader: Reader) -> None:
    desk.change(SITE.format(p=0, id=7))
    desk.change(SITE.format(p=1, id=IDS))
    assert kinds(reader) == []
    desk.change("UPDATE parcahyd_p1.sites SET id = 7")
    assert kinds(reader) == [("number", "sites", None)]


@pytest.mark.parametrize(("state", "found"), [(1, [("stored-twice", "http://a.example/page", None)]), (0, [])])
def test_a_url_that_two_partitions_store(desk: HubDesk, reader: Reader, state: int, found: list[object]) -> None:
    for partition, number in ((0, 1), (1, IDS + 1)):
        desk.change(SITE.format(p=partition, id=number))
        desk.change(URL.format(p=partition, id=number, state=state))
    assert kinds(reader) == found
    assert kinds(reader, one_home=False) == []
    desk.change("INSERT INTO parcahyd_hub.homes (site, partition, moving) VALUES ('a.example', 1, 0)")
    assert kinds(reader) == []


def test_an_owner_although_nobody_holds_the_partition(desk: HubDesk, reader: Reader) -> None:
    tree = desk.take(0)
    tree.claims.claim([want("a.example")])
    assert kinds(reader) == []
    desk.end(0)
    assert kinds(reader) == [], "what a tree had that is gone is free"
    desk.change("UPDATE parcahyd_hub.partitions SET epoch = epoch - 1 WHERE id = 0")
    assert kinds(reader) == [("subject", "address 192.0.2.1", None), ("subject", "host a.example", None)]


def test_a_chunk_although_nobody_holds_the_partition(desk: HubDesk, reader: Reader) -> None:
    chunk = "INSERT INTO parcahyd_hub.chunks (quota, partition, epoch, token, \"left\") VALUES ('MaxPages', 1, %s, 5, %s)"
    desk.take(1)
    desk.end(1)
    epoch = desk.rows("SELECT epoch FROM parcahyd_hub.partitions WHERE id = 1")[0][0]
    desk.change(chunk, epoch - 1, 4)
    assert kinds(reader) == [], "the next draw returns it"
    desk.change(chunk, epoch, 4)
    assert kinds(reader) == [("chunk", "MaxPages", 1)]
    desk.change('UPDATE parcahyd_hub.chunks SET "left" = 0')
    assert kinds(reader) == []


def test_letters_after_a_run_that_is_done(desk: HubDesk, reader: Reader) -> None:
    desk.change(LETTER)
    desk.change(KEPT)
    assert kinds(reader) == [], "no run is over"
    desk.change(RUN, "stopped")
    assert kinds(reader) == [], "the next run goes on with them"
    desk.change("UPDATE parcahyd_hub.runs SET outcome = 'done'")
    assert kinds(reader) == [("mail", "letters", 1), ("outbox", "letters", 1)]
    desk.take(0)
    assert kinds(reader) == [], "somebody works"


def test_a_run_is_finished_when_it_is_done_and_nobody_holds_a_partition(desk: HubDesk, reader: Reader) -> None:
    assert finished_run(reader) is None
    desk.change(RUN, None)
    assert finished_run(reader) is None
    desk.change("UPDATE parcahyd_hub.runs SET outcome = 'done'")
    assert finished_run(reader) == 1
    desk.take(0)
    assert finished_run(reader) is None
    desk.end(0)
    desk.planner()
    assert finished_run(reader) == 1, "who plans does not crawl"
