"""Crawls a synthetic web of many URLs and asks: does the crawl slow down, and does it grow, as the URLs it knows become many?

    python bench/scale.py --urls 100000 [--hosts N --addresses N --workers N --set KEY=VALUE --output FOLDER --report]

The crawl starts from one home page, with no delays. Requests are counted and timed by the server, memory and the size of the
database are sampled once a second. A tenth is a tenth of the requests for pages, in the order in which they began.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.report_page import chart, machine, publish, table
from bench.synthetic_run import ROLES, Crawl, Sample, ServedWeb, output_folder
from bench.synthetic_server import Request
from bench.synthetic_web import Shape

__all__ = ["Tenth", "main", "tenths"]

_MIB = 2**20


@dataclass(frozen=True)
class Tenth:
    """A tenth of a crawl's pages."""

    seconds: float
    pages: int
    memory: dict[str, int]
    """By role, the most that was sampled, in bytes."""
    peak: int
    """The largest sum over the process tree that was sampled."""
    database: float
    """By how many bytes the database grew."""

    @property
    def rate(self) -> float:
        return self.pages / self.seconds

    @property
    def bytes_per_page(self) -> float:
        return self.database / self.pages


@dataclass(frozen=True)
class Outcome:
    """One crawl, as the server and the kernel saw it."""

    shape: Shape
    seconds: float
    requests: list[Request]
    """Requests for pages; those for robots.txt and for paths without a link are `others`."""
    others: int
    samples: list[Sample]
    database: int
    """Its size at the end, in bytes."""
    verified: str
    server_seconds: float
    """CPU time of the two servers."""


def tenths(requests: Sequence[Request], samples: Sequence[Sample]) -> list[Tenth]:
    """The tenths of a crawl; `requests` are in the order in which they began."""
    ends = [request.began for request in requests]
    cuts = [len(ends) * number // 10 for number in range(11)]
    times = [ends[0], *(ends[cut - 1] for cut in cuts[1:])]
    sampled = [sample.at for sample in samples]
    found = []
    for number in range(10):
        first, last = bisect_left(sampled, times[number]), bisect_left(sampled, times[number + 1])
        # At least the sample that follows: a tenth of a short crawl may be over between two.
        inside = samples[first : max(last, first + 1)] or samples[-1:]
        found.append(
            Tenth(
                max(times[number + 1] - times[number], 1e-9),
                cuts[number + 1] - cuts[number],
                {role: max(sample.memory[role] for sample in inside) for role in ROLES},
                max(sample.total_memory for sample in inside),
                _database_at(times[number + 1], samples) - _database_at(times[number], samples),
            )
        )
    return found


def _database_at(at: float, samples: Sequence[Sample]) -> float:
    """The size of the database at a time between two samples."""
    after = bisect_left([sample.at for sample in samples], at)
    if after == 0 or after == len(samples):
        return float(samples[min(after, len(samples) - 1)].database)
    one, two = samples[after - 1], samples[after]
    return one.database + (two.database - one.database) * (at - one.at) / (two.at - one.at)


def _measure(chosen: argparse.Namespace, folder: Path) -> Outcome:
    shape = Shape(chosen.urls, chosen.hosts, chosen.addresses, chosen.seed, chosen.exponent)
    settings = [
        *("Work.HostDelay=0", "Work.HostConnections=16", 'Work.Scope="any"', f"Work.MaxInstances={chosen.workers}"),
        *chosen.set,
    ]
    with ServedWeb(shape, folder, chosen.dns_latency) as served:
        began = time.perf_counter()
        crawl = Crawl(served, folder, [served.web.url(0, 0)], settings)
        print(f"crawling, process {crawl.pid}", file=sys.stderr)
        try:
            while (code := crawl.wait(10.0)) is None:
                print(f"{time.perf_counter() - began:.0f} s: {served.requests_so_far():,} requests", file=sys.stderr)
        finally:
            crawl.close()
        seconds = time.perf_counter() - began
        if code:
            sys.exit(f"the crawl ended with {code}: {crawl.errors.read_text()[-2000:]}")
        server_seconds = served.cpu_seconds()
    if chosen.keep_output is not None:
        shutil.copyfile(crawl.output, chosen.keep_output)
    verified = "not run"
    if chosen.verify:
        result, took, said = crawl.verify()
        verified = f"exit code {result} after {took:.1f} s: {said.splitlines()[-1].rstrip('.') if said else 'nothing said'}"
    every = served.requests()
    pages = [request for request in every if request.page >= 0]
    return Outcome(
        shape, seconds, pages, len(every) - len(pages), crawl.samples, crawl.database.stat().st_size, verified, server_seconds
    )


# --- the report --------------------------------------------------------------------------------------------------------


def _lines(outcome: Outcome, found: Sequence[Tenth], chosen: argparse.Namespace) -> Iterator[str]:
    shape = outcome.shape
    yield f"{shape.pages:,} URLs on {shape.hosts:,} hosts and {shape.addresses} addresses; {machine()}."
    yield f"Settings besides HostDelay = 0 and HostConnections = 16: {', '.join(chosen.set) or 'none'}."
    yield ""
    heading = ("tenth", "seconds", "pages/s", "peak MiB", *(f"{role} MiB" for role in ROLES), "database bytes/page")
    yield from table(heading, (_row(number, tenth) for number, tenth in enumerate(found, 1)))
    yield ""
    peak = max(outcome.samples, key=lambda sample: sample.total_memory)
    by_role = ", ".join(f"{role} {size / _MIB:.0f}" for role, size in peak.memory.items())
    growth = [tenth.bytes_per_page for tenth in found[1:]]
    yield f"- Last tenth by second tenth: {found[9].rate / found[1].rate:.2f}."
    yield f"- Peak memory (PSS of the process tree): {peak.total_memory / _MIB:.0f} MiB ({by_role})."
    yield f"- Database: {outcome.database / 1e6:,.0f} MB; bytes per page from the second tenth on: {min(growth):,.0f} to"
    yield f"  {max(growth):,.0f}; its journal was {max(sample.journal for sample in outcome.samples) / 1e6:,.0f} MB at most."
    rate = len(outcome.requests) / outcome.seconds
    yield f"- Whole run: {outcome.seconds:.1f} s, {rate:.0f} pages/s, start and end included;"
    yield f"  the servers took {outcome.server_seconds:.1f} s of CPU."
    yield from _completeness(outcome)
    yield f"- `parcahyd verify`: {outcome.verified}."


def _row(number: int, tenth: Tenth) -> tuple[str, ...]:
    roles = (f"{tenth.memory[role] / _MIB:.0f}" for role in ROLES)
    rate = f"{tenth.rate:.0f}"
    return str(number), f"{tenth.seconds:.1f}", rate, f"{tenth.peak / _MIB:.0f}", *roles, f"{tenth.bytes_per_page:,.0f}"


def _completeness(outcome: Outcome) -> Iterator[str]:
    times = Counter(Counter((request.host, request.page) for request in outcome.requests).values())
    again = sum(count for number, count in times.items() if number > 1)
    missing = outcome.shape.pages - sum(times.values())
    statuses = Counter(request.status for request in outcome.requests)
    by_status = ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items()))
    yield f"- URLs asked for once: {times[1]:,}, more than once: {again:,}, never: {missing:,}; status {by_status};"
    yield f"  {outcome.others:,} other requests (robots.txt)."


