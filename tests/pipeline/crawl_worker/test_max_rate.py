"""MaxRate and MaxHostRate on a simulated clock and network."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import Assignment, DueUrl, PageRecord, SiteLease, VisitOver
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import Answer, World, page

_SIZE = 1000


def _large(*links: str, size: int = _SIZE) -> DownloadResult:
    """A page of exactly that size."""
    small = page(*links)
    return msgspec.structs.replace(small, body=small.body.ljust(size))


def _site(pages: int) -> dict[str, Answer]:
    return {
        "/": _large(*(f"/{number}" for number in range(1, pages))),
        **{f"/{number}": _large() for number in range(1, pages)},
    }


def _work(**settings: object) -> WorkConf:
    return msgspec.convert({"HostDelay": 0.0, "DelayFactor": 0.0, **settings}, WorkConf)


def test_a_host_sends_no_more_bytes_a_second_than_it_may() -> None:
    world = World(_site(20), _work(MaxHostRate=500))
    world.visit("/")
    starts = [at for at, url in world.asked if not url.endswith("/robots.txt")]
    assert len(world.of(PageRecord)) == len(starts) == 20
    assert [after - before for before, after in pairwise(starts)] == pytest.approx([_SIZE / 500] * 19)


def test_without_a_limit_it_does_not_wait() -> None:
    world = World(_site(20), _work())
    world.visit("/")
    assert world.asked[-1][0] - world.asked[1][0] == pytest.approx(19 * world.duration)


def test_the_mean_holds_with_several_connections() -> None:
    world = World(_site(40), _work(MaxHostRate=500, HostConnections=4))
    world.visit("/")
    starts = [at for at, url in world.asked if not url.endswith("/robots.txt")]
    assert world.most_at_once > 1
    for answered, start in enumerate(starts[4:], start=1):
        assert start - starts[0] >= answered * _SIZE / 500 - 1e-9, "of the others, four at most are on the wire"


def test_a_delay_that_is_longer_than_the_rate_asks_for_stays() -> None:
    world = World(_site(5), _work(MaxHostRate=500, HostDelay=10.0))
    world.visit("/")
    starts = [at for at, _ in world.asked]
    assert all(after - before >= 10.0 for before, after in pairwise(starts))


def test_a_host_rule_changes_it() -> None:
    world = World(_site(5), _work(MaxHostRate=1, Host=[{"Pattern": "site.example", "MaxRate": 500}]))
    world.visit("/")
    assert world.asked[-1][0] - world.asked[1][0] == pytest.approx(4 * _SIZE / 500)


def test_the_bytes_that_the_downloader_counted_count() -> None:
    packed: dict[str, Answer] = {
        path: msgspec.structs.replace(answer, received=100)
        for path, answer in _site(5).items()
        if isinstance(answer, DownloadResult)
    }
    world = World(packed, _work(MaxHostRate=100))
    world.visit("/")
    assert world.asked[-1][0] - world.asked[1][0] == pytest.approx(4 * 1.0)


def test_all_hosts_of_a_worker_share_its_part_of_the_whole() -> None:
    hosts = {f"http://h{number}.example{path}": answer for number in range(4) for path, answer in _site(10).items()}
    world = World(hosts, _work(), max_rate=500)
    leases = [
        SiteLease(number + 1, number + 1, "http", f"h{number}.example", 80, (DueUrl(key_of("/"), "/"),)) for number in range(4)
    ]
    addresses = [f"192.0.2.{number}" for number in range(1, 5)]
    world.worker.accept(
        Assignment(lease, address, (address,), 5000.0, 1000) for lease, address in zip(leases, addresses, strict=True)
    )
    world.run()
    starts = [at for at, url in world.asked if not url.endswith("/robots.txt")]
    assert len(world.of(PageRecord)) == len(starts) == 40
    for answered, start in enumerate(starts[4:], start=1):
        assert start - starts[0] >= answered * _SIZE / 500 - 1e-9, "of the others, four at most are on the wire"
    assert starts[-1] - starts[0] < 40 * _SIZE / 500, "they use all of it"
    last = {url.split("/")[2]: at for at, url in world.asked}
    assert min(last.values()) > starts[0] + 30 * _SIZE / 500, "no host waits until another is finished"


def test_a_visit_that_would_wait_for_long_ends_and_its_host_rests() -> None:
    world = World({"/": _large("/1", size=100_000), "/1": page()}, _work(MaxHostRate=100))
    world.visit("/")
    (over,) = world.of(VisitOver)
    start = world.asked[-1][0]
    assert world.paths() == ["/robots.txt", "/"]
    assert over.not_before == pytest.approx(start + 1000.0)
    assert (over.failures, over.reason) == (0, "")
    assert over.rests_until == pytest.approx(start + 1000.0)
    assert world.processed[0].pauses[0].not_before == pytest.approx(start + 1000.0)


def test_a_stop_does_not_wait_for_the_rate() -> None:
    world = World(_site(20), _work(), max_rate=0.01)
    lease = SiteLease(1, 1, "http", "site.example", 80, (DueUrl(key_of("/"), "/"),))
    world.worker.accept([Assignment(lease, "192.0.2.1", ("192.0.2.1",), 5000.0, 1000)])
    world.run(until=world.time + 100)
    assert world.worker.open_visits == 1
    world.worker.stop()
    assert world.worker.open_visits == 0
