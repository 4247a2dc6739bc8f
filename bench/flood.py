"""What one flooding site costs the others: requests of ordinary sites, alone and beside a site of endless new links.

    python bench/flood.py
    python bench/flood.py --flood sites --seconds 20 --before CHECKOUT

Twenty small sites on loopback addresses are crawled with a delay, for a fixed time from the first request on: first by
themselves, then beside a site
whose every page has 100,000 links that were never seen before: to its own pages (`urls`), or to hosts that do not exist
(`sites`, with `Scope = "any"`). `--before` measures another checkout of the program too. It prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from multiprocessing import Process, Queue, Value
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import NamedTuple

import psutil

__all__ = ["Outcome", "main", "measure"]

_ROOT = Path(__file__).resolve().parents[1]
_LINKS = 100_000
_ORDINARY = [f"127.0.1.{number}" for number in range(1, 21)]
_FLOODING = "127.0.2.1"
_HEAD = b"HTTP/1.1 %d OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"


class Outcome(NamedTuple):
    """What one crawl did in its time."""

    requests: int
    """Of ordinary sites."""
    floods: int
    """Answers with 100,000 links each."""
    database: int
    """Bytes, with the files beside it."""
    memory: int
    """The most bytes that Update Database had (RSS)."""
    urls: int
    sites: int


def _ordinary_page(path: str) -> bytes:
    number = int(path.rpartition("/")[2] or 0)
    return b"".join(b'<a href="/page/%d">page</a>\n' % (number * 3 + more) for more in (1, 2, 3))


def _flooding_page(path: str, kind: str) -> bytes:
    number = int(path.rpartition("/")[2] or 0)
    form = b'<a href="/%d/%d">x</a>\n' if kind == "urls" else b'<a href="http://h%d-%d.invented.example/">x</a>\n'
    pages = b"".join(b'<a href="/more/%d">x</a>\n' % (number * 3 + more) for more in (1, 2, 3))
    return pages + b"".join(form % (number, link) for link in range(_LINKS - 3))


def _serve(addresses: list[str], kind: str, ports: Queue[int], given: Synchronized[int]) -> None:
    """A server on some addresses, all on one port; counts the pages that it gave."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                is_page = path != "/robots.txt"
                body = b"" if not is_page else _flooding_page(path, kind) if kind else _ordinary_page(path)
                given.value += is_page
                writer.write(_HEAD % (200 if is_page else 404, len(body)) + body)
                await writer.drain()

    async def run() -> None:
        port = 0
        for address in addresses:
            server = await asyncio.start_server(answer, address, port)
            port = server.sockets[0].getsockname()[1]
        ports.put(port)
        await asyncio.Event().wait()

    asyncio.run(run())


class _Server:
    """The server in a process of its own."""

    def __init__(self, addresses: list[str], kind: str = "") -> None:
        ports: Queue[int] = Queue()
        self._given: Synchronized[int] = Value("q", 0)
        self._process = Process(target=_serve, args=(addresses, kind, ports, self._given), daemon=True)
        self._process.start()
        port = ports.get(timeout=10)
        self.seeds = [f"http://{address}:{port}/" for address in addresses]

    @property
    def given(self) -> int:
        return self._given.value

    def end(self) -> None:
        self._process.terminate()
        self._process.join()


def measure(program: Path, seconds: float, flood: str) -> Outcome:
    """One crawl; `flood` is empty where there is no flooding site."""
    ordinary, flooding = _Server(_ORDINARY), _Server([_FLOODING], flood) if flood else None
    with tempfile.TemporaryDirectory(prefix="parcahyd-flood-") as name:
        folder = Path(name)
        no_names = ["bench.synthetic_dns", "--hosts", "1", "--addresses", "1", "--log", f"{name}/questions"]
        names = subprocess.Popen([sys.executable, "-m", *no_names], cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert names.stdin is not None
        assert names.stdout is not None
        nameserver = f"127.0.0.1:{int(names.stdout.readline())}"
        (folder / "conf").mkdir()
        (folder / "conf" / "MapConf.toml").write_text(
            f'AllowAddresses = ["127.0.0.0/8"]\nNameservers = {json.dumps([nameserver])}\n'
        )
        seeds = ordinary.seeds + (flooding.seeds if flooding is not None else [])
        scope = "any" if flood == "sites" else "site"
        (folder / "conf" / "WorkConf.toml").write_text(
            f'Seeds = {json.dumps(seeds)}\nHostDelay = 0.2\nMaxInstances = 1\nScope = "{scope}"\nStopTimeout = 1\n'
        )
        run = [sys.executable, "-m", "parcahyd", "run", "--conf", str(folder / "conf"), "--interval", "5"]
        with (folder / "errors").open("w") as errors:
            crawl = subprocess.Popen(
                run, cwd=folder, env={**os.environ, "PYTHONPATH": str(program)}, stdout=errors, stderr=errors
            )
            while not ordinary.given and crawl.poll() is None:
                time.sleep(0.01)
            memory = _watch(crawl, seconds)
        served, floods = ordinary.given, flooding.given if flooding is not None else 0
        size = sum(file.stat().st_size for file in (folder / "conf").glob("crawl.db*"))
        _end_all(crawl)
        for server in filter(None, (ordinary, flooding)):
            server.end()
        names.stdin.close()
        names.wait()
        with contextlib.closing(sqlite3.connect(folder / "conf" / "crawl.db")) as database:
            urls, sites = (database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("urls", "sites"))  # noqa: S608
    return Outcome(served, floods, size, memory, urls, sites)


def _watch(crawl: subprocess.Popen[bytes], seconds: float) -> int:
    """Waits, and returns the most memory that Update Database had."""
    most, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.1)
        for child in psutil.Process(crawl.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if "update-database" in (*child.cmdline(), child.name().removeprefix("crawl-")):
                    most = max(most, child.memory_info().rss)
    return most


def _end_all(crawl: subprocess.Popen[bytes]) -> None:
    """What was measured is measured: a flooded program may take long to end by itself."""
    root = psutil.Process(crawl.pid)
    for process in (*root.children(recursive=True), root):
        with contextlib.suppress(psutil.Error):
            process.kill()
    crawl.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="What one flooding site costs the others.")
    parser.add_argument("--seconds", type=float, default=12.0, help="of each crawl")
    parser.add_argument("--flood", choices=["urls", "sites"], default="urls", help="what the flooding site invents")
    parser.add_argument("--before", type=Path, help="a checkout of another version, measured first")
    chosen = parser.parse_args()
    programs = {"before": chosen.before} if chosen.before is not None else {}
    programs["now"] = _ROOT
    print("| version | flood | requests of 20 sites | flooding pages | database, MB | Update Database, MB | URLs | sites |")
    print("|---|---|---|---|---|---|---|---|")
    for version, program in programs.items():
        for flood in ("", chosen.flood):
            done = measure(program.resolve(), chosen.seconds, flood)
            print(
                f"| {version} | {flood or 'none'} | {done.requests:,} | {done.floods} | {done.database / 1e6:.0f} "
                f"| {done.memory / 1e6:.0f} | {done.urls:,} | {done.sites:,} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
