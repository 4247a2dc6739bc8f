"""robots.txt: how many of the standard's cases pass, how long real files take, and which requests failing servers get."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from parcahyd.rules.robots.robots_file import Robots
from tests.conformance.test_real_robots import ARCHIVE, real_files
from tests.conformance.test_robots_spec import DIFFERENT, cases
from tests.support.crawl import Crawl
from tests.support.dns_server import DnsName, DnsServer
from tests.support.endless_robots import EndlessRobots
from tests.support.processes import wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Site, html, redirect

__all__ = ["lines"]

_AGENT = "parcahyd/1.0 (+https://example.com/)"
_URL = "https://example.com/search/x?q=1"
_SILENCE = 3
_SECONDS = 45
"""How long the crawl may wait for tries that fall due."""

_ANSWERS = {
    "500": Answer(status=500),
    "time-out": Answer(silent=True),
    "redirect loop": redirect("/robots.txt"),
    "HTML": html("Welcome", ["/private/page"]),
}


def lines() -> Iterator[str]:
    yield from _cases()
    yield from _real()
    yield from _servers()


def _cases() -> Iterator[str]:
    every = cases()
    passed = sum(Robots.parse(case.robots, case.user_agent).allows(case.url) == case.allowed for case in every)
    yield f"- google/robotstxt-spec-test: {passed} of {len(every)} cases; the others on purpose:"
    for (file, rule, url), reason in DIFFERENT.items():
        yield f"  - `{file}`, `{rule}`, `{url}`: {reason}"


def _real() -> Iterator[str]:
    if not ARCHIVE.exists():
        yield f"- real files: {ARCHIVE.name} is not there"
        return
    took = []
    for name, text in real_files():
        began = time.process_time()
        Robots.parse(text, _AGENT).allows(_URL)
        took.append((time.process_time() - began, len(text), name))
    seconds, size, name = max(took)
    mean = sum(one[0] for one in took) / len(took)
    yield (
        f"- real files: {len(took):,} read, {mean * 1000:.2f} ms each on average; the slowest is {name} with {size:,} bytes: "
        f"{seconds * 1000:.1f} ms (CPU time of reading it and of one verdict)"
    )


def _servers() -> Iterator[str]:
    hosts = {f"{name.lower().replace(' ', '-')}.test": name for name in _ANSWERS}
    names = {host: DnsName((f"127.0.0.{number}",)) for number, host in enumerate(hosts, 2)}
    with (
        SiteServer() as server,
        DnsServer(names) as dns,
        tempfile.TemporaryDirectory(prefix="parcahyd-robots-") as folder,
    ):
        urls = {}
        for host, name in hosts.items():
            pages: dict[str, Page] = {"/": html("Root", ["/private/page"]), "/private/page": html("Private")}
            server.put(host, Site({"/robots.txt": _ANSWERS[name], **pages}))
            urls[host] = server.listen(names[host].addresses[0]).url(host=host)
        endless = EndlessRobots()
        crawl = Crawl(
            Path(folder),
            f"sqlite:///{folder}/crawl.db",
            {
                "Map.Nameservers": [dns.nameserver],
                "Work.HostDelay": 0.2,
                "Work.HostConnections": 1,
                "Work.TimeoutFirstByte": _SILENCE,
                "Work.WaitForRetries": _SECONDS,
                "Work.RetryDelay": 5,
                "Work.VisitSeconds": 20,
            },
        )
        began = time.monotonic()
        with crawl.start(*urls.values(), f"{endless.url}/") as running:
            wait_until(lambda: running.process.poll() is not None, timeout=_SECONDS)
            running.interrupt()
            running.wait(60)
        endless.close()
        yield (
            f"- failing servers, for {_SECONDS} s, with RetryDelay 5 s, HostDelay 0.2 s and TimeoutFirstByte {_SILENCE} s; "
            "the server's log, in seconds since the start:"
        )
        yield ""
        yield "| robots.txt | asked for (seconds) | what follows |"
        yield "|---|---|---|"
        for host, url in urls.items():
            yield f"| {hosts[host]} | {_log(server, host, began)} | {_outcome(crawl, url)} |"
        sent = f"; the server had sent {endless.sent / 2**20:.1f} MiB of 1,024 when the client hung up"
        asked = ", ".join(f"`{target}`" for target in endless.targets)
        yield f"| 1 GB | {asked}{sent} | {_outcome(crawl, f'{endless.url}/')} |"


def _log(server: SiteServer, host: str, began: float) -> str:
    asked: dict[str, list[str]] = {}
    for entry in server.requests(host=host, robots=True):
        asked.setdefault(entry.target, []).append(f"{entry.arrived - began:.1f}")
    return "; ".join(f"`{target}` {', '.join(times)}" for target, times in asked.items())


def _outcome(crawl: Crawl, url: str) -> str:
    shown = {line[:10].strip(): line[11:] for line in crawl.explain(url).splitlines() if line[:10].strip()}
    private = crawl.states().get(f"{url}private/page", crawl.states().get(f"{url}private/x", ("not known", "")))
    robots = shown["robots"].partition("; read")[0]
    return f"{robots}; `/` is {shown['state']}, what `/` links to is {': '.join(filter(None, private))}"
