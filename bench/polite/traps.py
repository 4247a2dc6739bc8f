"""A hostile site: the crawl ends, says what it fetched and what it refused and why, and its memory stays flat."""

from __future__ import annotations

import hashlib
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psutil

from tests.support.crawl import Crawl, Setting
from tests.support.dns_server import DnsName, DnsServer
from tests.support.processes import KINDS, kind_of, marked_processes
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Request, Site, html, redirect, robots

__all__ = ["lines"]

_HOSTS = tuple(f"trap{number}.test" for number in range(1, 7))
_REAL = 200
_TWINS = 1_000_000
_LINKS = 100_000
_LISTED = 1_000
_PATIENCE = 900.0
_SAMPLES = 10


def lines() -> Iterator[str]:
    yield (
        f"{len(_HOSTS)} sites, each with an endless calendar, session ids in every link, paths that repeat themselves, "
        f"{_TWINS:,} near-identical pages, redirect loops, sitemaps that name each other without end, {_LINKS:,} links on one "
        f"page, and {_REAL} real pages between them. Default limits; no delay, eight connections for each."
    )
    with (
        SiteServer() as server,
        DnsServer({host: DnsName((f"127.0.0.{number}",)) for number, host in enumerate(_HOSTS, 2)}) as dns,
        tempfile.TemporaryDirectory(prefix="parcahyd-traps-") as folder,
    ):
        seeds = []
        for number, host in enumerate(_HOSTS, 2):
            listener = server.listen(f"127.0.0.{number}")
            server.put(host, _site(listener.url("/nested/1.xml", host)))
            seeds.append(listener.url(host=host))
        settings: dict[str, Setting | None] = {"Map.Nameservers": [dns.nameserver], "Work.MaxInstances": 2}
        crawl = Crawl(Path(folder), f"sqlite:///{folder}/crawl.db", settings)
        memory = _Memory(crawl.mark)
        memory.start()
        began = time.monotonic()
        crawl.run(*seeds, timeout=_PATIENCE)
        seconds = time.monotonic() - began
        samples = memory.stop()
        crawl.verify()
        yield ""
        ended = f"The crawl ended by itself after {seconds:.0f} s with {len(server.log):,} requests"
        yield f"{ended}; `parcahyd verify` finds nothing."
        yield ""
        yield from _table(server, crawl)
        yield ""
        yield from _memory(samples)


def _table(server: SiteServer, crawl: Crawl) -> Iterator[str]:
    asked = Counter(_kind(target) for target in server.targets())
    refused: dict[str, Counter[str]] = {}
    stored: Counter[str] = Counter()
    for line in crawl.urls():
        kind = _kind(line["url"].partition("://")[2].partition("/")[2].join(("/", "")))
        if line["state"] == "refused":
            refused.setdefault(kind, Counter())[line["reason"]] += 1
        stored[kind] += line["state"] == "stored" and not line["reason"]
    yield "| part of the sites | requests | documents stored | URLs refused and recorded, by reason |"
    yield "|---|---|---|---|"
    for kind in sorted({*asked, *refused}, key=lambda each: -asked[each]):
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in refused.get(kind, Counter()).most_common())
        yield f"| {kind} | {asked[kind]:,} | {stored[kind]:,} | {reasons or '-'} |"


def _kind(target: str) -> str:
    kind = target.split("/")[1].partition("?")[0]
    return kind if hasattr(_Trap, f"_{kind}") or kind in ("real", "loop", "many", "map") else "home and lists"


