"""A Ray cluster on addresses of the loopback network, each node with processes of its own that can be killed."""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import psutil

from tests.support.processes import end_all, marked_processes, wait_until

__all__ = ["RayCluster", "RayNode", "why_no_ray"]

_START_LIMIT = 300.0
_OPTIONS = ("--num-cpus=0", "--object-store-memory=80000000", "--disable-usage-stats", "--block")
_PORTS = ("--min-worker-port=0", "--max-worker-port=0", "--node-manager-port=0", "--object-manager-port=0")
_RAYLET, _HEAD = "raylet", "gcs_server"


def why_no_ray() -> str:
    """Why nothing can be tried with Ray here; empty where it can."""
    return "" if importlib.util.find_spec("ray") else "Ray is not installed (pip install 'parcahyd[cluster]')"


class RayNode:
    """What `ray start` started for one address, with all that came of it."""

    def __init__(self, number: int, address: str, arguments: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
        self.number = number
        self.address = address
        self._arguments = list(arguments)
        self._folder = folder
        self._mark = f"PARCAHYD_TEST_{uuid.uuid4().hex}"
        # The agent's requests say in a header on which node it is.
        self._environment = {**environment, self._mark: "1", "PARCAHYD_LAB_NODE": str(number)}
        self._starts = 0

    @property
    def log(self) -> Path:
        return self._folder / f"ray-{self.number}-{self._starts}.log"

    def start(self) -> None:
        """Returns when it takes part; a start that is too slow for Ray is repeated."""
        ray = Path(sys.executable).parent / "ray"
        for _ in range(5):
            self._starts += 1
            with self.log.open("wb") as log:
                process = subprocess.Popen(
                    [str(ray), "start", f"--node-ip-address={self.address}", *self._arguments, *_OPTIONS, *_PORTS],
                    env={**os.environ, **self._environment},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            assert wait_until(lambda: self.has_started() or process.poll() is not None, _START_LIMIT, pause=0.2)  # noqa: B023
            if self.has_started():
                return
            self.end()
        raise AssertionError(self.log.read_text()[-3000:])

    def has_started(self) -> bool:
        return "Ray runtime started" in self.log.read_text(errors="replace")

    def processes(self) -> list[psutil.Process]:
        """All living processes, those of the agent among them."""
        return marked_processes(self._mark)

    def of_ray(self) -> list[psutil.Process]:
        """Those that are Ray's own, and the actor's."""
        return [process for process in self.processes() if not _is_of_crawl(process)]

    def memory(self) -> dict[str, int]:
        """Bytes by name of process: PSS, which counts shared pages once."""
        found: dict[str, int] = {}
        for process in self.processes():
            try:
                kind = "crawl" if _is_of_crawl(process) else process.name()
                found[kind] = found.get(kind, 0) + process.memory_full_info().pss
            except psutil.Error:
                continue
        return found

    def kill_raylet(self) -> None:
        """The process that starts and ends the others."""
        self._kill(_RAYLET)

    def kill_head(self) -> None:
        """The process that every other node needs, and the raylet beside it."""
        self._kill(_HEAD)
        self._kill(_RAYLET)

    def _kill(self, name: str) -> None:
        found = [process for process in self.processes() if process.name() == name]
        assert found, f"no {name} at {self.address}"
        for process in found:
            process.send_signal(signal.SIGKILL)

    def end(self) -> None:
        end_all(self.processes())


class RayCluster:
    """A head and other nodes, which want a token unless `is_open`."""

    def __init__(self, addresses: Sequence[str], folder: Path, *, is_open: bool = False) -> None:
        # Ray's sockets lie there, and their names must be short.
        self._scratch = Path("/tmp") / f"ray-{secrets.token_hex(4)}"
        self.address = f"{addresses[0]}:{_free_port(addresses[0])}"
        token = {} if is_open else {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.environment = {**token, "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
        port = self.address.rpartition(":")[2]
        head = ["--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={self._scratch}"]
        self.nodes = [
            RayNode(number, address, [f"--address={self.address}"] if number > 1 else head, folder, self.environment)
            for number, address in enumerate(addresses, 1)
        ]

    def start(self) -> None:
        for node in self.nodes:
            node.start()

    def __enter__(self) -> RayCluster:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for node in reversed(self.nodes):
            node.end()
        subprocess.run(["rm", "-rf", str(self._scratch)], check=False)


def _is_of_crawl(process: psutil.Process) -> bool:
    try:
        return any(word.startswith("parcahyd") for word in process.cmdline())
    except psutil.Error:
        return True


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        number: int = probe.getsockname()[1]
    return number
