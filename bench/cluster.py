"""Crawls of a cluster on one machine: does it scale, what does a page cost, who takes turns, and what does each strategy do?

    python bench/cluster.py [scaling] [turns] [traffic] [strategies] [--pipelines 1 2 4 8 --pages 2000 --latency 0.1]

Without a name, all parts. Every pipeline has a machine of its own, and all of them share the cores. The web answers after a
while, so that a pipeline is busy with waiting; rates are those of the middle half of the requests, in which all pipelines work.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` and `tests` are found when this file is run by its name

from bench.report_page import machine, table
from bench.synthetic_run import output_folder
from bench.synthetic_server import Request
from bench.synthetic_web import DOMAIN
from tests.cluster_lab.faults import FAULTS
from tests.cluster_lab.lab import Lab, Plan, open_lab
from tests.cluster_lab.request_log import judge_log
from tests.cluster_lab.scenarios import judge
from tests.cluster_lab.stored_pages import judge_stores
from tests.support.crawl import Setting
from tests.support.processes import wait_until

__all__ = ["PARTS", "Turns", "main", "middle_rate", "turns_of"]

_LIMIT = 3600.0
_FROM, _TO = 0.25, 0.75
"""Of the requests: what lies between is measured."""
_KINDS = ("letters", "bytes", "urls", "spared", "robots")
_CDN_HOSTS, _CDN_ADDRESSES, _CDN_NODES = 40, 2, 3
_TRAFFIC_NODES = 3


class Measured(msgspec.Struct, frozen=True):
    """One crawl."""

    name: str
    pages: int
    rate: float
    """Requests per second in the middle half."""
    cpu: float
    """Seconds of the crawl's processes for each page there."""
    server_cpu: float
    """The same of PostgreSQL."""
    posts: dict[str, int]
    """By kind, as the pipelines last reported it."""


class Turns(msgspec.Struct, frozen=True):
    """How pipelines shared an address."""

    pipelines: int
    passed: int
    """How often it went from one pipeline to another."""
    longest_wait: float
    """Seconds between two requests of one pipeline."""


def turns_of(requests: Sequence[Request], addresses: int, pipeline: Callable[[Request], Hashable]) -> dict[int, Turns]:
    """The turns at each address; requests are in the order of their beginnings."""
    found = {}
    for address in range(addresses):
        here = [request for request in requests if request.host >= 0 and request.host % addresses == address]
        askers = [pipeline(request) for request in here]
        last: dict[Hashable, float] = {}
        longest = 0.0
        for request, asker in zip(here, askers, strict=True):
            longest = max(longest, request.began - last.get(asker, request.began))
            last[asker] = request.began
        passed = sum(one != other for one, other in pairwise(askers))
        found[address] = Turns(len(last), passed, longest)
    return found


def middle_rate(requests: Sequence[Request]) -> float:
    """Requests per second between the first quarter and the last."""
    first, last = int(len(requests) * _FROM), int(len(requests) * _TO)
    return (last - first) / max(requests[last].began - requests[first].began, 1e-9)


# --- scaling -----------------------------------------------------------------------------------------------------------


def _scaling(chosen: argparse.Namespace) -> Iterator[str]:
    """One machine without a hub first, on PostgreSQL as the others are."""
    measured = [_measure(chosen, 1, is_alone=True), *(_measure(chosen, count) for count in chosen.pipelines)]
    alone, first = measured[0], measured[1]
    yield f"Answers after {chosen.latency} s, {chosen.connections} requests at once in a pipeline; {machine()}."
    yield ""
    heading = (
        "pipelines",
        "pages",
        "requests/s",
        "of linear",
        "CPU ms/page",
        "PostgreSQL ms/page",
        "CPU by that without a hub",
    )
    rows = []
    for count, one in zip((1, *chosen.pipelines), measured, strict=True):
        linear = one.rate / (first.rate / chosen.pipelines[0] * count)
        cells = f"{one.rate:.0f}", f"{linear:.2f}", f"{one.cpu * 1e3:.2f}", f"{one.server_cpu * 1e3:.2f}"
        rows.append((one.name, f"{one.pages:,}", *cells, f"{one.cpu / alone.cpu:.2f}"))
    yield from table(heading, rows)
    yield ""
    yield "What pipelines post to each other, for each page:"
    yield ""
    posts = [(one.name, *(f"{one.posts.get(kind, 0) / one.pages:.3f}" for kind in _KINDS)) for one in measured[1:]]
    yield from table(("pipelines", *_KINDS), posts)


