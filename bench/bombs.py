"""How much memory a crawl takes while many hosts send small bodies that unpack to large documents.

    python bench/bombs.py
    python bench/bombs.py --hosts 40 --before CHECKOUT

Each host, on an address of its own, answers with the same 30 kB of gzip, which unpack to 31 MB, all at once and without delay.
The table has the largest memory (RSS) of each kind of process, and how many bodies the server gave. `--before` measures another
checkout of the program first. It prints Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil

__all__ = ["main", "measure"]

_ROOT = Path(__file__).resolve().parents[1]
_UNPACKED = 31_000_000
_KINDS = ("coordinator", "crawl-worker", "update-database")


_given: Counter[str] = Counter()


class _Bomb(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    body = gzip.compress(b"<!doctype html><p>" + bytes(b"a" * _UNPACKED), 9)

    def do_GET(self) -> None:
        is_page = self.path != "/robots.txt"
        body = self.body if is_page else b""
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if is_page:
            self.send_header("Content-Encoding", "gzip")
            _given["bodies"] += 1
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


class _ManyConnections(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


def measure(program: Path, hosts: int, timeout: float) -> tuple[Counter[str], int, float]:
    """The largest memory by kind of process, the bodies given, and the seconds of one crawl."""
    _given.clear()
    server = _ManyConnections(("0.0.0.0", 0), _Bomb)  # noqa: S104 - the hosts are addresses of loopback
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seeds = [f"http://127.0.{3 + number // 200}.{1 + number % 200}:{server.server_port}/" for number in range(hosts)]
    settings = ('Map.AllowAddresses=["127.0.0.0/8"]', "Work.HostDelay=0", "Work.AddressDelay=0", "Work.WaitForRetries=0")
    command = [sys.executable, "-m", "parcahyd", "run", "--quiet"]
    command += [word for seed in seeds for word in ("--seed", seed)]
    command += [word for setting in settings for word in ("--set", setting)]
    most: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="parcahyd-bombs-") as folder:
        began = time.monotonic()
        crawl = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(program)})
        root = psutil.Process(crawl.pid)
        while crawl.poll() is None and time.monotonic() - began < timeout:
            with contextlib.suppress(psutil.Error):
                for process in (root, *root.children(recursive=True)):
                    # A process that has not taken its name yet counts as the coordinator, which is smaller.
                    kind = next((kind for kind in _KINDS if kind in (process.name(), *process.cmdline())), "coordinator")
                    most[kind] = max(most[kind], process.memory_info().rss)
            time.sleep(0.02)
        seconds = time.monotonic() - began
        for process in (*root.children(recursive=True), root) if crawl.poll() is None else ():
            process.kill()
        crawl.wait()
    server.shutdown()
    server.server_close()
    return most, _given["bodies"], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory while many hosts send bodies that unpack to large documents.")
    parser.add_argument("--hosts", type=int, default=120)
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds after which a crawl is ended")
    parser.add_argument("--before", type=Path, help="a checkout of another version, measured first")
    chosen = parser.parse_args()
    programs = {"before": chosen.before} if chosen.before is not None else {}
    programs["now"] = _ROOT
    print(f"{chosen.hosts} hosts, {len(_Bomb.body):,} bytes each, which unpack to {_UNPACKED:,}.")
    print("The largest RSS of a process in MB:\n")
    print("| version | coordinator | Crawl Worker | Update Database | bodies | seconds |\n|---|---|---|---|---|---|")
    for version, program in programs.items():
        most, bodies, seconds = measure(program.resolve(), chosen.hosts, chosen.timeout)
        cells = " | ".join(f"{most[kind] / 1e6:.0f}" for kind in _KINDS)
        print(f"| {version} | {cells} | {bodies} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
