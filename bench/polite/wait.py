"""A server that answers 429 with Retry-After after ten requests: how long it then gets no request, under all of its names."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from tests.support.crawl import Crawl, Setting
from tests.support.dns_server import DnsName, DnsServer
from tests.support.generated_site import generated_site
from tests.support.processes import marked_processes, wait_until
from tests.support.site_server import LogEntry, SiteServer
from tests.support.sites import Answer, Page, Request, Site

__all__ = ["lines"]

_HOSTS = ("one.test", "two.test", "three.test")
_PAGES = 20
_AFTER = 10
_SECONDS = 6
_AROUND = 3


def lines() -> Iterator[str]:
    yield f"Three hosts of {_PAGES} pages on one address."
    yield f"One answer, after {_AFTER} requests, is 429 with `Retry-After: {_SECONDS}`."
    for is_killed in (False, True):
        yield ""
        yield from _crawl(is_killed)


def _crawl(is_killed: bool) -> Iterator[str]:
    with (
        SiteServer() as server,
        DnsServer({host: DnsName(("127.0.0.1",)) for host in _HOSTS}) as dns,
        tempfile.TemporaryDirectory(prefix="parcahyd-wait-") as folder,
    ):
        listener = server.listen()
        server.put("", _asking_to_wait(generated_site(_PAGES)))
        settings: dict[str, Setting | None] = {
            "Map.Nameservers": [dns.nameserver],
            "Work.MaxInstances": 2,
            "Work.WaitForRetries": 30,
            "Work.HostDelay": 0.05,
        }
        crawl = Crawl(Path(folder), f"sqlite:///{folder}/crawl.db", {**settings, "Work.HostConnections": 1})
        seeds = [listener.url(host=host) for host in _HOSTS]
        events: dict[float, str] = {}
        if is_killed:
            with crawl.start(*seeds) as running:
                wait_until(lambda: any(entry.status == 429 and entry.ended for entry in list(server.log)), pause=0.001)
                asked_at = time.monotonic()
                processes = marked_processes(crawl.mark)
                time.sleep(max(0.0, asked_at + 1 - time.monotonic()))
                events[time.monotonic()] = "killed"
                for process in processes:
                    process.kill()
                running.process.wait()
                events[time.monotonic()] = "started again"
                with crawl.start(*seeds) as again:
                    again.wait(120)
            yield f"SIGKILL for all {len(processes)} processes 1 s after the 429, and started again at once:"
        else:
            yield "Undisturbed:"
            crawl.run(*seeds, timeout=120)
        yield ""
        yield from _log(server.log, events)
        crawl.verify()
        yield f"In the end {len(crawl.stored())} of {len(_HOSTS) * _PAGES} pages are stored; `parcahyd verify` finds nothing."


def _asking_to_wait(site: Site) -> Site:
    asked = count()

    def guarded(page: Page) -> Callable[[Request], Answer]:
        def answer(request: Request) -> Answer:
            if next(asked) == _AFTER:
                return Answer(status=429, headers=(("Retry-After", str(_SECONDS)),))
            return page(request) if callable(page) else page

        return answer

    return Site({target: guarded(page) for target, page in site.pages.items()})


def _log(log: list[LogEntry], events: dict[float, str]) -> Iterator[str]:
    ordered = sorted(log, key=lambda entry: entry.arrived)
    at = next(number for number, entry in enumerate(ordered) if entry.status == 429)
    asked = ordered[at]
    shown = {entry.arrived: f"{entry.status}  {entry.host}{entry.target}" for entry in ordered[at - 2 : at + _AROUND + 1]}
    for when, words in sorted((shown | events).items()):
        yield f"    {when - asked.ended:+8.3f} s  {words}"
    first: dict[str, float] = {}
    for entry in ordered[at + 1 :]:
        first.setdefault(entry.host.partition(":")[0], entry.arrived - asked.ended)
    yield ""
    firsts = ", ".join(f"{host} after {seconds:.2f} s" for host, seconds in first.items())
    yield f"First request of each host after the 429: {firsts}. Silence: {min(first.values()):.2f} s."