class _Trap:
    """Answers every path below its own kinds of traps, for ever."""

    def __init__(self) -> None:
        self._sessions = count()

    def __call__(self, request: Request) -> Answer:
        answer = getattr(self, f"_{request.target.split('/')[1].partition('?')[0]}", None)
        found: Answer = answer(request) if answer is not None else Answer(b"<p>no such page", status=404)
        return found

    def _calendar(self, request: Request) -> Answer:
        year, month = map(int, request.target.split("/")[2:4])
        later, earlier = (year + month // 12, month % 12 + 1), (year - (month == 1), (month - 2) % 12 + 1)
        return html(f"{year}-{month}", [f"/calendar/{a}/{b:02}" for a, b in (later, earlier)], extra=_prose(request.target))

    def _session(self, request: Request) -> Answer:
        """Every link has a session id that was never there before."""
        session = hashlib.sha256(b"%d" % next(self._sessions)).hexdigest()[:32]
        return html(
            request.target, [f"/session/{page}?PHPSESSID={session}" for page in range(20)], extra=_prose(request.target)
        )

    def _repeat(self, request: Request) -> Answer:
        """A relative link that leads one level deeper each time."""
        return html(request.target, ["images/", "pages/"], extra=_prose(request.target))

    def _twin(self, request: Request) -> Answer:
        """One of a million pages that differ in a number, and link to others."""
        number = int(request.target.rpartition("=")[2])
        others = "".join(f'<a href="/twin?item={(number * 7 + step) % _TWINS}">more</a>' for step in range(1, 21))
        return html(f"Item {number}", extra=f"<p>{number}</p>{_prose('twins')}{others}")

    def _onward(self, request: Request) -> Answer:
        return redirect(f"/onward/{int(request.target.rpartition('/')[2]) + 1}")

    def _nested(self, request: Request) -> Answer:
        """A sitemap that names itself and sitemaps that were never there before."""
        number = int(request.target.rpartition("/")[2].removesuffix(".xml"))
        names = "".join(f"<sitemap><loc>/nested/{one}.xml</loc></sitemap>" for one in (number, 2 * number + 1, 2 * number + 2))
        return Answer(f"<sitemapindex>{names}</sitemapindex>".encode(), media_type="application/xml")


def _site(sitemap: str) -> Site:
    real = {f"/real/{number}": html(f"Page {number}", ["/"], extra=_prose(f"real {number}")) for number in range(_REAL)}
    pages: dict[str, Page] = {
        **real,
        "/robots.txt": robots(f"User-agent: *\nDisallow:\nSitemap: {sitemap}\n"),
        "/loop/a": redirect("/loop/b"),
        "/loop/b": redirect("/loop/a"),
        "/list": html("List", [f"/twin?item={number * (_TWINS // _LISTED)}" for number in range(_LISTED)]),
        "/many": html("Many", [f"/x/y/x/y/x/y/{number}" for number in range(_LINKS)]),
    }
    traps = [f"/calendar/{time.gmtime().tm_year}/05", "/session/0", "/repeat/", "/onward/1"]
    return Site({"/": html("Home", [*(page for page in pages if page != "/robots.txt"), *traps]), **pages}, _Trap())


def _prose(seed: str) -> str:
    """Text that no other page has."""
    words = hashlib.shake_256(seed.encode()).hexdigest(600)
    return "<p>" + " ".join(words[start : start + 6] for start in range(0, len(words), 6)) + "</p>"


class _Memory(threading.Thread):
    """The PSS of all processes of the crawl, by role, five times a second."""

    def __init__(self, mark: str) -> None:
        super().__init__(daemon=True)
        self._mark = mark
        self._over = threading.Event()
        self._processes: list[psutil.Process] = []
        self._samples: list[Counter[str]] = []

    def run(self) -> None:
        for number in count():
            if self._over.wait(0.2):
                return
            if number % 10 == 0 or len(self._processes) < 4:  # A look at all processes of the machine takes long.
                self._processes = marked_processes(self._mark)
            sample: Counter[str] = Counter()
            for process in self._processes:
                try:
                    sample[kind_of(process) or "others"] += process.memory_full_info().pss
                except psutil.Error:
                    continue
            if sample:
                self._samples.append(sample)

    def stop(self) -> list[Counter[str]]:
        self._over.set()
        self.join()
        return self._samples


def _memory(samples: list[Counter[str]]) -> Iterator[str]:
    tenth = max(1, -(-len(samples) // _SAMPLES))
    parts = [samples[start : start + tenth] for start in range(0, len(samples), tenth)]
    yield "PSS in MiB, the largest in each tenth of the crawl: of the process tree, and of its processes by role."
    yield ""
    for role in ("together", *KINDS):
        peaks = [max(sample.total() if role == "together" else sample[role] for sample in part) / 2**20 for part in parts]
        yield f"- {role}: {', '.join(f'{peak:.0f}' for peak in peaks)}"
