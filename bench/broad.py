"""Crawls many hosts politely and asks: are all of them kept busy, and is none asked too soon?

    python bench/broad.py [--hosts 2000 --addresses 200 --seconds 120 --host-delay 4 --address-delay 0.1 --dns-latency 0.02]

With a delay of 4 seconds 2,000 hosts can be asked 500 times a second; that is the ideal. Everything is measured at the server
(`bench/synthetic_server.py`). A host's gap is from the end of an answer to the beginning of the host's next request, robots.txt
included; an address's gap is from one request's beginning to the next one's, as its delay is while it has several connections.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.report_page import chart, machine, publish, quantiles, table
from bench.synthetic_dns import Question
from bench.synthetic_run import Crawl, Sample, ServedWeb, output_folder, until
from bench.synthetic_server import Request
from bench.synthetic_web import ROBOTS, Shape

__all__ = ["Gaps", "gaps_by_address", "gaps_by_host", "main"]

_CLEARLY = 0.01


@dataclass(frozen=True)
class Gaps:
    """How far apart requests to one subject were, over all subjects."""

    count: int
    smallest: float
    too_short: int
    """Shorter than the delay."""
    much_too_short: int
    """Shorter than the delay by more than 10 ms."""

    @classmethod
    def of(cls, gaps: Sequence[float], delay: float) -> Gaps:
        short = [gap for gap in gaps if gap < delay]
        return cls(len(gaps), min(gaps, default=0.0), len(short), sum(gap < delay - _CLEARLY for gap in short))


def gaps_by_host(requests: Sequence[Request], delay: float) -> Gaps:
    """From the end of an answer to the beginning of the host's next request."""
    last: dict[int, float] = {}
    gaps = []
    for request in requests:
        if request.host in last:
            gaps.append(request.began - last[request.host])
        last[request.host] = max(request.ended, last.get(request.host, 0.0))
    return Gaps.of(gaps, delay)


def gaps_by_address(requests: Sequence[Request], addresses: int, delay: float) -> Gaps:
    """From the beginning of a request to the beginning of the address's next."""
    last: dict[int, float] = {}
    gaps = []
    for request in requests:
        address = request.host % addresses
        if address in last:
            gaps.append(request.began - last[address])
        last[address] = request.began
    return Gaps.of(gaps, delay)


@dataclass(frozen=True)
class Outcome:
    """One broad crawl, as the server, the name server and the kernel saw it; `requests` are those within the time."""

    chosen: argparse.Namespace
    requests: list[Request]
    every_request: list[Request]
    questions: list[Question]
    samples: list[Sample]

    @property
    def began(self) -> float:
        return self.requests[0].began

    def rate(self, after: float = 0.0) -> float:
        """Requests per second from so many seconds after the first request."""
        counted = sum(request.began >= self.began + after for request in self.requests)
        seconds: float = self.chosen.seconds - after
        return counted / seconds

    def curve(self) -> list[tuple[float, float]]:
        """Requests in each second."""
        by_second = Counter(int(request.began - self.began) for request in self.requests)
        return [(second, by_second[second]) for second in range(int(self.chosen.seconds))]


def _measure(chosen: argparse.Namespace, folder: Path) -> Outcome:
    shape = Shape(chosen.hosts * chosen.pages, chosen.hosts, chosen.addresses, exponent=0.0)
    settings = [
        *(f"Work.HostDelay={chosen.host_delay}", f"Work.AddressDelay={chosen.address_delay}", 'Work.Scope="site"'),
        *chosen.set,
    ]
    with ServedWeb(shape, folder, chosen.dns_latency) as served:
        crawl = Crawl(served, folder, [served.web.url(host, 0) for host in range(shape.hosts)], settings)
        try:
            until(lambda: served.requests_so_far() > 0, crawl)
            print(f"crawling, process {crawl.pid}", file=sys.stderr)
            if crawl.wait(chosen.seconds + 1) is not None:
                sys.exit(f"the crawl ended too soon: {crawl.errors.read_text()[-2000:]}")
            crawl.interrupt()
            crawl.wait(120)
        finally:
            crawl.close()
        if chosen.keep_output is not None:
            chosen.keep_output.write_bytes(crawl.output.read_bytes())
    requests = served.requests()
    last = requests[0].began + chosen.seconds
    within = [request for request in requests if request.began < last]
    return Outcome(chosen, within, requests, served.questions(), crawl.samples)


# --- the report --------------------------------------------------------------------------------------------------------