def _measure(chosen: argparse.Namespace, pipelines: int, *, is_alone: bool = False) -> Measured:
    pages = chosen.pages * pipelines
    settings = {
        "Work.HostConnections": chosen.connections,
        "Work.Connections": chosen.connections,
        "Work.MaxSize": 500,
        "Work.WaitForRetries": 5,
    }
    plan = Plan(
        nodes=pipelines,
        partitions=pipelines,
        pages=pages,
        hosts=chosen.hosts,
        addresses=chosen.hosts,
        latency=chosen.latency,
        host_delay=0.0,
        address_delay=0.0,
        settings=settings,
    )
    name = "without a hub" if is_alone else str(pipelines)
    print(f"crawling: {name}", file=sys.stderr)
    with _lab(plan, chosen) as lab:
        _begin(lab, is_alone=is_alone)
        cpu, server_cpu = _cpu_between(lab, int(pages * _FROM), int(pages * _TO))
        _wait_for_end(lab)
        posts = Counter[str]() if is_alone else _posts(lab)
        rate = middle_rate(lab.served.requests())
    between = int(pages * _TO) - int(pages * _FROM)
    return Measured(name, pages, rate, cpu / between, server_cpu / between, dict(posts))


def _begin(lab: Lab, *, is_alone: bool) -> None:
    if not is_alone:
        lab.begin()
        return
    (node,) = lab.nodes
    node.command = ["run", "--seed", lab.served.web.url(0, 0)]
    node.start()


def _cpu_between(lab: Lab, first: int, last: int) -> tuple[float, float]:
    """CPU seconds of the crawl and of PostgreSQL between two counts of requests."""

    def spent() -> tuple[float, float]:
        crawl = [process for node in lab.nodes for process in node.processes()]
        return _cpu(crawl), lab.hub.cpu_seconds()

    lab.until(first, _LIMIT)
    before = spent()
    lab.until(last, _LIMIT)
    after = spent()
    return after[0] - before[0], after[1] - before[1]


def _cpu(processes: Sequence[psutil.Process]) -> float:
    seconds = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            seconds += sum(process.cpu_times()[:2])
    return seconds


def _posts(lab: Lab) -> Counter[str]:
    """What the pipelines last reported to have posted."""
    posts = Counter[str]()
    for (content,) in lab.hub.rows("SELECT content FROM parcahyd_hub.reports"):
        posts.update(json.loads(content).get("posts") or {})
    return posts


# --- turns -------------------------------------------------------------------------------------------------------------


def _turns(chosen: argparse.Namespace) -> Iterator[str]:
    yield f"{_CDN_HOSTS} hosts behind {_CDN_ADDRESSES} addresses, {_CDN_NODES} machines; {machine()}."
    yield ""
    rows = [row for by_hand in (True, False) for row in _share(chosen, by_hand=by_hand)]
    heading = ("homes", "address", "pipelines", "turns", "longest wait, s", "host gaps short", "address gaps short", "missing")
    yield from table(heading, rows)


