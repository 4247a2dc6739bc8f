"""What one page costs, by activity: fetch, links, move, hash, compress, store; each alone, on the pages of a real site.

    python bench/activities.py SITE [--sites FOLDER] [--pages 2000] [--rounds 5]

The parts are the crawl's own, in its order, each fed with what the one before it gave. Microseconds of CPU per page, all
threads and the kernel's part included; the best of the rounds, which take turns. A whole crawl's CPU per page stands beside
their sum: the difference is what joins them (event loops, politeness, books) and the start of three processes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.contenders.contender import Peers, Task
from bench.contenders.parcahyd import plain
from bench.coverage import walk
from bench.measuring import adopt_orphans, run_measured
from bench.nginx import Nginx, pages_of
from bench.report_page import write_section
from bench.sites import Site, choose_sites
from parcahyd.config.loading import load
from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadRequest, DownloadResult
from parcahyd.core.records import PageRecord
from parcahyd.net.downloader_curl import CurlDownloader
from parcahyd.pipeline.crawl_worker.exchange_facts import head_and_marks
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.new_links import NewLinkFinder
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.html.links import read_links
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.runtime.channel import Channel, socket_pair
from parcahyd.storage.packing import PackedPage, compressor, pack
from parcahyd.storage.store import Store

_CONNECTIONS = 64
_BATCH = 100
_TOGETHER = 8
"""About as many pages as finish together in a worker."""
_ACTIVITIES = {
    "fetch": "libcurl, by the worker's downloader, 64 connections",
    "links": "tags, references, joining, what is new",
    "move": "from one process to the other, through a socket",
    "hash": "SHA-256",
    "compress": "document, at level {level}, and table of links",
    "store": f"SQLite on a memory file system, {_BATCH} pages a transaction",
}


class Line:
    """The pages of a site, taken through the crawl's parts one after the other."""

    def __init__(self, nginx: Nginx, paths: Sequence[str], folder: Path) -> None:
        self._nginx = nginx
        self._paths = paths
        self._folder = folder
        self._work = WorkConf(HostDelay=0, HostConnections=_CONNECTIONS)
        self._fetched: dict[str, DownloadResult] = {}
        self._records: list[PageRecord] = []
        self._stores = 0

    def fetch(self) -> None:
        loop = asyncio.new_event_loop()
        downloader = CurlDownloader(self._work, loop)
        waiting = list(reversed(self._paths))
        left = len(waiting)

        def start() -> None:
            if waiting:
                path = waiting.pop()
                request = DownloadRequest(
                    self._nginx.url(path), "127.0.0.1", self._nginx.port, (("User-Agent", "bench"),), self._work.MaxBytes
                )
                downloader.start(request, lambda result: done(path, result))

        def done(path: str, result: DownloadResult) -> None:
            nonlocal left
            self._fetched[path] = result
            left -= 1
            start()
            if not left:
                loop.stop()

        for _ in range(_CONNECTIONS):
            start()
        loop.run_forever()
        downloader.close()
        loop.close()

    def links(self) -> None:
        room = Room(10**9, 10**9, 10**9)
        origin = self._nginx.url("/")[:-1]
        reader = NewLinkFinder(origin, KnownUrls(b"", True, room), room, self._work.MaxUrlLength)
        self._records = []
        for path in self._paths:
            result = self._fetched[path]
            links = read_links(result.body, "utf-8")
            new = reader.find(origin + path, links, False)
            found, outside = tuple([target for _, target in new.internal]), tuple(new.external)
            self._records.append(_record(path, result, found, outside, links.table))

    def move(self) -> None:
        _Way(self._records).go()

    def hash(self) -> None:
        for record in self._records:
            fingerprint(record.body)

    def compress(self) -> None:
        compress = compressor(self._work)
        for record in self._records:
            compress(record.body)
            compress(record.links)

    def packed(self) -> list[PackedPage]:
        return [pack(record, compressor(self._work), True) for record in self._records]

    def store(self, pages: Sequence[PackedPage]) -> Callable[[], None]:
        """Storing in a new database, which is opened outside of the measured time."""
        self._stores += 1
        file = self._folder / f"{self._stores}.db"
        store = Store.open(f"sqlite:///{file}")
        store.begin_run(load(None, []), 1.0)
        store.add_seeds([self._nginx.url(self._paths[0])], 1.0)
        pairs, _ = store.lease(1, 2.0, 1.0, 10**6, 10**6)
        pair = pairs[0]
        placed = [
            msgspec.structs.replace(packed, page=msgspec.structs.replace(packed.page, visit=pair.visit, site=pair.site))
            for packed in pages
        ]

        def storing() -> None:
            for start in range(0, len(placed), _BATCH):
                store.store_documents(placed[start : start + _BATCH], 3.0)
            store.close()

        return storing


