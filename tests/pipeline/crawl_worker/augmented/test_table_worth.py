"""Where tables pay: crawls over simulated networks, in simulated time."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from itertools import product

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadRequest, DownloadResult
from parcahyd.core.records import PageRecord
from parcahyd.pipeline.crawl_worker.augmented.table_worth import TableWorth
from tests.pipeline.crawl_worker.linked_pages import robots, table, text
from tests.pipeline.crawl_worker.world import World, page

Shape = dict[str, list[str]]


class Network(World):
    """Answers take the way there and back, the time that the server thinks about a page, and their turn on one line."""

    def __init__(self, site: dict[str, DownloadResult], work: WorkConf, way: float, rate: float, thought: float) -> None:
        super().__init__(dict(site), work)
        self._answers = site
        self._way = way
        self._rate = rate
        self._thought = thought
        self._line_free = 0.0

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        path = request.url.removeprefix("http://site.example")
        answer = self._answers.get(path, DownloadResult(404))
        length = min(len(answer.body), request.max_bytes) + 200
        ready = self.time + self._way + (self._thought if path.endswith(".html") else 0.0)
        self.asked.append((self.time, request.url))
        self.requests.append(request)
        number = len(self.asked)

        def send(_: DownloadResult) -> None:
            self._line_free = max(self.time, self._line_free) + length / self._rate
            heappush(self._under_way, (self._line_free, number, done, request))

        heappush(self._under_way, (ready, number, send, request))

    def _answer(self, request: DownloadRequest) -> DownloadResult:
        result = super()._answer(request)
        result.body = result.body[: request.max_bytes]
        return result


def chain(pages: int) -> Shape:
    return {f"/{number}.html": [f"{number + 1}.html"] if number + 1 < pages else [] for number in range(pages)}


def wide(pages: int) -> Shape:
    return {f"/{n}.html": ["0.html"] if n else [f"{leaf}.html" for leaf in range(1, pages)] for n in range(pages)}


def tree(pages: int) -> Shape:
    return {f"/{n}.html": [f"{child}.html" for child in range(3 * n + 1, 3 * n + 4) if child < pages] for n in range(pages)}


def listing(pages: int) -> Shape:
    """Each tenth page lists the nine after it, and names the next of its kind."""
    return {
        f"/{n}.html": [f"{other}.html" for other in range(n + 1, min(n + 11, pages))] if n % 10 == 0 else ["0.html"]
        for n in range(pages)
    }


def site_of(shape: Shape, padding: int, *, bundle: bool) -> dict[str, DownloadResult]:
    site = {}
    for path, links in shape.items():
        small = page(*links)
        site[path] = DownloadResult(200, small.headers, small.body + b"<p>" + b"x" * padding)
    tables = {path.replace(".html", ".TOL"): text(table(answer, path[1:])) for path, answer in site.items()}
    together = {"/site.TOL": text(b"".join(table(answer, path[1:]) for path, answer in site.items()))}
    declared = robots(f"Augment: 1; tol={{stem}}.TOL{'; bundle=/site.TOL' if bundle else ''}")
    return {"/robots.txt": declared, **site, **tables, **(together if bundle else {})}


def crawl(site: dict[str, DownloadResult], eager: str, way: float, rate: float, thought: float, **settings: object) -> Network:
    work = WorkConf(**{"HostDelay": 0.0, "HostConnections": 8, "Eager": eager, "Scope": "any", **settings})  # type: ignore[arg-type]
    network = Network(site, work, way, rate, thought)
    network.visit("/0.html")
    assert len(network.of(PageRecord)) == sum(path.endswith(".html") for path in site)
    return network


SHAPES = {"chain": chain(40), "wide": wide(130), "tree": tree(60), "listing": listing(60)}
WAYS = [0.001, 0.2]
RATES = [1e5, 1e8]
THOUGHTS = [0.0, 1.0]
MANNERS: list[dict[str, object]] = [{}, {"HostConnections": 1}, {"HostDelay": 1.0, "HostConnections": 1}, {"HostDelay": 0.2}]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bundle", [True, False], ids=["bundle", "beside"])
@pytest.mark.parametrize("padding", [2_000, 40_000])
def test_auto_is_never_slower_than_without(shape: str, bundle: bool, padding: int) -> None:
    site = site_of(SHAPES[shape], padding, bundle=bundle)
    for way, rate, thought, manners in product(WAYS, RATES, THOUGHTS, MANNERS):
        never = crawl(site, "never", way, rate, thought, **manners).time - 1000.0
        auto = crawl(site, "auto", way, rate, thought, **manners).time - 1000.0
        assert auto <= 1.02 * never, (way, rate, thought, manners, auto / never)


@pytest.mark.parametrize(
    ("shape", "bundle", "way", "thought", "gain"),
    [("chain", True, 0.2, 0.0, 3.0), ("chain", True, 0.001, 1.0, 3.0), ("chain", False, 0.001, 1.0, 2.0)],
)
def test_auto_gains_where_pages_come_one_by_one(shape: str, bundle: bool, way: float, thought: float, gain: float) -> None:
    site = site_of(SHAPES[shape], 2_000, bundle=bundle)
    never, auto = (crawl(site, eager, way, 1e8, thought).time - 1000.0 for eager in ("never", "auto"))
    assert auto * gain < never


def test_nothing_is_concluded_from_nothing() -> None:
    worth = TableWorth()
    assert not worth.is_often_empty
    assert not worth.has_spare_bandwidth
    assert not worth.is_page_slow
    assert not worth.is_page_large
    assert worth.bytes_for_other_sites(1000) == 0


def test_running_dry_is_counted_once_for_each_page() -> None:
    worth = TableWorth()
    worth.page_requested()
    for _ in range(5):
        worth.local_q_ran_empty()
    assert not worth.is_often_empty
    for _ in range(2):
        worth.page_requested()
        worth.local_q_ran_empty()
    assert worth.is_often_empty
    for _ in range(20):
        worth.page_requested()
    assert not worth.is_often_empty


@pytest.mark.parametrize(
    ("quick", "page", "is_slow", "has_bytes"),
    [
        ((0.2, 100), (0.21, 20_000), False, True),  # a long way
        ((0.001, 100), (0.2, 20_000), True, False),  # a thin line
        ((0.001, 1000), (1.0, 20_000), True, True),  # a server that thinks
    ],
)
def test_what_takes_time(quick: tuple[float, int], page: tuple[float, int], is_slow: bool, has_bytes: bool) -> None:
    worth = TableWorth()
    worth.answered(*quick)
    worth.answered(*page)
    worth.page_received(*page, was_alone=False)
    assert (worth.is_page_slow, worth.has_spare_bandwidth) == (False, False)
    worth.page_received(*page, was_alone=True)
    assert (worth.is_page_slow, worth.has_spare_bandwidth) == (is_slow, has_bytes)


def test_a_page_is_large_beside_the_tables_that_were_seen() -> None:
    worth = TableWorth()
    worth.page_received(1.0, 300_000, was_alone=False)
    assert worth.is_page_large
    worth.table_received(50_000)
    assert not worth.is_page_large