def _share(chosen: argparse.Namespace, *, by_hand: bool) -> Iterator[tuple[str, ...]]:
    """Hosts of one address live on all machines where the homes are written by hand, else where the strategy puts them."""
    plan = Plan(
        nodes=_CDN_NODES,
        partitions=_CDN_NODES,
        pages=chosen.cdn_pages,
        hosts=_CDN_HOSTS,
        addresses=_CDN_ADDRESSES,
        latency=chosen.latency / 5,
        settings={"Work.WaitForRetries": 5},
    )
    name = "by hand" if by_hand else "by hash"
    print(f"crawling: homes {name}", file=sys.stderr)
    with _lab(plan, chosen) as lab:
        lab.make()
        for host in range(_CDN_HOSTS if by_hand else 0):
            place = f"h{host}.{DOMAIN}", host // _CDN_ADDRESSES % _CDN_NODES
            lab.hub.execute("INSERT INTO parcahyd_hub.homes (site, partition) VALUES (%s, %s)", *place)
        lab.start()
        _wait_for_end(lab)
        homes = judge_stores(lab.hub.rows).homes
        requests = lab.served.requests()

    def pipeline(request: Request) -> Hashable:
        return homes.get(f"h{request.host}.{DOMAIN}")

    log = judge_log(lab.served.web, requests, plan.host_delay, plan.address_delay, pipeline)
    for address, turns in turns_of(requests, _CDN_ADDRESSES, pipeline).items():
        counts = str(turns.pipelines), str(turns.passed), f"{turns.longest_wait:.1f}"
        yield name, plan.shape.address(address), *counts, str(log.hosts), str(log.addresses), str(len(log.missing))


# --- traffic -----------------------------------------------------------------------------------------------------------


_FORGETFUL: dict[str, Setting] = {"Work.PostedBytes": 64, "Work.HotUrls": 1}
"""The least that can be set: four URLs and one."""


def _traffic(chosen: argparse.Namespace) -> Iterator[str]:
    """The same crawl with and without the tables of posted and of hot URLs."""
    pages = chosen.pages * _TRAFFIC_NODES
    yield f"{_TRAFFIC_NODES} pipelines, {pages:,} pages; {machine()}."
    yield ""
    ways: dict[str, dict[str, Setting]] = {
        "neither table": _FORGETFUL,
        "posted URLs only": {"Work.HotUrls": 1},
        "hot URLs only": {"Work.PostedBytes": 64},
        "both (the defaults)": {},
    }
    rows = []
    for name, settings in ways.items():
        posts = _posts_of_crawl(chosen, name, settings)
        rows.append((name, *(f"{posts.get(kind, 0) / pages:.4f}" for kind in _KINDS)))
    yield from table(("remembered", *(f"{kind} a page" for kind in _KINDS)), rows)


def _traffic_plan(chosen: argparse.Namespace, settings: dict[str, Setting]) -> Plan:
    fast: dict[str, Setting] = {"Work.HostConnections": 4, "Work.WaitForRetries": 5}
    return Plan(
        nodes=_TRAFFIC_NODES,
        partitions=_TRAFFIC_NODES,
        pages=chosen.pages * _TRAFFIC_NODES,
        hosts=chosen.hosts,
        addresses=chosen.hosts,
        latency=0.0,
        host_delay=0.0,
        address_delay=0.0,
        settings=fast | settings,
    )


def _posts_of_crawl(chosen: argparse.Namespace, name: str, settings: dict[str, Setting]) -> Counter[str]:
    print(f"crawling: {name}", file=sys.stderr)
    with _lab(_traffic_plan(chosen, settings), chosen) as lab:
        lab.begin()
        _wait_for_end(lab)
        return _posts(lab)


# --- strategies --------------------------------------------------------------------------------------------------------

_STRATEGIES = ("hash", "dynamic_size", "superpage")
_SITES = 36
_PLAN_AT, _STRIKE_AT = 0.4, 0.5
"""Of the requests: then a strategy that goes by what it learned plans, and then a machine is killed."""
_PLANS = frozenset({"superpage"})