class _Way:
    """From a Crawl Worker to Update Database, both in this process."""

    def __init__(self, records: Sequence[PageRecord]) -> None:
        self._waiting = deque(records)
        self._left = len(records)
        self._loop = asyncio.new_event_loop()
        here, there = socket_pair()
        self._worker = Channel(here, self._loop, PageRecord, self._loop.stop)
        self._update = Channel(there, self._loop, PageRecord, self._loop.stop)
        self._update.on(PageRecord, self._received)

    def go(self) -> None:
        self._loop.call_soon(self._send)
        self._loop.run_forever()
        self._worker.close()
        self._update.close()
        self._loop.close()

    def _send(self) -> None:
        for _ in range(min(_TOGETHER, len(self._waiting))):
            self._worker.send(self._waiting.popleft())
        if self._waiting:
            self._loop.call_soon(self._send)

    def _received(self, _record: PageRecord) -> None:
        self._left -= 1
        if not self._left:
            self._loop.stop()


def _record(path: str, result: DownloadResult, found: tuple[str, ...], outside: tuple[str, ...], table: bytes) -> PageRecord:
    return PageRecord(
        visit=0,
        site=0,
        key=key_of(path),
        path=path,
        depth=0,
        hops=0,
        seed=False,
        fetched_at=3.0,
        status=result.status,
        address="127.0.0.1",
        head=head_and_marks(result)[0],
        etag=result.header("etag"),
        modified=result.header("last-modified"),
        media_type="text/html",
        charset="utf-8",
        body=result.body,
        internal=found,
        external=outside,
        links=table,
    )


def measure(line: Line, pages: int, rounds: int) -> dict[str, float]:
    """Microseconds per page of each activity, the best of the rounds."""
    best = dict.fromkeys(_ACTIVITIES, float("inf"))

    def timed(activity: str, work: Callable[[], None]) -> None:
        began = time.process_time()
        work()
        best[activity] = min(best[activity], 1e6 * (time.process_time() - began) / pages)

    for _ in range(rounds):
        timed("fetch", line.fetch)
        timed("links", line.links)
        timed("move", line.move)
        timed("hash", line.hash)
        timed("compress", line.compress)
        timed("store", line.store(line.packed()))
    return best


def whole_crawl(nginx: Nginx, site: Site, folder: Path) -> float:
    """Microseconds of CPU per page of a whole crawl, the start of its processes included."""
    contender = plain(Peers(sys.executable, None, False, ()))
    output = folder / "crawl"
    output.mkdir()
    mark = nginx.mark()
    command = contender.command(Task(nginx.url(site.start), output, folder))
    usage = run_measured(command, output, output / "output.log", os.environ | contender.environment, 600, nginx.cpu_seconds)
    if usage.exit_code:
        sys.exit((output / "output.log").read_text()[-2000:])
    return 1e6 * usage.cpu_seconds / len(pages_of(nginx.since(mark)))


def table(site: str, pages: int, costs: dict[str, float], whole: float) -> Iterator[str]:
    level = WorkConf().CompressionLevel
    yield f"{site}, {pages:,} pages:\n"
    yield "| activity | what | CPU µs per page |"
    yield "|---|---|---|"
    for activity, what in _ACTIVITIES.items():
        yield f"| {activity} | {what.format(level=level)} | {costs[activity]:.0f} |"
    yield f"| together | | {sum(costs[activity] for activity in _ACTIVITIES):.0f} |"
    yield f"| a whole crawl | with the start of its processes and what joins them | {whole:.0f} |"
    yield ""


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="CPU microseconds per page, by activity.")
    parser.add_argument("names", nargs="*", metavar="SITE", help="a named site or a folder; without any, those that are there")
    parser.add_argument("--sites", type=Path, metavar="FOLDER", help="where packages of named sites are unpacked")
    parser.add_argument("--start", default="index.html", help="the page from which a folder's crawl starts")
    parser.add_argument("--pages", type=int, default=2000, help="at most so many pages of each site, chosen by chance")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--report", type=Path, metavar="PAGE", help="write the section `activities` of this page")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _arguments(arguments)
    adopt_orphans()
    memory = Path("/dev/shm")  # noqa: S108 # folders below it are made by mkdtemp
    with tempfile.TemporaryDirectory(prefix="activities-", dir=memory if memory.is_dir() else None) as scratch:
        lines: list[str] = []
        for site in choose_sites(chosen.names, chosen.sites, Path(scratch), fetch=False, start=chosen.start):
            folder = Path(tempfile.mkdtemp(dir=scratch))
            paths = sorted(quote(path, safe="/!$&'()*+,;=:@~") for path in walk(site.root, site.start).pages)
            random.Random(1).shuffle(paths)
            paths = paths[: chosen.pages]
            with Nginx(site.root, folder) as nginx:
                costs = measure(Line(nginx, paths, folder), len(paths), chosen.rounds)
                lines += table(site.name, len(paths), costs, whole_crawl(nginx, site, folder))
        text = "\n".join(lines)
        print(text)
        if chosen.report:
            command = " ".join(["python", "bench/activities.py", *map(str, chosen.names), "--rounds", str(chosen.rounds)])
            write_section(chosen.report, "activities", f"## Where the time goes\n\n`{command}`\n\n{text}", "Performance")


if __name__ == "__main__":
    main()
