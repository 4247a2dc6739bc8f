"""The paper's experiment on the wall clock: identical crawls with and without tables of links (statement P22).

    python bench/augmented_crawl.py [--rounds 3] [--latency 0.1] [--bandwidth 2] [--report docs/augmented.md]

A server on loopback behaves as if it were far away. In each round every web is crawled once by `parcahyd run` without tables,
and once with each kind that it offers; the order turns from round to round, and ratios are taken within a round. Requests and
bytes are those of the server's log.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.augmented_web import HOME, MAIN, Host, Web, chain_of, offer, tree_of, with_outside
from bench.coverage import walk
from bench.plot import Bar, draw
from bench.report_page import machine, table, write_section
from bench.sites import PACKAGED
from bench.slow_server import Request, read_log
from bench.synthetic_run import output_folder
from bench.synthetic_server import bind
from bench.synthetic_web import Shape

__all__ = ["main"]

_ROOT = Path(__file__).resolve().parents[1]
_MEGABIT = 125_000.0
_MANUAL = "python3.11-doc"
_SMALLEST, _LARGEST = 20_000, 500_000
_WAYS = {
    "never": ("both", "never"),
    **{f"{what}, {eager}": (what, eager) for what in ("tables", "bundle") for eager in ("auto", "always")},
}
"""By name: what the sites offer, and the setting Eager."""


def _size(number: int) -> int:
    """Any size from the smallest to the largest, all orders of magnitude alike; the same for the same page."""
    return int(_SMALLEST * (_LARGEST / _SMALLEST) ** random.Random(number).random())


def _intranet(port: int) -> Web:
    """A site of 15 pages, three links deep, each of which leads to another site of seven, two links deep."""
    return with_outside(tree_of(2, 3), tree_of(2, 2), _size, port)


def _deep(port: int) -> Web:  # noqa: ARG001 # nothing outside
    """One site of 40 pages, each of which leads to the next."""
    return chain_of(40, _size)


def _manual(port: int) -> Web:  # noqa: ARG001 # nothing outside is crawled
    """The pages of a real manual that can be reached from its home page."""
    return {MAIN: _manual_pages()}


@cache
def _manual_pages() -> Host:
    site = PACKAGED[_MANUAL].found([Path("/")])
    if site is None:
        sys.exit(f"{_MANUAL} is not there: install that Debian package, or choose other webs with --web")
    reachable = walk(site.root, site.start)
    return {path: (site.root / path.lstrip("/")).read_bytes() for path in sorted(reachable.pages)}


_WEBS = {"intranet": _intranet, "deep": _deep, "manual": _manual}


class _Run(NamedTuple):
    """One crawl."""

    seconds: float
    """Of the whole command, from its start to its end."""
    requests: list[Request]

    @property
    def pages(self) -> int:
        return sum(request.path.endswith(".html") and request.status == 200 for request in self.requests)

    @property
    def tables(self) -> int:
        return sum(request.path.endswith(".TOL") for request in self.requests)

    @property
    def bytes(self) -> int:
        return sum(request.bytes for request in self.requests)


class _Far:
    """The servers of one web, processes of their own: documents and names."""

    def __init__(self, web: Web, folder: Path, port: int, latency: float, bandwidth: float) -> None:
        for host, files in web.items():
            for path, body in files.items():
                file = folder / "hosts" / host / path.lstrip("/")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(body)
        hosts, self._log = str(len(web)), folder / "requests.log"
        far = ["--latency", str(latency), "--bandwidth", str(bandwidth), "--port", str(port), "--log", str(self._log)]
        names = ["--latency", str(latency), "--log", str(folder / "questions.log"), "--hosts", hosts, "--addresses", hosts]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start(["bench.slow_server", str(folder / "hosts"), "--addresses", hosts, *far])
        self.nameserver = f"127.0.0.1:{self._start(['bench.synthetic_dns', *names])}"

    def __enter__(self) -> _Far:
        return self

    def __exit__(self, *exception: object) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()

    def requests(self) -> list[Request]:
        return read_log(self._log)

    def _start(self, arguments: Sequence[str]) -> int:
        process = subprocess.Popen([sys.executable, "-m", *arguments], cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._processes.append(process)
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said.strip().isdigit():
            sys.exit(f"{arguments[0]} did not start")
        return int(said)


def _crawl(web: Web, port: int, eager: str, latency: float, bandwidth: float, chosen: argparse.Namespace) -> _Run:
    pages = sum(path.endswith(".html") for files in web.values() for path in files)
    with (
        tempfile.TemporaryDirectory(prefix="augmented-", dir=output_folder(None)) as scratch,
        _Far(web, Path(scratch), port, latency, bandwidth) as far,
    ):
        conf = Path(scratch) / "conf"
        conf.mkdir()
        (conf / "MapConf.toml").write_text(f'AllowAddresses = ["127.0.0.0/8"]\nNameservers = ["{far.nameserver}"]\n')
        work = {
            "Seeds": [f"http://{MAIN}:{port}{HOME}"],
            "Scope": "domain",
            "Eager": eager,
            "HostDelay": chosen.delay,
            "HostConnections": chosen.connections,
            "WaitForRetries": 0,
        }
        (conf / "WorkConf.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in work.items()))
        environment = os.environ | {"PYTHONPATH": str(_ROOT)}
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "parcahyd", "run", "--conf", str(conf)],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        run = _Run(time.monotonic() - began, far.requests())
    if done.returncode or run.pages != pages:
        sys.exit(f"a crawl ended with {done.returncode} after {run.pages} of {pages} pages: {done.stderr[-2000:]}")
    return run


# --- rounds --------------------------------------------------------------------------------------------------------------


def _free_port(hosts: int) -> int:
    """A port that is free on all addresses of a web."""
    listeners = bind(Shape(hosts, hosts, hosts))
    port: int = listeners[0].getsockname()[1]
    for listener in listeners:
        listener.close()
    return port


def _play(name: str, bandwidth: float, chosen: argparse.Namespace) -> dict[str, list[_Run]]:
    """All rounds of one web."""
    runs: dict[str, list[_Run]] = {way: [] for way in _WAYS}
    ways = list(_WAYS)
    for number in range(chosen.rounds):
        turn = number % len(ways)
        for way in ways[turn:] + ways[:turn]:
            what, eager = _WAYS[way]
            port = _free_port(len(_WEBS[name](0)))
            run = _crawl(offer(_WEBS[name](port), what), port, eager, chosen.latency, bandwidth, chosen)
            runs[way].append(run)
            figures = f"{run.seconds:.1f} s, {len(run.requests)} requests, {run.tables} of them for tables"
            print(f"{name}, {_bandwidth_words(bandwidth)}, round {number + 1}, {way}: {figures}", file=sys.stderr, flush=True)
    return runs


def _bandwidth_words(bandwidth: float) -> str:
    return "unlimited bandwidth" if bandwidth == inf else f"{bandwidth / _MEGABIT:g} Mbit/s"


def _spread(values: Sequence[float], form: str) -> str:
    low, middle, high = (format(value, form) for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})" if len(values) > 1 else middle


def _rows(runs: dict[str, list[_Run]]) -> Iterator[tuple[str, ...]]:
    for way, own in runs.items():
        ratios = [100 * (run.seconds / before.seconds - 1) for run, before in zip(own, runs["never"], strict=True)]
        yield (
            way,
            _spread([run.seconds for run in own], ".1f"),
            "" if way == "never" else _spread(ratios, "+.1f"),
            str(own[0].pages),
            _spread([len(run.requests) for run in own], ".0f"),
            _spread([run.tables for run in own], ".0f"),
            f"{statistics.median(run.bytes for run in own) / 1e6:.2f}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--web", action="append", choices=list(_WEBS), help="only this one; may be repeated")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds of a round trip")
    parser.add_argument(
        "--bandwidth", type=float, action="append", help="Mbit/s of each connection, 0: unlimited; may be repeated"
    )
    parser.add_argument("--connections", type=int, default=8, help="to one host")
    parser.add_argument("--delay", type=float, default=0.0, help="HostDelay")
    parser.add_argument("--report", type=Path, metavar="PAGE", help="write the section `crawl` of a page, and a picture")
    chosen = parser.parse_args()
    heading = ("with", "seconds", "time, % against never", "pages", "requests", "of them tables", "MB")
    lines, panels = [], []
    for bandwidth in [number * _MEGABIT or inf for number in chosen.bandwidth or (2.0, 0.0)]:
        for name in chosen.web or ("intranet", "deep"):
            runs = _play(name, bandwidth, chosen)
            title = f"{name}, {_bandwidth_words(bandwidth)}"
            lines += ["", f"### {title[0].upper()}{title[1:]}", "", *table(heading, _rows(runs))]
            bars = [
                Bar(way, min(seconds), statistics.median(seconds), max(seconds), len(seconds), ",.1f")
                for way, own in runs.items()
                for seconds in [[run.seconds for run in own]]
            ]
            panels.append((title, bars))
    options = " ".join(sys.argv[1:]).partition("--report")[0].strip()
    about = (
        f"Round trip {chosen.latency * 1000:g} ms, pages of {_SMALLEST // 1000} to {_LARGEST // 1000} kB, {chosen.connections} "
        f"connections to a host, delay {chosen.delay:g} s, {chosen.rounds} rounds; median (smallest to largest). {machine()}."
    )
    text = "\n".join(
        ["## The paper's experiment", "", f"    python bench/augmented_crawl.py {options}".rstrip(), "", about, *lines]
    )
    if not chosen.report:
        print(text)
        return
    picture = chosen.report.with_name(f"{chosen.report.stem}-crawl.svg")
    title = "Seconds of identical crawls with and without tables of links"
    picture.write_text(draw(panels, title=title, measure="seconds, median (range)", ours="never"), encoding="utf-8")
    write_section(chosen.report, "crawl", f"{text}\n\n![{title}]({picture.name})", "What augmented hypertext wins and costs")


if __name__ == "__main__":
    main()
