"""Crawls one site with PARCAHYD, wget2 and Scrapy in turn, and prints pages per second, CPU seconds and peak memory.

    python bench/crawl.py DOCUMENT_ROOT [--start index.html] [--rounds 5]

nginx serves the document root on a free loopback port. The contenders take turns within each round, and each starts
with an empty output folder. Pages are counted from nginx's access log, not from what a contender says of itself.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["Contender", "Nginx", "Outcome", "main", "measure"]

_ROOT = Path(__file__).resolve().parents[1]
_SAMPLE_SECONDS = 0.1

_NGINX = """
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  types {{ text/html html htm; text/css css; text/javascript js; image/png png; image/svg+xml svg; text/plain txt; }}
  default_type application/octet-stream;
  charset utf-8;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  log_format bench '$status|$sent_http_content_type|$request_method|$body_bytes_sent|$uri';
  access_log {folder}/access.log bench;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024; root "{root}"; index index.html; }}
}}
"""

# Tuned as its users tune it: links by one XPath, no request object for a URL that was seen, no middleware that is not needed.
_SCRAPY_SPIDER = """
import hashlib, pathlib, sys
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse

start, folder = sys.argv[1], pathlib.Path(sys.argv[2])
origin = start[: start.index("/", 8) + 1]

class Site(scrapy.Spider):
    name = "site"
    start_urls = [start]
    seen = {start}

    def parse(self, response):
        (folder / hashlib.sha256(response.url.encode()).hexdigest()).write_bytes(response.body)
        if not isinstance(response, HtmlResponse):
            return
        for href in set(response.xpath("//a/@href").getall()):
            url = response.urljoin(href).partition("#")[0]
            if url.startswith(origin) and url not in self.seen:
                self.seen.add(url)
                yield scrapy.Request(url, dont_filter=True)

process = CrawlerProcess({
    "ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0, "COOKIES_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False,
})
process.crawl(Site)
process.start()
"""


@dataclass(frozen=True)
class Contender:
    """A crawler: its name and the command that crawls a URL into a folder."""

    name: str
    command: Callable[[str, Path], Sequence[str]]


@dataclass(frozen=True)
class Outcome:
    """One crawl, as the server, the clock and the kernel saw it."""

    seconds: float
    pages: int
    """Different HTML documents that were sent whole."""
    requests: int
    cpu_seconds: float
    peak_bytes: int
    """The largest sum over the process tree that was sampled: PSS where the kernel tells it, else RSS."""

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.seconds


class Nginx:
    """A web server of our own on a free port; `mark` and `since` divide its access log among the contenders."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.port = _free_port()
        self._log = folder / "access.log"
        user = "user root;" if os.geteuid() == 0 else ""
        configuration = folder / "nginx.conf"
        configuration.write_text(_NGINX.format(user=user, folder=folder, port=self.port, root=root))
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin{os.pathsep}/usr/local/sbin")
        if program is None:
            sys.exit("nginx is not installed; the benchmark needs it to serve the site")
        self._process = subprocess.Popen(
            [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(configuration)]
        )
        self._await_answer()

    def url(self, start: str) -> str:
        return f"http://127.0.0.1:{self.port}/{start}"

    def mark(self) -> int:
        return self._log.stat().st_size

    def since(self, mark: int) -> list[list[str]]:
        """The log lines after the mark, split."""
        with self._log.open(encoding="utf-8", errors="replace") as log:
            log.seek(mark)
            return [line.rstrip("\n").split("|", 4) for line in log]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _await_answer(self) -> None:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            if self._process.poll() is not None:
                sys.exit(f"nginx ended with {self._process.returncode}")
            time.sleep(0.05)
        sys.exit("nginx does not answer")


class _MemorySampler(threading.Thread):
    """Samples the memory of a process and everything below it until `stop`; `peak` is the largest sum."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._process = psutil.Process(pid)
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(psutil.Error):
                tree = [self._process, *self._process.children(recursive=True)]
                self.peak = max(self.peak, sum(_memory(process) for process in tree))
            self._over.wait(_SAMPLE_SECONDS)

    def stop(self) -> int:
        self._over.set()
        self.join()
        return self.peak


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.AccessDenied, AttributeError):
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def measure(contender: Contender, nginx: Nginx, start: str, outputs: Path) -> Outcome:
    """One crawl by one contender into a fresh folder, which is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"{contender.name}-", dir=outputs))
    mark = nginx.mark()
    try:
        with (folder / "output.log").open("wb") as log:
            began = time.perf_counter()
            process = subprocess.Popen(contender.command(nginx.url(start), folder), stdout=log, stderr=log, cwd=folder)
            sampler = _MemorySampler(process.pid)
            sampler.start()
            # wait4 gives the CPU time of the process and of all descendants that were waited for.
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            peak = sampler.stop()
        if process.returncode not in (0, 8):  # wget2 ends with 8 when some link was dead
            said = (folder / "output.log").read_text(errors="replace")[-2000:]
            sys.exit(f"{contender.name} ended with {process.returncode}:\n{said}")
        lines = nginx.since(mark)
        pages = {line[4] for line in lines if line[0] == "200" and line[1].startswith("text/html") and line[2] == "GET"}
        return Outcome(seconds, len(pages), len(lines), usage.ru_utime + usage.ru_stime, peak)
    finally:
        shutil.rmtree(folder)


# --- the contenders ----------------------------------------------------------------------------------------------------


