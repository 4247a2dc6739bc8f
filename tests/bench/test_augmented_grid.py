"""What tables of links do to crawls on a simulated clock, in some cases; all of them are in bench/augmented_grid.py."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.augmented_grid import LINES, TOLERANCE, Case, Cell, Grid, cells, report, verdict, write_report
from bench.augmented_web import HOME, MAIN, OFFERS, SHAPES, tables_of, web_of
from bench.simulated_crawl import crawl
from bench.simulated_network import Line, SimulatedClock, SimulatedNetwork
from parcahyd.augment.bundle import read_bundle
from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadRequest

_FAST = Grid(sizes=(50_000,), latencies=(0.1,), lines=("2 Mbit/s", "2 Mbit/s, shared"), connections=(8,))


@pytest.fixture(scope="module")
def found() -> list[Cell]:
    return list(cells(_FAST))


def test_auto_is_never_much_slower_than_never(found: list[Cell]) -> None:
    assert {str(cell.case): cell.offer for cell in found if cell.ratio("auto") > TOLERANCE} == {}
    assert f"in 0 of {len(found)} cells" in verdict(found)


def test_where_nothing_is_offered_auto_asks_for_nothing_more(found: list[Cell]) -> None:
    plain = [cell.crawled for cell in found if cell.offer == "nothing"]
    assert len(plain) == len(found) // len(OFFERS)
    for crawled in plain:
        assert crawled["auto"] == crawled["never"]
        assert crawled["always"] == crawled["never"]


def test_a_bundle_makes_a_chain_flat(found: list[Cell]) -> None:
    chain = Case("chain", 50_000, 0.1, "2 Mbit/s", 8, 0.0)
    flat = next(cell for cell in found if (cell.case, cell.offer) == (chain, "bundle"))
    assert flat.ratio("auto") < 0.5
    assert flat.crawled["auto"].requests == flat.crawled["never"].requests + 1


def test_tables_let_large_pages_overlap(found: list[Cell]) -> None:
    chain = Case("chain", 50_000, 0.1, "2 Mbit/s", 8, 0.0)
    cell = next(cell for cell in found if (cell.case, cell.offer) == (chain, "tables"))
    assert cell.ratio("auto") < 0.7


def test_with_a_delay_a_table_for_each_page_doubles_the_time(found: list[Cell]) -> None:
    slow = [cell for cell in found if cell.offer == "tables" and cell.case.delay and cell.case.shape == "wide"]
    assert slow
    for cell in slow:
        assert cell.ratio("always") > 1.6
        assert cell.crawled["auto"].tables == 0


def test_the_same_case_gives_the_same_numbers(found: list[Cell]) -> None:
    assert list(cells(_FAST._replace(shapes=("chain",)))) == [cell for cell in found if cell.case.shape == "chain"]


def test_the_report_has_every_case_and_its_pictures(found: list[Cell], tmp_path: Path) -> None:
    page = tmp_path / "augmented.md"
    write_report(page, found)
    text = page.read_text()
    assert report(found) in text
    assert all(f"| {shape} | 50 kB | 8 |" in text for shape in SHAPES)
    for picture in tmp_path.glob("*.svg"):
        assert picture.name in text
        ET.fromstring(picture.read_text())  # noqa: S314 # our own text


# --- the parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", list(SHAPES))
def test_a_bundle_holds_the_tables_of_all_pages(shape: str) -> None:
    for host in web_of(shape, 5_000, "both").values():
        tables, refusal = read_bundle(host["/site.TOL"])
        assert refusal is None
        assert {f"/{table.head.document}" for table in tables} == {path for path in host if path.endswith(".html")}
        assert {path for path in host if path.endswith(".TOL")} - {"/site.TOL"} == {
            path.replace(".html", ".TOL") for path in host if path.endswith(".html")
        }


def test_tables_stand_beside_their_pages() -> None:
    table = tables_of({"/deep/page.html": b"<a href=x>"})["/deep/page.html"]
    assert b"Document: page.html\n" in table


def test_a_crawl_takes_as_long_as_its_way() -> None:
    web = {MAIN: {HOME: b"<html>" + b" " * 99_744, "/robots.txt": b""}}
    crawled = crawl(web, Line(0.1, 100_000.0), WorkConf(HostDelay=0.0))
    # The address, robots.txt over a new connection (and 250 bytes of headers), then the page over the same one.
    assert crawled.seconds == pytest.approx(0.1 + 0.2 + 0.0025 + 0.1 + 1.0)
    assert (crawled.pages, crawled.requests, crawled.bytes) == (1, 2, 250 + 100_000)


def _ends(line: Line, sizes: list[int]) -> list[float]:
    clock = SimulatedClock()
    network = SimulatedNetwork(clock, {"h": {f"/{number}": b" " * size for number, size in enumerate(sizes)}}, line)
    began, ended = clock.time, []
    for number in range(len(sizes)):
        request = DownloadRequest(f"http://h/{number}", "192.0.2.1", 80, (), 10**9)
        network.start(request, lambda _: ended.append(clock.time - began))
    clock.run()
    return ended


def test_connections_have_a_bandwidth_of_their_own_or_share_one() -> None:
    sizes = [1000 - 250, 3000 - 250]
    assert _ends(Line(0.5, 1000.0), sizes) == pytest.approx([2.0, 4.0])
    assert _ends(Line(0.5, 1000.0, is_shared=True), sizes) == pytest.approx([3.0, 5.0])
    assert _ends(Line(0.5), sizes) == pytest.approx([1.0, 1.0])
    assert set(LINES) >= set(_FAST.lines)
