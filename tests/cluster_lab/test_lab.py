"""The lab itself: three crawlers that share nothing, a third of the hosts each, stand for the machines of a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.cluster_lab.lab import Lab, Place, Plan, open_lab
from tests.cluster_lab.namespaces import why_unavailable
from tests.cluster_lab.open_transactions import stop_in_transaction
from tests.cluster_lab.request_log import judge_log
from tests.cluster_lab.scenarios import pages_with_document
from tests.support.processes import TEST_TIMEOUT, wait_until

_SMALL = Plan(
    nodes=3, pages=90, hosts=6, addresses=6, latency=0.01, host_delay=0.05, address_delay=0.02, settings={"Work.Scope": "site"}
)


@pytest.fixture(params=["loopback", "namespaces"])
def place(request: pytest.FixtureRequest) -> Place:
    chosen: Place = request.param
    if chosen == "namespaces" and (reason := why_unavailable()):
        pytest.skip(reason)
    return chosen


def _plan(place: Place) -> Plan:
    return replace(_SMALL, place=place)


def _start_alone(lab: Lab) -> None:
    """Each node crawls its own hosts into a database of its own. A page links to others of its host, so that each finds all."""
    for node in lab.nodes:
        hosts = range(node.number - 1, lab.plan.hosts, lab.plan.nodes)
        node.command = ["run", *(word for host in hosts for word in ("--seed", lab.served.web.url(host, 0)))]
        node.start()


def test_the_log_tells_the_nodes_apart_and_shows_all_pages_and_delays(place: Place, tmp_path: Path) -> None:
    with open_lab(_plan(place), tmp_path) as lab:
        for node in lab.nodes:
            node.settle(f"sqlite:///{tmp_path / node.name}.db", **{"Work.Domains": []})
        _start_alone(lab)
        assert wait_until(lab.has_ended), lab.said()
        assert [node.agent.process.returncode for node in lab.nodes] == [0, 0, 0], lab.said()
    requests = lab.served.requests()
    found = judge_log(lab.served.web, requests, _SMALL.host_delay, _SMALL.address_delay)
    assert (found.asked, found.missing, found.again) == (90, (), 0)
    assert (str(found.hosts), str(found.addresses)) == ("0 / 0", "0 / 0")
    assert {request.asker for request in requests} == {1, 2, 3}
    assert all(request.asker == request.host % 3 + 1 for request in requests)
    sources = {(request.asker, request.source) for request in requests}
    assert len({source for _, source in sources}) == (3 if place == "namespaces" else 1)
    # Delays twice as long were not kept, so a log of a hasty crawl would be noticed.
    assert judge_log(lab.served.web, requests, 10.0, 10.0).hosts.within > 70


def test_a_writer_is_stopped_in_a_transaction(place: Place, tmp_path: Path) -> None:
    """While a crawl is slow enough to be watched."""
    with open_lab(replace(_SMALL, place=place, host_delay=0.5), tmp_path) as lab:
        node = lab.nodes[0]
        node.command = ["run", "--seed", lab.served.web.url(0, 0)]
        node.settle(lab.hub.own_url, **{"Work.Scope": "domain"})
        node.start()
        assert wait_until(lambda: lab.asked() > 10), node.said()
        process = stop_in_transaction(lab.hub, node, ["urls"])
        try:
            assert process.pid in [writer.pid for writer in node.of_role("writer")]
            stored = lab.hub.rows("SELECT count(*) FROM urls")
            assert not wait_until(lambda: lab.hub.rows("SELECT count(*) FROM urls") != stored, timeout=0.3)
        finally:
            process.resume()
        assert node.agent.wait(TEST_TIMEOUT) == 0, node.said()
        ((documents,),) = lab.hub.rows("SELECT count(*) FROM urls WHERE document_id IS NOT NULL")
        assert documents == pages_with_document(lab.served.web)


def test_the_processes_of_a_machine_end_with_it(tmp_path: Path) -> None:
    with open_lab(_plan("loopback"), tmp_path) as lab:
        node = lab.nodes[0]
        node.command = ["run", "--seed", lab.served.web.url(0, 0)]
        node.settle(f"sqlite:///{tmp_path / 'crawl.db'}")
        node.start()
        worker = node.one_of("worker")
        node.kill()
        assert wait_until(lambda: not node.processes())
        assert wait_until(lambda: not worker.is_running() or worker.status() == "zombie")


def test_a_backup_takes_the_place_of_what_was_stored_since(place: Place, tmp_path: Path) -> None:
    with open_lab(_plan(place), tmp_path) as lab:
        hub = lab.hub
        hub.execute("CREATE TABLE numbers (number integer)")
        hub.execute("INSERT INTO numbers VALUES (1)")
        hub.back_up(tmp_path / "backup")
        hub.execute("INSERT INTO numbers VALUES (2)")
        hub.restore(tmp_path / "backup")
        assert hub.rows("SELECT number FROM numbers ORDER BY 1") == [(1,), (2,)]
        hub.replace_by_restored()
        assert hub.rows("SELECT number FROM numbers ORDER BY 1") == [(1,)]
        hub.stop()
        hub.start_again()
        assert hub.rows("SELECT number FROM numbers ORDER BY 1") == [(1,)]


@pytest.mark.parametrize("kind", ["loopback", "namespaces"])
def test_a_node_reaches_the_hub_by_its_proxy(kind: Place, tmp_path: Path) -> None:
    if kind == "namespaces" and (reason := why_unavailable()):
        pytest.skip(reason)
    with open_lab(replace(_plan(kind), with_proxies=True), tmp_path) as lab:
        node = lab.nodes[0]
        assert node.proxy is not None
        node.command = ["run", "--seed", lab.served.web.url(0, 0)]
        node.settle("", **{"Work.Scope": "domain"})
        node.start()
        assert wait_until(lambda: lab.asked() > 10), node.said()
        node.proxy.lose_commits(2)
        assert node.agent.wait(TEST_TIMEOUT) == 0, node.said()
        assert node.proxy.lost_commits == 2
        ((documents,),) = lab.hub.rows("SELECT count(*) FROM urls WHERE document_id IS NOT NULL")
        assert documents == pages_with_document(lab.served.web)