def _curves(outcome: Outcome) -> str:
    """Pages per second and memory, over the pages that were asked for by then."""
    samples = [sample for sample in outcome.samples if sample.requests]
    step = max(1, len(samples) // 200)
    picked = samples[::step]
    rates = [(float(two.requests), (two.requests - one.requests) / (two.at - one.at)) for one, two in pairwise(picked)]
    memory = [(f"{role} MiB", [(float(one.requests), one.memory[role] / _MIB) for one in picked]) for role in ROLES]
    total = ("all MiB", [(float(one.requests), one.total_memory / _MIB) for one in picked])
    return chart("requests", [("requests/s", rates)], [total, *memory])


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A crawl of a synthetic web, tenth by tenth.")
    parser.add_argument("--urls", type=int, default=100_000)
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--addresses", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="another number, another web")
    parser.add_argument("--exponent", type=float, default=1.0, help="how unevenly pages are spread over hosts; 0: evenly")
    parser.add_argument("--workers", type=int, default=0, help="Work.MaxInstances; 0: as many as usable cores")
    parser.add_argument("--dns-latency", type=float, default=0.0)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for PARCAHYD")
    parser.add_argument("--output", type=Path, help="where the crawl is written; default: a memory file system")
    parser.add_argument("--keep-output", type=Path, metavar="FILE", help="keep what the run wrote about itself")
    parser.add_argument("--no-verify", dest="verify", action="store_false")
    parser.add_argument("--report", action="store_true", help="write the section of docs/performance.md")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="scale-", dir=output_folder(chosen.output)) as folder:
        outcome = _measure(chosen, Path(folder))
    lines = list(_lines(outcome, tenths(outcome.requests, outcome.samples), chosen))
    print("\n".join(lines))
    if chosen.report:
        publish("scale", "Scale in one process tree", lines, _curves(outcome))


if __name__ == "__main__":
    main()
