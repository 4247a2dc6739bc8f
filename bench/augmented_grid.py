"""What tables of links win or cost, case by case, on a simulated clock: the same numbers every time.

    python bench/augmented_grid.py [--reduced] [--csv FILE] [--report docs/augmented.md]

The real Crawl Worker crawls made-up webs over a simulated network, with `Eager` at "never", "auto" and "always", for every
shape of a web, size of its pages, latency, bandwidth, number of connections and delay, and for what the sites offer.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.augmented_web import OFFERS, SHAPES, Web, web_of
from bench.plot import Bar, draw
from bench.report_page import table, write_section
from bench.simulated_crawl import Crawled, crawl
from bench.simulated_network import Line
from parcahyd.config.schema import WorkConf

__all__ = ["EAGER", "GRIDS", "LINES", "TOLERANCE", "Case", "Cell", "Grid", "cells", "report", "verdict", "write_report"]

Eager = Literal["never", "auto", "always"]
EAGER: tuple[Eager, ...] = ("never", "auto", "always")
TOLERANCE = 1.02
"""How much longer "auto" may take than "never"."""
_SLOW = 2 * 125_000.0
LINES = {"2 Mbit/s": (_SLOW, False), "2 Mbit/s, shared": (_SLOW, True), "unlimited": (inf, False)}
"""By name: bytes per second, and whether all connections share them."""


class Case(NamedTuple):
    """A web, how far away it is, and how politely it is crawled."""

    shape: str
    size: int
    latency: float
    line: str
    """One of LINES."""
    connections: int
    delay: float

    def __str__(self) -> str:
        return (
            f"{self.shape}, {self.size // 1000} kB, {self.latency * 1000:g} ms, {self.line}, "
            f"{_plural(self.connections, 'connection')}, delay {self.delay:g} s"
        )


class Grid(NamedTuple):
    """Which cases there are: every combination."""

    shapes: Sequence[str] = tuple(SHAPES)
    sizes: Sequence[int] = (5_000, 50_000, 500_000)
    latencies: Sequence[float] = (0.0, 0.02, 0.1)
    lines: Sequence[str] = tuple(LINES)
    connections: Sequence[int] = (1, 8, 64)
    delays: Sequence[float] = (0.0, 1.0)

    def cases(self) -> Iterator[Case]:
        return itertools.starmap(Case, itertools.product(*self))


GRIDS = Grid(delays=(0.0,)), Grid(latencies=(0.1,), delays=(1.0,))
"""All cases: where a delay is kept, latency hardly matters."""
REDUCED = Grid(sizes=(5_000, 50_000), latencies=(0.1,), lines=("2 Mbit/s", "2 Mbit/s, shared"), connections=(1, 8))


class Cell(NamedTuple):
    """One case with what the sites offer, crawled in every way."""

    case: Case
    offer: str
    crawled: dict[Eager, Crawled]

    def ratio(self, eager: Eager) -> float:
        """Its time in terms of that of "never"."""
        before = self.crawled["never"].seconds
        return self.crawled[eager].seconds / before if before else 1.0


def _work(case: Case, eager: Eager) -> WorkConf:
    return WorkConf(HostDelay=case.delay, HostConnections=case.connections, Eager=eager)


def cells(grid: Grid) -> Iterator[Cell]:
    """Every case of a grid with every offer; a web is made once for all cases that crawl it."""
    cases = list(grid.cases())
    for shape, size in itertools.product(grid.shapes, grid.sizes):
        webs: dict[str, Web] = {what: web_of(shape, size, what) for what in OFFERS}
        for case in cases:
            if (case.shape, case.size) != (shape, size):
                continue
            line = Line(case.latency, *LINES[case.line])
            for what in OFFERS:
                yield Cell(case, what, {eager: crawl(webs[what], line, _work(case, eager)) for eager in EAGER})


def _all_cells(grid: Grid) -> list[Cell]:
    found = list(cells(grid))
    print(f"{grid.shapes}, {grid.sizes}, delay {grid.delays}: {len(found)} cells", file=sys.stderr, flush=True)
    return found


# --- the report ----------------------------------------------------------------------------------------------------------


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def verdict(found: Sequence[Cell]) -> str:
    """Whether "auto" was ever slower than it may be, and where it was slowest."""
    worst = max(found, key=lambda cell: cell.ratio("auto"))
    slower = sum(cell.ratio("auto") > TOLERANCE for cell in found)
    same = sum(cell.crawled["auto"] == cell.crawled["never"] for cell in found if cell.offer == "nothing")
    plain = sum(cell.offer == "nothing" for cell in found)
    return (
        f'"auto" took more than {100 * (TOLERANCE - 1):.0f} % longer than "never" in {slower} of {len(found)} cells. Worst: '
        f"{_percent(worst.ratio('auto'))} ({worst.case}; the sites offer {_offer_words(worst.offer)}). Where the sites offer "
        f'nothing, "auto" was "never" to the last request and byte in {same} of {plain} cells.'
    )


def _offer_words(what: str) -> str:
    return {"tables": "a table beside each page", "bundle": "a bundle", "both": "tables and a bundle"}.get(what, what)


def _summary(found: Sequence[Cell]) -> Iterator[str]:
    """By offer and way: in how many cells it won, cost or changed nothing."""
    heading = ("the sites offer", "Eager", "delay", "cells", "> 2 % faster", "> 2 % slower", "median", "best", "worst")
    rows = []
    for what, eager, delay in itertools.product(OFFERS[1:], EAGER[1:], sorted({cell.case.delay for cell in found})):
        ratios = sorted(cell.ratio(eager) for cell in found if cell.offer == what and cell.case.delay == delay)
        won, lost = sum(ratio < 1 / TOLERANCE for ratio in ratios), sum(ratio > TOLERANCE for ratio in ratios)
        figures = [_percent(ratios[len(ratios) // 2]), _percent(ratios[0]), _percent(ratios[-1])]
        rows.append((_offer_words(what), eager, f"{delay:g} s", str(len(ratios)), str(won), str(lost), *figures))
    return table(heading, rows)


def _by_dimension(found: Sequence[Cell]) -> Iterator[str]:
    """What "auto" changes, by shape (depth), size of the pages and latency; without delay, with 8 connections."""
    latencies = sorted({cell.case.latency for cell in found})
    chosen = [
        cell
        for cell in found
        if (cell.case.line, cell.case.connections, cell.case.delay) == ("2 Mbit/s", 8, 0.0)
        and cell.offer in ("tables", "bundle")
    ]
    columns = [(what, latency) for what in ("tables", "bundle") for latency in latencies]
    ratios = {(cell.case.shape, cell.case.size, cell.offer, cell.case.latency): cell.ratio("auto") for cell in chosen}
    rows = [
        (shape, f"{size // 1000} kB", *(_percent(ratios[shape, size, what, latency]) for what, latency in columns))
        for shape, size in dict.fromkeys((cell.case.shape, cell.case.size) for cell in chosen)
    ]
    return table(["shape", "page", *(f"{what}, {latency * 1000:g} ms" for what, latency in columns)], rows)


def _seconds(cell: Cell, eager: Eager) -> str:
    return f"{cell.crawled[eager].seconds:.1f} ({cell.crawled[eager].requests})"


def _by_case(found: Iterable[Cell], delay: float, latency: float, line: str) -> Iterator[str]:
    """Seconds and requests of all cases of one line and delay."""
    heading = ["shape", "page", "connections", "never"]
    columns = [(what, eager) for what in OFFERS[1:] for eager in EAGER[1:]]
    heading += [f"{what}, {eager}" for what, eager in columns]
    rows: dict[Case, dict[str, Cell]] = {}
    for cell in found:
        if (cell.case.delay, cell.case.latency, cell.case.line) == (delay, latency, line):
            rows.setdefault(cell.case, {})[cell.offer] = cell
    return table(
        heading,
        [
            (
                case.shape,
                f"{case.size // 1000} kB",
                str(case.connections),
                _seconds(offers["nothing"], "never"),
                *(_seconds(offers[what], eager) for what, eager in columns),
            )
            for case, offers in rows.items()
        ],
    )


def _picture(found: Iterable[Cell], case: Case, title: str) -> str:
    """Times of one kind of case, for every shape, with "auto"."""
    panels = []
    chosen = [cell for cell in found if cell.case._replace(shape=case.shape) == case]
    for shape in dict.fromkeys(cell.case.shape for cell in chosen):
        times = {cell.offer: cell for cell in chosen if cell.case.shape == shape}
        never = times["nothing"].crawled["never"].seconds
        bars = [Bar("never", never, never, never, 1, ",.1f")]
        for what in OFFERS[1:]:
            for eager in EAGER[1:]:
                seconds = times[what].crawled[eager].seconds
                bars.append(Bar(f"{what}, {eager}", seconds, seconds, seconds, 1, ",.1f"))
        panels.append((shape, bars))
    return draw(panels, title=title, measure="seconds, simulated", ours="never")


def report(found: Sequence[Cell]) -> str:
    """Everything but the pictures, as Markdown."""
    lines = [
        "## Every case, on a simulated clock",
        "",
        "    python bench/augmented_grid.py",
        "",
        verdict(found),
        "",
        *_summary(found),
        "",
        'What "auto" changes with 2 Mbit/s for each of 8 connections, without delay:',
        "",
        *_by_dimension(found),
    ]
    for delay in (0.0, 1.0):
        lines += [
            "",
            f"Seconds (requests) with 2 Mbit/s for each connection, 100 ms, delay {delay:g} s:",
            "",
            *_by_case(found, delay, 0.1, "2 Mbit/s"),
        ]
    return "\n".join(lines)


def write_report(page: Path, found: Sequence[Cell]) -> None:
    """The section of a page, and pictures beside it."""
    pictures = []
    for delay in sorted({cell.case.delay for cell in found}):
        file = page.with_name(f"{page.stem}-delay{delay:g}.svg")
        title = f"Simulated crawls: 50 kB pages, 100 ms, 2 Mbit/s, 8 connections, delay {delay:g} s"
        file.write_text(_picture(found, Case("", 50_000, 0.1, "2 Mbit/s", 8, delay), title), encoding="utf-8")
        pictures.append(f"![{title}]({file.name})")
    write_section(page, "grid", "\n\n".join([report(found), *pictures]), "What augmented hypertext wins and costs")


def _write_csv(file: Path, found: Iterable[Cell]) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow([*Case._fields, "offer", "eager", *Crawled._fields])
        for cell in found:
            for eager, crawled in cell.crawled.items():
                writer.writerow([*cell.case, cell.offer, eager, *crawled])


def _read_csv(file: Path) -> Iterator[Cell]:
    with file.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    for number in range(0, len(rows), len(EAGER)):
        row = rows[number]
        case = Case(
            row["shape"],
            int(row["size"]),
            float(row["latency"]),
            row["line"],
            int(row["connections"]),
            float(row["delay"]),
        )
        crawled = {
            eager: Crawled(float(one["seconds"]), float(one["last_page"]), *(int(one[name]) for name in Crawled._fields[2:]))
            for eager, one in zip(EAGER, rows[number:], strict=False)
        }
        yield Cell(case, row["offer"], crawled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--reduced", action="store_true", help="only the cases that the test suite looks at")
    parser.add_argument("--shape", action="append", choices=list(SHAPES), help="only this shape; may be repeated")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="every single crawl")
    parser.add_argument("--report", type=Path, metavar="PAGE", help="write the section `grid` of a page, and pictures")
    parser.add_argument("--from-csv", type=Path, metavar="FILE", help="report crawls of before")
    chosen = parser.parse_args()
    found = list(_read_csv(chosen.from_csv)) if chosen.from_csv else _crawl_all(chosen)
    if chosen.csv:
        _write_csv(chosen.csv, found)
    if chosen.report:
        write_report(chosen.report, found)
    else:
        print(report(found))


def _crawl_all(chosen: argparse.Namespace) -> list[Cell]:
    parts = [
        grid._replace(shapes=(shape,), sizes=(size,))
        for grid in ((REDUCED,) if chosen.reduced else GRIDS)
        for shape in chosen.shape or grid.shapes
        for size in grid.sizes
    ]
    with ProcessPoolExecutor(chosen.jobs) as pool:
        return list(itertools.chain.from_iterable(pool.map(_all_cells, parts)))


if __name__ == "__main__":
    main()
