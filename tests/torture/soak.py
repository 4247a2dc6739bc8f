"""Crawls of a synthetic web while faults strike at random, each compared with a crawl without faults.

    python -m tests.torture.soak --minutes 10

A round crawls the web into an empty database. Processes are killed, answers break or are late, and names do not resolve, until
the web is crawled or the time is up. Then a run without faults completes the crawl, and every URL must be in the same state,
for the same reason and with the same document, as in a crawl without faults. It prints the faults by kind and the differences,
and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dns.rcode
import psutil

from bench.synthetic_web import DOMAIN, NO_HOST, Shape, Web
from tests.support.crawl import Crawl, Running, Setting
from tests.support.dns_server import DnsName, DnsServer
from tests.support.processes import Kind, end_all, marked_processes, process_of_kind, wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Request, Site

__all__ = ["Soak", "soak"]

_SETTINGS: dict[str, Setting | None] = {
    "Work.Scope": "domain",
    "Work.Domains": [DOMAIN],
    "Work.MaxInstances": 2,
    "Work.HostConnections": 4,
    "Work.BufferBytes": 1 << 20,
    "Work.MaxSize": 20,
    # Nothing is given up because of faults, and what failed is tried again soon.
    "Work.MaxTries": 1000,
    "Work.RetryDelay": 0.1,
    "Work.WaitForRetries": 600,
}
_KILLED: dict[str, Kind] = {
    "kill a worker": "worker",
    "kill Update Database": "update database",
    "kill the coordinator": "coordinator",
}
_ANSWERS: dict[str, Answer] = {
    "reset answers": Answer(hang_up=True),
    "cut answers": Answer(b"x" * 5000, cut=100),
    "refuse answers": Answer(b"busy", status=503),
}
_LATE = "late answers"
_NAMES = "fail names"
_ALL = "kill everything"
_KINDS = (*_KILLED, _ALL, *_ANSWERS, _LATE, _NAMES)
_EXPECTED = (0, 1, 130, -signal.SIGKILL, -signal.SIGTERM)
"""Exit codes: done, Update Database is gone, ended by us, killed, ended by us before it listened."""
_SHARE = 0.2
"""Of the answers, while a fault of the server lasts."""


@dataclass
class Soak:
    """A web with servers in which faults can be switched on, and what a crawl of it comes to without them."""

    folder: Path
    web: Web
    server: SiteServer
    names: DnsServer
    chance: random.Random
    states: dict[str, tuple[str, str]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    rounds: int = 0
    _active: str = ""

    def answer(self, request: Request) -> Answer:
        """The web's answer, or what the active fault makes of it; robots.txt is spared."""
        host = self.web.host_of(request.host.encode())
        if host == NO_HOST:
            return Answer(b"no such host", status=421)
        page = self.web.page_of(host, request.target.encode())
        given = self.web.answer(host, page)
        is_struck = page >= 0 and self._active and self.chance.random() < _SHARE
        if is_struck and self._active in _ANSWERS:
            return _ANSWERS[self._active]
        headers = (("Location", given.location.decode()),) if given.location else ()
        return Answer(given.body, status=given.status, headers=headers, delay=0.5 if is_struck else 0.0)

    def crawl(self, name: str) -> Crawl:
        folder = self.folder / name
        settings = {**_SETTINGS, "Map.Nameservers": [self.names.nameserver]}
        return Crawl(folder, f"sqlite:///{folder / 'crawl.db'}", settings)

    @property
    def seed(self) -> str:
        return self.web.url(0, 0)

    def crawl_calmly(self) -> None:
        calm = self.crawl("calm")
        calm.run(self.seed, timeout=3600)
        self.states, self.digests = calm.states(), calm.digests()

    # --- faults ---------------------------------------------------------------------------------------------------------

    def strike(self, running: Running) -> None:
        """One fault of a random kind, in a run that is under way."""
        kind = self.chance.choice(_KINDS)
        if kind in _KILLED:
            victim = process_of_kind(running.mark, _KILLED[kind])
            if victim is None:
                return
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        elif kind == _ALL:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.process.pid, signal.SIGKILL)
        elif kind == _NAMES:
            self._fail_names()
        else:
            self._active = kind
            time.sleep(self.chance.random())
            self._active = ""
        self.faults[kind] += 1

    def _await_moment(self, running: Running, is_over: Callable[[], bool]) -> None:
        """A few faults fall while a run starts, the others when it has sent some requests, however slow the machine is."""
        if self.chance.random() < 0.2:
            time.sleep(self.chance.random())
            return
        enough = len(self.server.log) + self.chance.randint(1, max(2, self.web.shape.pages // 20))
        wait_until(lambda: len(self.server.log) >= enough or running.process.poll() is not None or is_over())

    def _fail_names(self) -> None:
        failing = self.chance.sample(sorted(self.names.names), max(1, len(self.names.names) // 3))
        usual = {name: self.names.names[name] for name in failing}
        self.names.names.update(dict.fromkeys(failing, DnsName(rcode=dns.rcode.SERVFAIL)))
        time.sleep(self.chance.random())
        self.names.names.update(usual)

    # --- a round --------------------------------------------------------------------------------------------------------

    def round(self, is_over: Callable[[], bool]) -> None:
        """One crawl with faults until it is complete or `is_over`, then without faults, and the comparison."""
        self.rounds += 1
        crawl = self.crawl(f"round-{self.rounds}")
        is_complete = False
        while not is_complete and not is_over():
            with crawl.start(self.seed) as running:
                while running.process.poll() is None and not is_over():
                    self._await_moment(running, is_over)
                    if running.process.poll() is None:
                        self.strike(running)
                if running.process.poll() is None:
                    running.terminate()
                code = running.wait()
                is_complete = code == 0
                if code not in _EXPECTED or "Traceback" in running.said():
                    self.differences.append(f"a run ended with {code}: {running.said()[-2000:]}")
                if not wait_until(lambda: not marked_processes(crawl.mark)):
                    self.differences.append(f"processes stayed: {marked_processes(crawl.mark)}")
                    end_all(marked_processes(crawl.mark))
        crawl.run(self.seed, timeout=3600)
        self._compare(crawl)

    def _compare(self, crawl: Crawl) -> None:
        states, digests = crawl.states(), crawl.digests()
        for url in sorted(states.keys() | self.states.keys()):
            if states.get(url) != self.states.get(url):
                self.differences.append(f"{url}: {states.get(url)}, without faults {self.states.get(url)}")
            elif digests.get(url) != self.digests.get(url):
                self.differences.append(f"{url}: another document")
        crawl.verify()

    def report(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.faults.items()))
        lines = [
            f"rounds: {self.rounds}, URLs: {len(self.states)}, documents: {len(self.digests)}",
            f"faults: {kinds or 'none'}",
        ]
        return "\n".join([*lines, f"differences: {len(self.differences)}", *self.differences[:20]])


@contextmanager
def soak(folder: Path, shape: Shape, seed: int) -> Iterator[Soak]:
    """The servers of a web, and a first crawl without faults."""
    names = {f"h{host}.{DOMAIN}": DnsName(("127.0.0.1",), ttl=1) for host in range(shape.hosts)}
    with SiteServer() as server, DnsServer(names) as name_server:
        listener = server.listen()
        made = Soak(folder, Web(shape, listener.port, robots=True), server, name_server, random.Random(seed))
        server.put("", Site(otherwise=made.answer))
        made.crawl_calmly()
        yield made


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--hosts", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="chooses the faults; it is printed")
    given = parser.parse_args()
    print(f"--seed {given.seed}", flush=True)
    end = threading.Event()
    shape = Shape(given.pages, given.hosts, 1)
    with tempfile.TemporaryDirectory(prefix="parcahyd-soak-") as folder, soak(Path(folder), shape, given.seed) as made:
        timer = threading.Timer(given.minutes * 60, end.set)
        timer.daemon = True
        timer.start()
        while not end.is_set():
            made.round(end.is_set)
        print(made.report(), flush=True)
        return 1 if made.differences else 0


if __name__ == "__main__":
    sys.exit(main())