def _parcahyd(settings: Sequence[str]) -> Contender:
    def command(url: str, folder: Path) -> list[str]:
        (folder / "conf").mkdir()
        for name in ("MapConf.toml", "WorkConf.toml"):
            (folder / "conf" / name).write_text("")
        chosen = ["Work.HostDelay=0", "Work.HostConnections=64", 'Map.AllowAddresses=["127.0.0.0/8"]', *settings]
        sets = [argument for setting in chosen for argument in ("--set", setting)]
        return [sys.executable, "-m", "parcahyd", "run", "--conf", str(folder / "conf"), "--seed", url, *sets]

    return Contender("parcahyd", command)


def _wget2() -> Contender | None:
    program = shutil.which("wget2")
    if program is None:
        _skip("wget2", "not on PATH (Debian: apt install wget2)")
        return None

    def command(url: str, folder: Path) -> list[str]:
        options = ["--recursive", "--level=inf", "--no-parent", "--max-threads=64", "--robots=on", "--quiet"]
        return [program, *options, f"--directory-prefix={folder}", url]

    return Contender("wget2", command)


def _scrapy(python: str) -> Contender | None:
    if subprocess.run([python, "-c", "import scrapy"], capture_output=True, check=False).returncode:
        _skip(
            "scrapy",
            f"{python} has no scrapy (give one that has with --scrapy PYTHON, or: uv run --with scrapy bench/crawl.py)",
        )
        return None

    def command(url: str, folder: Path) -> list[str]:
        (folder / "pages").mkdir()
        (folder / "spider.py").write_text(_SCRAPY_SPIDER)
        return [python, str(folder / "spider.py"), url, str(folder / "pages")]

    return Contender("scrapy", command)


def _skip(name: str, why: str) -> None:
    print(f"!!! {name} is left out: {why}", file=sys.stderr)


# --- the run -----------------------------------------------------------------------------------------------------------


def _table(outcomes: dict[str, list[Outcome]]) -> Iterator[str]:
    """A Markdown table: medians with the smallest and largest value, and each ratio taken within a round."""
    names = list(outcomes)
    yield (
        "| contender | pages | requests | seconds | pages/s | "
        + " | ".join(f"x {name}" for name in names)
        + " | CPU s | CPU ms/page | peak MB |"
    )
    yield "|---|" + "---|" * (7 + len(names))
    for name, runs in outcomes.items():
        cells = [
            name,
            _spread([run.pages for run in runs], "{:.0f}"),
            _spread([run.requests for run in runs], "{:.0f}"),
            _spread([run.seconds for run in runs], "{:.2f}"),
            _spread([run.pages_per_second for run in runs], "{:.0f}"),
            *(_spread(_ratios(runs, outcomes[other]), "{:.2f}") if other != name else "" for other in names),
            _spread([run.cpu_seconds for run in runs], "{:.2f}"),
            _spread([1000 * run.cpu_seconds / max(run.pages, 1) for run in runs], "{:.2f}"),
            _spread([run.peak_bytes / 1e6 for run in runs], "{:.0f}"),
        ]
        yield "| " + " | ".join(cells) + " |"


def _ratios(runs: Sequence[Outcome], others: Sequence[Outcome]) -> list[float]:
    """Pages per second against another contender's in the same round: the machine's other work weighs on both."""
    return [run.pages_per_second / other.pages_per_second for run, other in zip(runs, others, strict=True)]


def _spread(values: Sequence[float], form: str) -> str:
    low, middle, high = (form.format(value) for value in (min(values), statistics.median(values), max(values)))
    return middle if low == high else f"{middle} ({low}-{high})"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _warm(root: Path) -> None:
    """Every file into the page cache, so that the first contender does not pay for the disk."""
    for file in root.rglob("*"):
        if file.is_file():
            file.read_bytes()


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="PARCAHYD, wget2 and Scrapy on the same site, in turn.")
    parser.add_argument("root", type=Path, help="folder that nginx serves, such as the html folder of python3.11-doc")
    parser.add_argument("--start", default="index.html", help="the page from which the crawls start")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=["parcahyd", "wget2", "scrapy"], default=["parcahyd", "wget2", "scrapy"])
    parser.add_argument(
        "--output", type=Path, default=_fast_folder(), help="where crawls are written; a memory file system is fairest"
    )
    parser.add_argument("--scrapy", default=sys.executable, metavar="PYTHON", help="an interpreter that has Scrapy")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for PARCAHYD")
    return parser.parse_args(arguments)


def _fast_folder() -> Path:
    memory = Path("/dev/shm")  # noqa: S108 # the crawls' own folders below it are made by mkdtemp
    return memory if memory.is_dir() and os.access(memory, os.W_OK) else Path(tempfile.gettempdir())


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _arguments(arguments)
    root: Path = chosen.root.resolve()
    if not (root / chosen.start).is_file():
        sys.exit(f"{root / chosen.start} does not exist")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH", "")]))
    offered: dict[str, Callable[[], Contender | None]] = {
        "parcahyd": lambda: _parcahyd(chosen.set),
        "wget2": _wget2,
        "scrapy": lambda: _scrapy(chosen.scrapy),
    }
    contenders = [contender for name in chosen.only if (contender := offered[name]()) is not None]
    outcomes: dict[str, list[Outcome]] = {contender.name: [] for contender in contenders}
    _warm(root)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=chosen.output) as folder:
        nginx = Nginx(root, Path(folder))
        try:
            for number in range(chosen.rounds):
                # The order turns, so that no contender always runs in another's wake.
                for contender in contenders[number % len(contenders) :] + contenders[: number % len(contenders)]:
                    outcome = measure(contender, nginx, chosen.start, Path(folder))
                    outcomes[contender.name].append(outcome)
                    print(f"round {number + 1} {contender.name}: {outcome}", file=sys.stderr)
        finally:
            nginx.close()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {chosen.rounds} rounds, outputs below {chosen.output}\n")
    print("\n".join(_table(outcomes)))


if __name__ == "__main__":
    main()
