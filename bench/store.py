"""Measures the store by itself: how long a crawl waits for it at the start, and what a page costs it.

    python bench/store.py [--pages 10000] [--batch 100]

The start is that of fresh processes: import, open, begin a run, add a seed, lease. Then made-up pages, packed beforehand, go
through `store_extern` and `store_documents` in batches, as a crawl of one site sends them, into SQLite on a memory file system
where there is one. Times are CPU time.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.records import ExternRecord, PageRecord, SiteLease, VisitOver
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.packing import PackedPage
from parcahyd.storage.store import Store

__all__ = ["Cost", "fill", "main", "start"]

_NOW = 1_700_000_000.0
_FAN_OUT = 12
"""URLs that a page is the first to name, until there are enough."""

_SITES = 500
"""Other sites; each page is the first to name a URL of one of them."""

_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: nginx\r\n"
    b"Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n\r\n"
)

_START = """
import sys, time
from parcahyd.config.schema import Configuration, MapConf, WorkConf
before = time.process_time()
from parcahyd.storage.store import Store
imported = time.process_time()
with Store.open(sys.argv[1]) as store:
    store.begin_run(Configuration(MapConf(), WorkConf()), 1.0)
    store.add_seeds(["http://site.example/"], 1.0)
    store.lease(10, 1.0, 1.0, 100, 1000)
    print(imported - before, time.process_time() - imported)
"""


@dataclass
class Cost:
    """What filling a store cost, per page."""

    documents: float
    """Microseconds of CPU in `store_documents`."""
    extern: float
    stored: int
    """Bytes of the database."""


def start(folder: Path, rounds: int) -> tuple[float, float]:
    """Milliseconds of CPU to import the store, and from there to the first lease; medians of fresh processes."""
    found = []
    for number in range(rounds):
        command = [sys.executable, "-c", _START, f"sqlite:///{folder / f'start{number}.db'}"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found.append(tuple(map(float, said.split())))
    imported, opened = (statistics.median(column) for column in zip(*found, strict=True))
    return 1000 * imported, 1000 * opened


def fill(folder: Path, number: int, batch: int) -> Cost:
    """Crawls a made-up site of so many pages."""
    file = folder / "crawl.db"
    documents = extern = 0.0
    with Store.open(f"sqlite:///{file}") as store:
        store.begin_run(Configuration(MapConf(), WorkConf(MaxDepth=None)), _NOW)
        store.add_seeds(["http://site.example/"], _NOW)
        (pair,), _ = store.lease(1, _NOW, _NOW, number, number)
        pages = _pages(pair, number)
        for first in range(0, number, batch):
            part = pages[first : first + batch]
            outside = [ExternRecord(pair.visit, packed.page.depth + 1, packed.page.external) for packed in part]
            now = _NOW + first / 1000
            began = time.thread_time()
            store.store_extern(outside, now)
            middle = time.thread_time()
            store.store_documents(part, now)
            documents += time.thread_time() - middle
            extern += middle - began
        store.release([VisitOver(pair.visit, pair.site, _NOW, _NOW)], _NOW)
        store.end_run("done", {}, _NOW)
    return Cost(1e6 * documents / number, 1e6 * extern / number, file.stat().st_size // number)


def _pages(pair: SiteLease, number: int) -> list[PackedPage]:
    """A site whose pages are found breadth first; a document has 8 kB on average, and its table of links 0.7 kB."""
    dice = random.Random(1)
    found = [_path(dice, 0)]
    depths = [0]
    pages = []
    for place in range(number):
        internal = [_path(dice, len(found) + step) for step in range(min(_FAN_OUT, number - len(found)))]
        found += internal
        depths += [depths[place] + 1] * len(internal)
        external = (f"http://other{dice.randrange(_SITES)}.example/{place}.html",)
        pages.append(_page(pair, dice, found[place], depths[place], tuple(internal), external, _NOW + place / 1000))
    return pages


def _path(dice: random.Random, number: int) -> str:
    return f"/{dice.choice(('manual', 'reference', 'api'))}/chapter-{number // 40}/section-{number}.html" if number else "/"


def _page(
    pair: SiteLease, dice: random.Random, path: str, depth: int, internal: tuple[str, ...], external: tuple[str, ...], at: float
) -> PackedPage:
    packed = dice.randbytes(int(dice.lognormvariate(math.log(5_600), 0.85)))
    record = PageRecord(
        visit=pair.visit,
        site=pair.site,
        key=key_of(path),
        path=path,
        depth=depth,
        hops=0,
        seed=path == "/",
        fetched_at=at,
        status=200,
        address="192.0.2.1",
        head=_HEAD,
        etag=f'"{dice.getrandbits(64):x}"',
        modified="Tue, 14 Nov 2023 22:13:20 GMT",
        media_type="text/html",
        charset="utf-8",
        internal=internal,
        external=external,
    )
    df = dice.getrandbits(64) - 2**63
    return PackedPage(record, df, hashlib.sha256(packed).digest(), 4 * len(packed), packed, dice.randbytes(700))


def _fast_folder() -> Path | None:
    memory = Path("/dev/shm")  # noqa: S108 # what is written below it has a folder of its own, made by tempfile
    return memory if memory.is_dir() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=100, help="pages in one transaction")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured; medians are printed")
    parser.add_argument("--output", type=Path, default=_fast_folder(), help="where databases are written")
    options = parser.parse_args()
    costs = []
    with tempfile.TemporaryDirectory(prefix="store-", dir=options.output) as name:
        imported, opened = start(Path(name), options.rounds)
        for number in range(options.rounds):
            folder = Path(name) / str(number)
            folder.mkdir()
            costs.append(fill(folder, options.pages, options.batch))
    documents, extern, stored = (
        statistics.median(getattr(cost, field) for cost in costs) for field in ("documents", "extern", "stored")
    )
    print("| import ms | open to lease ms | store_documents µs/page | store_extern µs/page | database bytes/page |")
    print("|---|---|---|---|---|")
    print(f"| {imported:.0f} | {opened:.0f} | {documents:.0f} | {extern:.0f} | {stored:,.0f} |")


if __name__ == "__main__":
    main()
