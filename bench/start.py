"""How long a crawl takes to its first request: wall-clock time and CPU of all its processes.

    python bench/start.py [--rounds 10] [--before CHECKOUT]

`parcahyd run` crawls a site of one page on loopback. The clock runs from the start of the program to the arrival of the
first byte of the first request; the CPU time of the process tree is read then. Versions take turns, and the
first round, which warms the caches, does not count. The kernel counts CPU in hundredths of a second.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.contenders.contender import Contender, Peers, Task
from bench.contenders.roster import choose_contenders
from bench.report_page import spread, table

__all__ = ["OnePage", "Start", "main", "measure"]

_TIMEOUT = 60.0


@dataclass(frozen=True)
class Start:
    """What one crawl used until its first request."""

    seconds: float
    cpu_seconds: float
    processes: int


class OnePage:
    """A site of one page; `first_request` is set when the first byte of a request can be read, at the time `at`."""

    def __init__(self) -> None:
        self.first_request = threading.Event()
        self.at = 0.0
        page = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                if self.rfile.peek(1) and not page.first_request.is_set():  # type: ignore[attr-defined] # a BufferedReader
                    page.at = time.perf_counter()
                    page.first_request.set()
                super().handle_one_request()

            def do_GET(self) -> None:
                body = b"<title>one page</title>" if self.path == "/" else b""
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_words: object) -> None:
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    @contextmanager
    def served(self) -> Iterator[OnePage]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def measure(contender: Contender, folder: Path) -> Start:
    """One crawl, into a new folder below the given one."""
    output = Path(tempfile.mkdtemp(dir=folder))
    with OnePage().served() as page, (output / "log").open("wb") as log:
        command = contender.command(Task(page.url, output, output))
        environment = {**os.environ, **contender.environment}
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=output, env=environment, stdout=log, stderr=log)
        try:
            if not page.first_request.wait(_TIMEOUT):
                sys.exit(f"{contender.name} asked for nothing: {(output / 'log').read_text(errors='replace')[-2000:]}")
            cpu_seconds, processes = _tree_cpu(process.pid)
            process.wait(_TIMEOUT)
        finally:
            process.kill()
            process.wait()
    return Start(page.at - began, cpu_seconds, processes)


def _tree_cpu(pid: int) -> tuple[float, int]:
    """User and system time of a process and its descendants so far, those included that have ended; how many are alive."""
    root = psutil.Process(pid)
    processes = [root, *root.children(recursive=True)]
    seconds = 0.0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
    return seconds, len(processes)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="how many starts of each count (default 10)")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="another version, beside this one")
    parser.add_argument("--python", default=sys.executable, metavar="PYTHON", help="the interpreter for PARCAHYD")
    chosen = parser.parse_args(arguments)
    names = ["parcahyd", *(["parcahyd-before-default"] if chosen.before else [])]
    contenders, _ = choose_contenders(names, Peers(sys.executable, None, False, (), chosen.before, chosen.python))
    starts: dict[str, list[Start]] = {contender.name: [] for contender in contenders}
    with tempfile.TemporaryDirectory(prefix="start-") as folder:
        for number in range(chosen.rounds + 1):
            for contender in contenders:
                start = measure(contender, Path(folder))
                if number:
                    starts[contender.name].append(start)
    rows = [_row(contender, starts[contender.name]) for contender in contenders]
    print("\n".join(table(("version", "starts", "ms to the first request", "CPU ms until then", "processes then"), rows)))


def _row(contender: Contender, starts: Sequence[Start]) -> tuple[str, ...]:
    return (
        f"{contender.name} {contender.version}",
        str(len(starts)),
        spread([1000 * start.seconds for start in starts], "{:.0f}"),
        spread([1000 * start.cpu_seconds for start in starts], "{:.0f}"),
        spread([start.processes for start in starts], "{:.0f}"),
    )


if __name__ == "__main__":
    main()
