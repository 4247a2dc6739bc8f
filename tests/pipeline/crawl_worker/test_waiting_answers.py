from __future__ import annotations

import gzip

from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import FromWorkerToUpdate
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import PageRecord, VisitOver
from tests.pipeline.crawl_worker.world import Answer, World

_CREDIT = 10_000


class Metered(World):
    """A world in which a record costs its body, and the downloader notes how many bytes it may hold."""

    def __init__(self, site: dict[str, Answer]) -> None:
        self.allowed: list[int] = []
        self.spent = 0
        super().__init__(site, WorkConf(HostDelay=0.0, HostConnections=8), _CREDIT)

    def allow_bytes(self, size: int) -> None:
        self.allowed.append(size)

    def _emit(self, record: FromWorkerToUpdate) -> int:
        super()._emit(record)
        cost = 10 + (len(record.body) if isinstance(record, PageRecord) else 0)
        self.spent += cost
        return cost

    def commit(self) -> None:
        """Everything that was sent is committed: its credit comes back."""
        spent, self.spent = self.spent, 0
        self.worker.add_credit(spent)
        self.run()

    def stored(self) -> list[str]:
        return [record.path for record in self.of(PageRecord)]


def bomb(size: int) -> DownloadResult:
    """An answer that is small on its way. It has two codings, so that its record has the unpacked bytes; one would be kept."""
    packed = gzip.compress(gzip.compress(bytes(size)))
    return DownloadResult(200, (("Content-Type", "image/png"),), packed, codings=("gzip", "gzip"))


def test_answers_that_arrive_together_are_handled_as_credit_comes_back() -> None:
    paths = [f"/{number}" for number in range(5)]
    world = Metered({path: bomb(8_000) for path in paths})
    world.visit(*paths)
    assert world.stored() == paths[:1], "the second is larger than what is left of the credit"
    assert world.worker.on_the_wire == 0
    assert world.allowed[-1] < _CREDIT - 8_000, "one is unpacked, the others wait as they came"
    for number in range(2, 6):
        world.commit()
        assert world.stored() == paths[:number]
    assert world.allowed[-1] == _CREDIT, "the downloader may go on"
    world.commit()
    assert isinstance(world.records[-1], VisitOver)
    assert {record.body for record in world.of(PageRecord)} == {bytes(8_000)}


def test_a_page_that_is_larger_than_all_credit_waits_until_all_is_back_and_goes_alone() -> None:
    world = Metered({"/small": bomb(100), "/large": bomb(50_000), "/last": bomb(100)})
    world.visit("/small", "/large", "/last")
    assert world.stored() == ["/small"]
    world.worker.add_credit(50)
    world.spent -= 50
    assert world.stored() == ["/small"]
    world.commit()
    assert world.stored() == ["/small", "/large"]
    world.commit()
    assert world.stored() == ["/small", "/large", "/last"]


def test_no_request_is_started_while_answers_wait() -> None:
    site: dict[str, Answer] = {f"/{number}": bomb(8_000) for number in range(30)}
    world = Metered(site)
    world.visit(*site)
    assert len(world.paths()) == 10, "robots.txt, as many as there are connections, and one after the first answer"
    while len(world.stored()) < 30:
        before = len(world.stored())
        world.commit()
        assert len(world.stored()) > before