def _strategies(chosen: argparse.Namespace) -> Iterator[str]:
    """The same crawl by each strategy: sites of very different size, and a machine that is killed."""
    pages = chosen.strategy_pages
    yield f"{_SITES} sites, {pages:,} pages, 3 machines ({chosen.place}), one of them killed at {_STRIKE_AT:.0%}; {machine()}."
    yield ""
    heading = (
        *("strategy", "asked for", "stored", "overlap", "coverage", "again", "host gaps short", "address gaps short"),
        *("letters a page", "bytes a page", "sites moved", "pages by partition", "max : mean", "seconds", "wrong"),
    )
    yield from table(heading, [_by_strategy(chosen, name) for name in chosen.strategies])


def _by_strategy(chosen: argparse.Namespace, name: str) -> tuple[str, ...]:
    print(f"crawling: {name}", file=sys.stderr)
    pages = chosen.strategy_pages
    plan = Plan(chosen.place, pages=pages, hosts=_SITES, addresses=_SITES, exponent=1.0, settings={"Work.Partition": name})
    fault = next(fault for fault in FAULTS if fault.name == "machine killed")
    with _lab(plan, chosen) as lab:
        began = time.monotonic()
        lab.begin()
        if name in _PLANS:
            lab.until(int(pages * _PLAN_AT), _LIMIT)
            print(lab.cluster("partition", name).text, file=sys.stderr)
        lab.until(int(pages * _STRIKE_AT), _LIMIT)
        fault.strike(lab)
        is_over = wait_until(lab.is_over, _LIMIT, pause=0.2) and wait_until(lab.is_free, _LIMIT, pause=0.2)
        outcome = judge(lab, fault, time.monotonic() - began, is_over=is_over)
        posts = _posts(lab)
        ((moved,),) = lab.hub.rows("SELECT coalesce(sum(moves), 0)::int FROM parcahyd_hub.homes")
        stored = [lab.hub.rows(_STORED.format(number))[0][0] for number in range(plan.partitions)]
    mean = sum(stored) / len(stored)
    log, stores = outcome.log, outcome.stores
    return (
        *(name, str(log.asked), str(stores.stored), str(len(stores.twice)), f"{stores.stored / outcome.to_store:.4f}"),
        *(str(log.again), str(log.hosts), str(log.addresses)),
        *(f"{posts['letters'] / pages:.3f}", f"{posts['bytes'] / pages:.1f}", str(moved)),
        *(" ".join(map(str, stored)), f"{max(stored) / mean:.2f}", f"{outcome.seconds:.0f}"),
        "; ".join(outcome.wrong()) or "nothing",
    )


_STORED = "SELECT coalesce(sum(pages), 0)::int FROM parcahyd_p{}.sites"


# --- the command line --------------------------------------------------------------------------------------------------


PARTS: dict[str, Callable[[argparse.Namespace], Iterator[str]]] = {
    "scaling": _scaling,
    "turns": _turns,
    "traffic": _traffic,
    "strategies": _strategies,
}


@contextlib.contextmanager
def _lab(plan: Plan, chosen: argparse.Namespace) -> Iterator[Lab]:
    with (
        tempfile.TemporaryDirectory(prefix="cluster-", dir=output_folder(chosen.output)) as name,
        open_lab(plan, Path(name)) as lab,
    ):
        yield lab


def _wait_for_end(lab: Lab) -> None:
    if not wait_until(lab.has_ended, _LIMIT, pause=0.2):
        sys.exit(f"the crawl does not end:\n{lab.said()}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--pipelines", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--pages", type=int, default=2000, help="of each pipeline")
    parser.add_argument("--cdn-pages", type=int, default=1600)
    parser.add_argument("--strategy-pages", type=int, default=2400)
    parser.add_argument("--strategies", nargs="+", default=_STRATEGIES)
    parser.add_argument("--place", choices=["loopback", "namespaces"], default="namespaces", help="of the strategies")
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--connections", type=int, default=10, help="requests of a pipeline that are under way at once")
    parser.add_argument("--output", type=Path, help="where crawls are written; default: a memory file system")
    chosen = parser.parse_args(arguments)
    for part in chosen.parts or PARTS:
        print(f"## {part}\n", flush=True)
        for line in PARTS[part](chosen):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
