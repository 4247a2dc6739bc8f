"""Starts a synthetic web and a crawl of it, and samples the crawl while it runs."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import psutil

from bench.synthetic_dns import Question, read_questions
from bench.synthetic_server import Request, read_log, requests_logged
from bench.synthetic_web import Shape, Web

__all__ = ["ROLES", "Crawl", "Sample", "ServedWeb", "output_folder"]

_ROOT = Path(__file__).resolve().parents[1]
ROLES = ("coordinator", "worker", "update-database")


def output_folder(given: Path | None) -> Path:
    """Where crawls are written: the given folder, else a memory file system where there is one."""
    memory = Path("/dev/shm")  # noqa: S108 # the crawls' own folders below it are made by mkdtemp
    if given is not None:
        return given
    return memory if memory.is_dir() and os.access(memory, os.W_OK) else Path(tempfile.gettempdir())


class ServedWeb:
    """A synthetic web with its server and its name server, each a process of its own, while the `with` block runs."""

    def __init__(
        self,
        shape: Shape,
        folder: Path,
        dns_latency: float | None = 0.0,
        *,
        robots: bool = False,
        latency: float = 0.0,
        latency_from: Mapping[str, float] | None = None,
    ) -> None:
        """`latency` is how long answers wait, `latency_from` the same for clients at some addresses. `dns_latency` None: there
        is no name server, and the names are in `hosts_file` only."""
        self._log, self._questions = folder / "requests.log", folder / "questions.log"
        self.hosts_file = folder / "hosts"
        self.hosts_file.write_text(shape.hosts_file())
        waits = ["--latency", str(latency), *(f"--latency-from={who}={wait}" for who, wait in (latency_from or {}).items())]
        options = [*shape.options(), *waits, "--log", str(self._log), *(["--robots"] if robots else [])]
        self._processes: list[subprocess.Popen[bytes]] = []
        self.web = Web(shape, self._start(["bench.synthetic_server", *options]), robots=robots)
        self.nameserver = ""
        if dns_latency is not None:
            names = ["--hosts", str(shape.hosts), "--addresses", str(shape.addresses), "--latency", str(dns_latency)]
            self.nameserver = f"127.0.0.1:{self._start(['bench.synthetic_dns', *names, '--log', str(self._questions)])}"

    def __enter__(self) -> ServedWeb:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()

    def requests_so_far(self) -> int:
        return requests_logged(self._log)

    def requests(self) -> list[Request]:
        """In the order in which they began."""
        return sorted(read_log(self._log))

    def questions(self) -> list[Question]:
        return sorted(read_questions(self._questions))

    def cpu_seconds(self) -> float:
        return sum(sum(psutil.Process(process.pid).cpu_times()[:2]) for process in self._processes)

    def _start(self, arguments: Sequence[str]) -> int:
        """Start a server; returns the port that it says it has."""
        process = subprocess.Popen([sys.executable, "-m", *arguments], cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._processes.append(process)
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said.strip().isdigit():
            sys.exit(f"{arguments[0]} did not start")
        return int(said)


@dataclass(frozen=True)
class Sample:
    """A look at a crawl from outside. `at` is of the monotonic clock, sizes are in bytes."""

    at: float
    requests: int
    memory: dict[str, int]
    """By role, the sum over its processes: PSS where the kernel shows it, else RSS."""
    database: int
    """The database's file."""
    journal: int
    """The files beside it, which go when the run ends."""

    @property
    def total_memory(self) -> int:
        return sum(self.memory.values())


class Crawl:
    """`parcahyd run` on a served web, with its own configuration and database in `folder`, sampled once a second."""

    def __init__(self, served: ServedWeb, folder: Path, seeds: Iterable[str], settings: Sequence[str]) -> None:
        self.samples: list[Sample] = []
        self.output = folder / "output.jsonl"
        self.errors = folder / "errors.txt"
        self.database = folder / "conf" / "crawl.db"
        self._served = served
        self._folder = folder
        (folder / "conf").mkdir()
        addresses = json.dumps([served.nameserver])
        (folder / "conf" / "MapConf.toml").write_text(f'AllowAddresses = ["127.0.0.0/8"]\nNameservers = {addresses}\n')
        (folder / "conf" / "WorkConf.toml").write_text(f"Seeds = {json.dumps(list(seeds))}\n")
        self._sets = [word for setting in settings for word in ("--set", setting)]
        with self.output.open("wb") as output, self.errors.open("wb") as errors:
            self._process = subprocess.Popen(self._command("run", "--interval", "1"), stdout=output, stderr=errors, cwd=folder)
        self.pid = self._process.pid
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample_on, daemon=True)
        self._sampler.start()

    def wait(self, seconds: float | None = None) -> int | None:
        """The exit code, or None if the crawl still runs after so many seconds."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._end_sampling()
        return code

    def interrupt(self) -> None:
        """Ask it to end as Ctrl-C does."""
        self._process.terminate()

    def close(self) -> None:
        """Whatever happened: no process stays."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._end_sampling()

    def verify(self) -> tuple[int, float, str]:
        """`parcahyd verify`: its exit code, how many seconds it took, and what it said."""
        began = time.perf_counter()
        done = subprocess.run(self._command("verify"), cwd=self._folder, capture_output=True, text=True, check=False)
        return done.returncode, time.perf_counter() - began, (done.stdout + done.stderr).strip()

    def _command(self, name: str, *options: str) -> list[str]:
        return [sys.executable, "-m", "parcahyd", name, "--conf", str(self._folder / "conf"), *self._sets, *options]

    def _end_sampling(self) -> None:
        self._over.set()
        self._sampler.join()

    def _sample_on(self) -> None:
        while not self._over.wait(1.0):
            with contextlib.suppress(psutil.Error):
                self.samples.append(self._sample())

    def _sample(self) -> Sample:
        memory = dict.fromkeys(ROLES, 0)
        for role, process in _tree(self.pid):
            with contextlib.suppress(psutil.Error):
                memory[role] += _memory(process)
        database, *others = (_size(self.database.with_name(f"crawl.db{end}")) for end in ("", "-wal", "-shm"))
        return Sample(time.monotonic(), self._served.requests_so_far(), memory, database, sum(others))


def _tree(pid: int) -> Iterator[tuple[str, psutil.Process]]:
    """Every process of a crawl with its role."""
    process = psutil.Process(pid)
    yield ROLES[0], process
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            # A child that began as a copy of the coordinator has its command line, but a name of its own.
            words = {child.name().removeprefix("crawl-"), *child.cmdline()}
            yield next((role for role in ROLES if role in words), ROLES[0]), child


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.AccessDenied, AttributeError):
        return int(process.memory_info().rss)


def until(holds: Callable[[], bool], crawl: Crawl) -> None:
    """Wait until something holds; ends the benchmark if the crawl ends before."""
    while not holds():
        if crawl.wait(0.02) is not None:
            sys.exit(f"the crawl ended before it began: {crawl.errors.read_text()[-2000:]}")
