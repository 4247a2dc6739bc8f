"""The command line as a user has it, for black-box tests.

`run` and every command whose exit code and messages are tested are `python -m parcahyd` in a process of their own.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.support.processes import TEST_TIMEOUT, end_all, marked_processes

__all__ = ["Crawl", "CrawlFactory", "Finished", "Running", "Setting", "assert_user_error"]

ROOT = Path(__file__).resolve().parents[2]

Setting = str | int | float | bool | list[str]

# A crawl that is as quick as it can be on loopback. Tests of politeness, retries and limits say what they need instead.
# The time limits are long, so that a server that a busy machine makes slow is no failure.
_QUICK: dict[str, Setting] = {
    "Map.AllowAddresses": ["127.0.0.0/8", "::1/128"],
    "Map.MaxInstances": 2,
    "Work.HostDelay": 0,
    "Work.HostConnections": 8,
    "Work.MaxInstances": 1,
    "Work.WaitForRetries": 0,
    "Work.TimeoutConnect": 60,
    "Work.TimeoutIdle": 60,
}


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


class Crawl:
    """A configuration folder, a database, and the commands on them.

    `settings` are written to MapConf.toml and WorkConf.toml, keyed `Map.KEY` and `Work.KEY`, over quick defaults;
    None takes a default away.
    """

    def __init__(self, folder: Path, database: str = "", settings: Mapping[str, Setting | None] | None = None) -> None:
        self.folder = folder
        self.conf = folder / "conf"
        self.conf.mkdir(parents=True, exist_ok=True)
        self.mark = f"PARCAHYD_TEST_{uuid.uuid4().hex}"
        self.module = "parcahyd"
        """What `python -m` runs."""
        self.environment: dict[str, str] = {}
        """Variables that the commands have besides."""
        self.python_path: list[Path] = [ROOT]
        self.prefix: list[str] = []
        """What every command begins with, such as another program that starts it."""
        self.tables = ""
        """TOML tables at the end of WorkConf.toml, from the next `configure` on."""
        self.configure(database, settings or {})

    def configure(self, database: str, settings: Mapping[str, Setting | None]) -> None:
        """Writes both files anew."""
        if database:
            settings = {"Work.DbUrl": database, **settings}
        merged = {key: value for key, value in {**_QUICK, **settings}.items() if value is not None}
        for part, name in (("Map", "MapConf.toml"), ("Work", "WorkConf.toml")):
            own = {key.partition(".")[2]: value for key, value in merged.items() if key.startswith(f"{part}.")}
            # TOML takes JSON's strings, numbers, booleans and arrays as they are.
            lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in own.items())
            (self.conf / name).write_text(lines + (self.tables if part == "Work" else ""))

    # --- any command ---------------------------------------------------------------------------------------------------

    def command(self, *arguments: str, timeout: float = TEST_TIMEOUT) -> Finished:
        """Runs `parcahyd ARGUMENTS` to its end; a command that takes longer than `timeout` fails the test."""
        process = self._popen(arguments)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            end_all(marked_processes(self.mark))
            output = f"{out[-2000:].decode(errors='replace')}\n{err[-4000:].decode(errors='replace')}"
            raise AssertionError(f"parcahyd {' '.join(arguments)} was still running after {timeout} s:\n{output}") from None
        return Finished(process.returncode, out, err.decode(errors="replace"))

    def run(
        self, *seeds: str, sets: Mapping[str, Setting] | None = None, timeout: float = TEST_TIMEOUT, code: int | None = 0
    ) -> Finished:
        """`parcahyd run` to its end; fails the test unless it exits with `code` (None: whatever it is).

        In place of 0 it may exit with 1 because no seed could be fetched: most tests look at what became of the URLs.
        """
        finished = self.command(*self._run_arguments(seeds, sets), timeout=timeout)
        if code is not None and not (code == 0 and _fetched_no_seed(finished)):
            assert finished.code == code, (
                f"exit {finished.code}, expected {code}\n{finished.text[-3000:]}\n{finished.err[-6000:]}"
            )
        return finished

    @contextlib.contextmanager
    def start(self, *seeds: str, sets: Mapping[str, Setting] | None = None, options: Iterable[str] = ()) -> Iterator[Running]:
        """`parcahyd run` while the test goes on; whatever is left of it at the end is killed."""
        running = self.launch(*self._run_arguments(seeds, sets), *options)
        try:
            yield running
        finally:
            running.kill()

    def launch(self, *arguments: str) -> Running:
        """`parcahyd ARGUMENTS` while the test goes on, which has to end it."""
        with (self.folder / f"{arguments[0]}-{uuid.uuid4().hex[:8]}.log").open("w+b") as log:
            return Running(self._popen(arguments, output=log.fileno()), self.mark, Path(log.name))

    # --- reading a crawl -----------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        finished = self._good("status", "--json")
        decoded: dict[str, Any] = json.loads(finished.out)
        return decoded

    def urls(self, *arguments: str) -> list[dict[str, Any]]:
        """The lines of `parcahyd urls --jsonl`."""
        return [json.loads(line) for line in self._good("urls", "--jsonl", *arguments).out.splitlines() if line.strip()]

    def states(self) -> dict[str, tuple[str, str]]:
        """State and reason of every URL; the reason is empty where there is none."""
        lines = self.urls()
        states = {line["url"]: (line["state"], line["reason"] or "") for line in lines}
        assert len(states) == len(lines), "a URL stands in the list twice"
        return states

    def stored(self) -> set[str]:
        """The URLs that have a document."""
        return {url for url, (state, reason) in self.states().items() if state == "stored" and not reason}

    def show(self, url: str) -> bytes:
        return self._good("show", url).out

    def show_all(self, urls: Iterable[str]) -> dict[str, bytes]:
        return {url: self.show(url) for url in sorted(urls)}

    def digests(self) -> dict[str, str]:
        """SHA-256 of what `show` gives for every stored document."""
        return {url: hashlib.sha256(body).hexdigest() for url, body in self.show_all(self.stored()).items()}

    def explain(self, url: str) -> str:
        return self._good("explain", url).text

    def verify(self) -> None:
        """Fails the test with what `parcahyd verify` found."""
        finished = self._read("verify")
        assert finished.code == 0, f"{finished.text}\n{finished.err}"

    # --- inside --------------------------------------------------------------------------------------------------------

    def _good(self, command: str, *arguments: str) -> Finished:
        finished = self._read(command, *arguments)
        assert finished.code == 0, f"{command} {arguments}: exit {finished.code}\n{finished.err}"
        return finished

    def _read(self, command: str, *arguments: str) -> Finished:
        """A reading command through the program's entry point, in this process: an interpreter takes longer to start."""
        from parcahyd.cli import main

        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([command, "--conf", str(self.conf), *arguments])
        return Finished(code, _written(out), _written(err).decode())

    def _run_arguments(self, seeds: Iterable[str], sets: Mapping[str, Setting] | None) -> list[str]:
        arguments = ["run", "--conf", str(self.conf)]
        for seed in seeds:
            arguments += ["--seed", seed]
        for key, value in (sets or {}).items():
            arguments += ["--set", f"{key}={json.dumps(value)}"]
        return arguments

    def _popen(self, arguments: Iterable[str], output: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
        python_path = os.pathsep.join(map(str, self.python_path))
        environment = {**os.environ, **self.environment, self.mark: "1", "PYTHONPATH": python_path}
        return subprocess.Popen(
            [*self.prefix, sys.executable, "-m", self.module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output != subprocess.PIPE else subprocess.PIPE,
            env=environment,
            cwd=self.folder,  # nothing may depend on the current directory
            start_new_session=True,  # as a job of its own, so that an interrupt reaches all its processes and no others
        )


def _fetched_no_seed(finished: Finished) -> bool:
    """Whether a run exited with 1, and every line on standard error is about a seed that could not be fetched or a setting."""
    lines = finished.err.splitlines()
    said = ("could not be fetched", "nothing is due", ", as in the last run", " -> is ")
    return finished.code == 1 and bool(lines) and all(any(words in line for words in said) for line in lines)


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.detach()
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


class CrawlFactory(Protocol):
    """Makes a crawl in the test's folder and on its database."""

    def __call__(self, settings: Mapping[str, Setting | None] | None = None) -> Crawl: ...


@dataclass
class Running:
    """A run under way: its process, and all processes that it started, however deep."""

    process: subprocess.Popen[bytes]
    mark: str
    log: Path

    def interrupt(self) -> None:
        """What a terminal's Ctrl-C does: SIGINT to every process of the job."""
        os.killpg(self.process.pid, signal.SIGINT)

    def signal_group(self, number: signal.Signals) -> None:
        """What `timeout`, systemd and a closed terminal do: a signal to every process of the job."""
        os.killpg(self.process.pid, number)

    def summary(self) -> dict[str, Any]:
        """What the run wrote at its end; a run without a summary fails the test."""
        summaries = [line for line in self.said().splitlines() if line.startswith('{"event":"summary"')]
        assert len(summaries) == 1, self.said()
        decoded: dict[str, Any] = json.loads(summaries[0])
        return decoded

    def terminate(self) -> None:
        """What a service manager does: SIGTERM to the process it started."""
        self.process.terminate()

    def kill(self) -> None:
        """Ends it at once, with every process that it started, and waits until they are gone."""
        self.process.kill()
        self.process.wait()
        end_all(marked_processes(self.mark))

    def wait(self, timeout: float = TEST_TIMEOUT) -> int:
        """The exit code; a run that takes longer fails the test with what it said last."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the run was still going after {timeout} s:\n{self.said()[-6000:]}") from None

    def said(self) -> str:
        """Everything on standard output and standard error so far."""
        return self.log.read_text(errors="replace")

    def phases(self) -> set[str]:
        """The phases that the lines of progress name so far; a run with `--interval 0` writes one every half a second."""
        whole_lines = self.said().split("\n")[:-1]
        events = [json.loads(line) for line in whole_lines if line.startswith("{")]
        return {event["phase"] for event in events if event["event"] == "progress"}


def assert_user_error(finished: Finished, *words: str) -> None:
    """Exit 2 and one line that holds every given word: no traceback, nothing else."""
    lines = [line for line in finished.err.splitlines() if line.strip()]
    assert finished.code == 2, f"exit {finished.code}\n{finished.text}\n{finished.err}"
    assert len(lines) == 1, finished.err
    for word in words:
        assert word in lines[0], lines[0]
