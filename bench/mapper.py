"""When sites are first asked for while some names are slow to resolve (statement P14).

    python bench/mapper.py [--names 40] [--slow-seconds 3] [--before CHECKOUT]

Every tenth name is answered by the name server three seconds after the first question about it, the others at once. There is a
URL Mapper for every ten names and it takes ten at a time, so each set has a slow one, in its middle. Each name has a loopback
address of its own. For each name: when the name server had answered, and when its site was first asked for; both from the
first question on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import dns.message

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` and `tests` are found when this file is run by its name

from bench.report_page import table
from tests.support.dns_server import DnsName, DnsServer
from tests.support.site_server import SiteServer
from tests.support.sites import html

__all__ = ["Arrival", "lines", "main", "run"]

_ROOT = Path(__file__).resolve().parents[1]
_SET = 10
"""How many names a URL Mapper takes at a time."""
_TIMEOUT = 120.0


@dataclass(frozen=True)
class Arrival:
    """One name; times are in seconds since the first question to the name server."""

    name: str
    slow: bool
    resolved: float
    """When the last question about it was answered; a name may be asked for its IPv4 and its IPv6 addresses."""
    asked_for: float | None
    """When the first request for its site came; None: never."""

    @property
    def waited(self) -> float | None:
        """From the answer to the request."""
        return None if self.asked_for is None else max(0.0, self.asked_for - self.resolved)


class _Resolver(DnsServer):
    """Answers questions about slow names when it has learned the answer: some seconds after the first question, as a recursive
    name server does. Then it logs them."""

    def __init__(self, slow: Collection[str], seconds: float) -> None:
        self._slow = slow
        self._seconds = seconds
        self._first: dict[str, float] = {}
        super().__init__()

    async def answer(self, wire: bytes, transport: str) -> bytes | None:
        name = dns.message.from_wire(wire).question[0].name.to_text(omit_final_dot=True).lower()
        first = self._first.setdefault(name, time.monotonic())
        if name in self._slow:
            await asyncio.sleep(max(0.0, first + self._seconds - time.monotonic()))
        return await super().answer(wire, transport)

    def __enter__(self) -> Self:
        return self

    @property
    def began(self) -> float:
        """When the first question came."""
        return min(self._first.values())


def run(checkout: Path, names: int, place: int, slow_seconds: float, python: str = sys.executable) -> list[Arrival]:
    """Crawl the names' sites with the version in the checkout."""
    hosts = [f"name{number:02}.test" for number in range(names)]
    slow = set(hosts[place::_SET])
    with (
        SiteServer() as sites,
        _Resolver(slow, slow_seconds) as name_server,
        tempfile.TemporaryDirectory(prefix="mapper-") as folder,
    ):
        port = sites.listen("127.0.1.1").port
        for number, host in enumerate(hosts, 1):
            address = f"127.0.1.{number}"
            if number > 1:
                sites.listen(address, port)
            name_server.names[host] = DnsName((address,))
        sites.site().pages["/"] = html("<title>home</title>")
        _crawl(checkout, Path(folder), [f"http://{host}:{port}/" for host in hosts], name_server.nameserver, python)
        return [_arrival(host, host in slow, sites, name_server) for host in hosts]


def _crawl(checkout: Path, folder: Path, seeds: Sequence[str], nameserver: str, python: str) -> None:
    map_conf = {
        "AllowAddresses": ["127.0.0.0/8"],
        "Nameservers": [nameserver],
        "ArgumentUrl": _SET,
        "MaxInstances": max(1, len(seeds) // _SET),
        "DnsTimeout": 30.0,
    }
    work_conf = {"Seeds": list(seeds), "HostDelay": 0, "WaitForRetries": 0}
    for name, settings in (("MapConf", map_conf), ("WorkConf", work_conf)):
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        (folder / f"{name}.toml").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [python, "-m", "parcahyd", "run", "--conf", str(folder)]
    # In the new folder, because `-m` looks for the package in the current one first.
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_TIMEOUT)
    if done.returncode:
        sys.exit(f"the crawl ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")


def _arrival(host: str, slow: bool, sites: SiteServer, names: _Resolver) -> Arrival:
    resolved = max(question.at for question in names.questions(host)) - names.began
    requests = sites.requests(host=host, robots=True)
    asked_for = min(request.arrived for request in requests) - names.began if requests else None
    return Arrival(host, slow, resolved, asked_for)


def lines(arrivals: Sequence[Arrival]) -> Iterator[str]:
    """A line for each name, and a summary of the quick and the slow ones."""
    rows = [
        (one.name, "slow" if one.slow else "", f"{one.resolved:.2f}", *map(_seconds, (one.asked_for, one.waited)))
        for one in arrivals
    ]
    yield from table(("name", "", "resolved after s", "first asked for after s", "s between"), rows)
    yield ""
    for kind, chosen in (("quick", [one for one in arrivals if not one.slow]), ("slow", [one for one in arrivals if one.slow])):
        times = [one.asked_for for one in chosen if one.asked_for is not None]
        waits = [one.waited for one in chosen if one.waited is not None]
        if times:
            yield (
                f"- {len(times)} of {len(chosen)} {kind} names asked for after {statistics.median(times):.2f} s (median), "
                f"{max(times):.2f} s (last); at most {max(waits):.2f} s after they were resolved"
            )


def _seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--names", type=int, default=40, metavar="N", help="how many names, at most 200 (default 40)")
    parser.add_argument(
        "--place",
        type=int,
        default=5,
        choices=range(_SET),
        metavar="N",
        help="the slow name's place in its set, from 0 (default 5)",
    )
    parser.add_argument("--slow-seconds", type=float, default=3.0, metavar="SECONDS", help="default 3")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="another version, beside this one")
    parser.add_argument("--python", default=sys.executable, metavar="PYTHON", help="the interpreter for PARCAHYD")
    chosen = parser.parse_args(arguments)
    checkouts = {"this version": _ROOT, **({"before": chosen.before.resolve()} if chosen.before else {})}
    for title, checkout in checkouts.items():
        print(f"## {title}\n", flush=True)
        print(
            "\n".join(lines(run(checkout, chosen.names, chosen.place, chosen.slow_seconds, chosen.python))) + "\n", flush=True
        )


if __name__ == "__main__":
    main()
