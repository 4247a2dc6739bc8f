"""A cluster as it is now, as one look and as two looks tell it."""

from __future__ import annotations

import msgspec

from parcahyd.cluster.overview import ClusterNow, Overview
from parcahyd.cluster.planning import drain, join, pin
from parcahyd.cluster.runs import Runs
from parcahyd.core.partitions import ClusterNode
from tests.cluster.hub_desk import HubDesk, want


def overview(desk: HubDesk) -> Overview:
    return Overview(desk.hub, desk.clock)


def test_a_new_cluster(desk: HubDesk) -> None:
    now = overview(desk).look()
    assert (now.id, now.lease, now.settled, now.run, now.nodes, now.planner) == (desk.facts.id, 20.0, True, None, (), None)
    assert [(one.id, one.node, one.pages, one.report) for one in now.partitions] == [(0, None, 0, {}), (1, None, 0, {})]


def test_machines_and_what_they_hold(desk: HubDesk) -> None:
    join(desk.hub, "n1", "192.0.2.1", msgspec.json.encode(ClusterNode("n1", cores=4.0, memory=5e9, load=0.5)).decode())
    join(desk.hub, "n2", "192.0.2.2", "{}")
    desk.take(1, "n1")
    desk.planner()
    drain(desk.hub, "n2", is_draining=True)
    pin(desk.hub, 0, "n1")
    now = overview(desk).look()
    assert now.planner == "n1"
    first, second = now.nodes
    assert (first.name, first.address, first.cores, first.memory, first.load) == ("n1", "192.0.2.1", 4.0, 5e9, 0.5)
    assert (first.partitions, first.draining, second.partitions, second.draining) == ((1,), False, (), True)
    assert [(one.node, one.wanted, one.pinned) for one in now.partitions] == [(None, "n1", True), ("n1", None, False)]


def test_the_run_and_its_pages(desk: HubDesk) -> None:
    runs = Runs(desk.hub)
    runs.begin("{}", {"MaxPages": 50})
    runs.change(block={"b.example", "a.example"})
    desk.change("UPDATE parcahyd_hub.states SET pages = 10 * (partition + 1)")
    looks = overview(desk)
    run = looks.look().run
    assert run is not None
    assert (run.wanted, run.version, run.outcome, run.blocked) == ("running", 1, None, ("a.example", "b.example"))
    assert (run.pages, run.max_pages, run.max_pages_left, run.pages_per_second) == (30, 50, 20, None)
    desk.change("UPDATE parcahyd_hub.states SET pages = pages + 4 WHERE partition = 1")
    desk.now += 2.0
    now = looks.look()
    assert now.run is not None
    assert now.run.pages_per_second == 2.0
    assert [one.pages_per_second for one in now.partitions] == [0.0, 2.0]
    desk.change("UPDATE parcahyd_hub.runs SET outcome = 'done'")
    runs.begin("{}", {})
    desk.now += 2.0
    now = looks.look()
    assert now.run is not None
    assert (now.run.id, now.run.pages_per_second, now.run.max_pages) == (2, None, None)


def test_how_long_nothing_was_heard(desk: HubDesk) -> None:
    tree = desk.take(0)
    looks = overview(desk)
    looks.look()
    desk.now += 3.0
    assert [one.silent for one in looks.look().partitions] == [3.0, 3.0]
    tree.renewer.renew()
    assert [one.silent for one in looks.look().partitions] == [0.0, 3.0]


def test_what_waits(desk: HubDesk) -> None:
    first, second = desk.take(0), desk.take(1)
    first.claims.claim([want("a.example")])
    second.claims.claim([want("a.example")])
    desk.change("INSERT INTO parcahyd_hub.homes (site, partition, moving) VALUES ('a.example', 1, NULL), ('b.example', 1, 0)")
    letter = "partition, kind, routing, body) VALUES (1, 'urls', 0, '')"
    desk.change(f"INSERT INTO parcahyd_hub.mail ({letter}")
    desk.change(f"INSERT INTO parcahyd_hub.outbox ({letter.replace('partition', 'sender, partition').replace('(1', '(0, 1')}")
    counts = [(one.subjects, one.claims_waiting, one.hosts, one.mail, one.outbox) for one in overview(desk).look().partitions]
    assert counts == [(2, 0, 0, 0, 1), (0, 1, 1, 1, 0)]


def report(desk: HubDesk, content: str) -> ClusterNow:
    desk.change("DELETE FROM parcahyd_hub.reports")
    desk.change(
        "INSERT INTO parcahyd_hub.reports (partition, content, written_at)"
        " VALUES (0, %s, extract(epoch FROM clock_timestamp()) - 5)",
        content,
    )
    return overview(desk).look()


def test_reports_are_shown_as_far_as_they_go(desk: HubDesk) -> None:
    one = report(desk, '{"phase": "crawling", "requests": 7, "posts": {"letters": 2}}').partitions[0]
    assert one.report == {"phase": "crawling", "requests": 7, "posts": {"letters": 2}}
    assert one.reported is not None
    assert one.reported >= 5.0
    for damaged in ("", "{", "[1]", "7"):
        assert report(desk, damaged).partitions[0].report == {}


def test_a_cluster_as_json(desk: HubDesk) -> None:
    found = msgspec.json.decode(msgspec.json.encode(overview(desk).look()))
    assert list(found) == ["id", "lease", "incarnation", "settled", "planner", "at", "run", "nodes", "partitions"]