def _lines(outcome: Outcome) -> Iterator[str]:
    chosen, requests = outcome.chosen, outcome.requests
    ideal, settled = chosen.hosts / chosen.host_delay, 2 * chosen.host_delay
    delays = f"HostDelay = {chosen.host_delay:g}, AddressDelay = {chosen.address_delay:g}"
    yield f"{chosen.hosts:,} hosts on {chosen.addresses} addresses for {chosen.seconds:g} s, {delays};"
    yield f"DNS answers after {1000 * chosen.dns_latency:g} ms; {machine()}. Other settings: {', '.join(chosen.set) or 'none'}."
    yield ""
    rows = [("ideal: hosts by delay", f"{ideal:.0f}", "100.0 %")]
    for name, after in (("from the first request", 0.0), (f"from {settled:g} s after it", settled)):
        rate = outcome.rate(after)
        rows.append((name, f"{rate:.1f}", f"{rate / ideal:.1%}".replace("%", " %")))
    yield from table(("", "requests/s", "of the ideal"), rows)
    yield ""
    robots = sum(request.page == ROBOTS for request in requests)
    statuses = Counter(request.status for request in requests)
    by_status = ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items()))
    yield f"- Requests: {len(requests):,}, {robots:,} of them for robots.txt; status {by_status}."
    yield f"- Requests in a second: {quantiles([count for _, count in outcome.curve()], '{:.0f}')}."
    firsts = _first_requests(requests)
    yield f"- Hosts asked: {len(firsts):,}; first request after {quantiles([at - outcome.began for at in firsts], '{:.1f} s')}."
    yield from _gap_lines(outcome)
    latencies = [1000 * (question.answered - question.asked) for question in outcome.questions]
    kinds = Counter("AAAA" if question.kind == 28 else "A" for question in outcome.questions)
    asked = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    yield f"- DNS questions: {asked}; answered after {quantiles(latencies, '{:.1f} ms')}."
    largest = max(outcome.samples, key=lambda sample: sample.total_memory)
    parts = ", ".join(f"{role} {size / 2**20:.0f}" for role, size in largest.memory.items())
    yield f"- Peak memory (PSS of the process tree): {largest.total_memory / 2**20:.0f} MiB ({parts})."


def _gap_lines(outcome: Outcome) -> Iterator[str]:
    chosen = outcome.chosen
    hosts = gaps_by_host(outcome.every_request, chosen.host_delay)
    yield f"- Gaps between requests to one host: {hosts.count:,}, the smallest {hosts.smallest:.4f} s,"
    yield f"  {hosts.too_short:,} shorter than the delay."
    addresses = gaps_by_address(outcome.every_request, chosen.addresses, chosen.address_delay)
    yield f"- Gaps between requests to one address: {addresses.count:,}, the smallest {addresses.smallest:.4f} s,"
    clearly = f"{addresses.much_too_short:,} by more than {1000 * _CLEARLY:.0f} ms"
    yield f"  {addresses.too_short:,} shorter than the delay, {clearly}."


def _first_requests(requests: Sequence[Request]) -> list[float]:
    firsts: dict[int, float] = {}
    for request in requests:
        firsts.setdefault(request.host, request.began)
    return list(firsts.values())


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A broad crawl: many hosts, each with its delay.")
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--addresses", type=int, default=200)
    parser.add_argument("--pages", type=int, default=2000, help="of each host: more than can be asked for")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--host-delay", type=float, default=4.0)
    parser.add_argument("--address-delay", type=float, default=0.1)
    parser.add_argument("--dns-latency", type=float, default=0.02)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for PARCAHYD")
    parser.add_argument("--output", type=Path, help="where the crawl is written; default: a memory file system")
    parser.add_argument("--keep-output", type=Path, metavar="FILE", help="keep what the run wrote about itself")
    parser.add_argument("--report", action="store_true", help="write the section of docs/performance.md")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _arguments(arguments)
    if chosen.pages < chosen.seconds / max(chosen.host_delay, 1e-9):
        sys.exit(f"{chosen.pages} pages of a host are fewer than it can be asked for; give more with --pages")
    with tempfile.TemporaryDirectory(prefix="broad-", dir=output_folder(chosen.output)) as folder:
        outcome = _measure(chosen, Path(folder))
    lines = list(_lines(outcome))
    print("\n".join(lines))
    if chosen.report:
        ideal = chosen.hosts / chosen.host_delay
        drawn = chart("seconds", [("requests/s", outcome.curve()), ("ideal", [(0.0, ideal), (chosen.seconds, ideal)])])
        publish("broad", "Broad crawls", lines, drawn)


if __name__ == "__main__":
    main()
