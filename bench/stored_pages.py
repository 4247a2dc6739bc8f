"""A collection that the store itself keeps fresh, with leases and records as in a crawl and a clock that jumps."""

from __future__ import annotations

from bench.changing_pages import ChangingPages, Visits
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.records import DueUrl, PageRecord, SiteLease, UnchangedRecord, VisitOver
from parcahyd.storage.packing import PackedPage, compressor, pack
from parcahyd.storage.store import Store

__all__ = ["scheduled_by_store"]

_EPOCH = 1_000_000.0
_AT_MOST = 100_000


def scheduled_by_store(pages: ChangingPages, work: WorkConf, url: str) -> Visits:
    """When the store had each page visited; one site, `/0` its seed and the others linked from there."""
    visits: list[list[float]] = [[] for _ in range(len(pages))]
    with Store.open(url) as store:
        store.begin_run(Configuration(MapConf(), work), _EPOCH)
        store.add_seeds(["http://a.example/0"], _EPOCH)
        now: float | None = _EPOCH
        while now is not None and now - _EPOCH < pages.seconds:
            pairs, following = store.lease(1, now, now + 1e-3, _AT_MOST, _AT_MOST)
            for pair in pairs:
                store.store_documents([_answer(pages, visits, pair, due, now) for due in pair.urls], now)
                store.release([VisitOver(visit=pair.visit, site=pair.site, at=now, not_before=now)], now)
            if not pairs:
                now = None if following is None else max(following, now + 1e-3)
    return visits


def _answer(
    pages: ChangingPages, visits: list[list[float]], pair: SiteLease, due: DueUrl, now: float
) -> PackedPage | UnchangedRecord:
    page, at = int(due.path[1:]), now - _EPOCH
    times = visits[page]
    version = pages.version(page, at)
    unchanged = bool(times) and version == pages.version(page, times[-1])
    times.append(at)
    if unchanged:
        return UnchangedRecord(pair.visit, pair.site, due.key, due.path, checked_at=now, status=304)
    links = () if page else tuple(f"/{number}" for number in range(1, len(pages)))
    record = PageRecord(
        visit=pair.visit,
        site=pair.site,
        key=due.key,
        path=due.path,
        depth=due.depth,
        hops=due.hops,
        seed=due.seed,
        fetched_at=now,
        status=200,
        address="192.0.2.1",
        head=b"",
        body=f"page {page}, version {version}".encode(),
        internal=links,
    )
    return pack(record, compressor(WorkConf()), keep_links=False)
