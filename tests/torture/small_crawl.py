"""A small crawl of two hosts with names, pages, a redirect and a dead link, and what it must come to whatever fails in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.crawl import Crawl, Finished, Setting
from tests.support.dns_server import DnsName, DnsServer
from tests.support.generated_site import generated_site
from tests.support.processes import TEST_TIMEOUT, marked_processes, wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Request, Site, html, redirect
from tests.torture.outcomes import KILLED, STOPPED, WENT_ON

__all__ = ["BROKEN_ANSWERS", "Outcome", "SmallCrawl", "small_crawl"]

BROKEN_ANSWERS = {
    "reset": Answer(hang_up=True),
    "cut": Answer(b"x" * 5000, cut=100),
    "error": Answer(b"an error", status=500),
}

_SETTINGS: dict[str, Setting | None] = {
    "Work.HostConnections": 2,
    "Work.MaxSize": 4,
    "Work.RetryDelay": 0.1,
    "Work.WaitForRetries": 30,
    "Map.DnsResolverClass": "dnspython",
}


@dataclass(frozen=True)
class Outcome:
    """What came of a run in which something failed."""

    struck: bool
    """The run came as far as the call that was to fail."""
    kind: str
    """One of `outcomes.OUTCOMES`. After each the crawl was complete and the same, if need be by the next run."""


@dataclass
class _Breaking:
    """Breaks one answer of all sites together."""

    left: int = 0
    """After how many requests; 0: never."""
    answer: Answer = BROKEN_ANSWERS["reset"]

    def wrap(self, site: Site) -> Site:
        def answer(request: Request) -> Answer:
            self.left -= 1
            return self.answer if self.left == 0 else site.answer(request)

        return Site(otherwise=answer)


@dataclass
class SmallCrawl:
    """The servers, and what a crawl without any fault stores."""

    folder: Path
    seeds: tuple[str, ...]
    settings: dict[str, Setting | None]
    states: dict[str, tuple[str, str]]
    digests: dict[str, str]
    breaking: _Breaking
    _number: int = 0

    def with_broken_answer(self, number: int, kind: str) -> Outcome:
        """Crawls while the server breaks its answer to the request with that number."""
        self.breaking.left, self.breaking.answer = number, BROKEN_ANSWERS[kind]
        crawl = self._crawl()
        finished = crawl.run(*self.seeds)
        assert "Traceback" not in finished.err, finished.err
        self._compare(crawl, f"answer {number} {kind}")
        return Outcome(self.breaking.left <= 0, WENT_ON)

    def with_fault(self, fault: str) -> Outcome:
        """Crawls with a fault (`faulty_process`). If that ends the run, a second one without a fault has to complete it."""
        crawl = self._crawl()
        mark = crawl.folder / "struck"
        crawl.module = "tests.torture.faulty_process"
        crawl.environment = {"PARCAHYD_FAULT": fault, "PARCAHYD_FAULT_MARK": str(mark)}
        first = crawl.run(*self.seeds, code=None)
        assert wait_until(lambda: not marked_processes(crawl.mark)), f"{fault}: {marked_processes(crawl.mark)} stayed"
        kind = _kind_of(fault, first)
        if kind != WENT_ON:
            crawl.module, crawl.environment = "parcahyd", {}
            crawl.run(*self.seeds)
        struck = mark.exists()
        self._compare(crawl, f"{fault} ({kind}):\n{first.text[-2000:]}\n{first.err}")
        return Outcome(struck, kind)

    def _crawl(self) -> Crawl:
        self._number += 1
        folder = self.folder / f"{self._number:04}"
        return Crawl(folder, f"sqlite:///{folder / 'crawl.db'}", self.settings)

    def _compare(self, crawl: Crawl, what: str) -> None:
        assert crawl.states() == self.states, what
        assert crawl.digests() == self.digests, what
        crawl.verify()
        shutil.rmtree(crawl.folder)


def _kind_of(fault: str, finished: Finished) -> str:
    """How a run ended. One that stops says why in a line; only one whose every process was killed says nothing."""
    said = f"{fault}: exit {finished.code}\n{finished.err}"
    if finished.code == -9:
        assert "kill-all" in fault, said
        return KILLED
    assert finished.code in (0, 1, 2), said
    assert "Traceback" not in finished.err, said
    if finished.code == 0:
        return WENT_ON
    assert finished.err.strip(), said
    return STOPPED


@contextmanager
def small_crawl(folder: Path) -> Iterator[SmallCrawl]:
    """Servers for a name each, and a first crawl of them, to compare the others with."""
    names = {name: DnsName(("127.0.0.1",)) for name in ("a.test", "b.test")}
    with SiteServer() as server, DnsServer(names) as name_server:
        listener = server.listen()
        breaking = _Breaking()
        seeds = tuple(listener.url(host=name) for name in names)
        for number, name in enumerate(names):
            site = generated_site(5, seed=number, abroad=seeds)
            site.pages["/"] = html("Front", ["/moved", "/nothing"], extra=site.bodies()["/"].decode())
            site.pages["/moved"] = redirect("/target")
            site.pages["/target"] = html(f"Target of {name}")
            server.put(name, breaking.wrap(site))
        settings = {**_SETTINGS, "Map.Nameservers": [name_server.nameserver]}
        calm = Crawl(folder / "calm", f"sqlite:///{folder / 'calm' / 'crawl.db'}", settings)
        calm.run(*seeds, timeout=TEST_TIMEOUT)
        states, digests = calm.states(), calm.digests()
        assert len(digests) == 12
        yield SmallCrawl(folder, seeds, settings, states, digests, breaking)
