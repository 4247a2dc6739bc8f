"""A web server of the benchmark's own: nginx on a free loopback port, with a configuration and logs in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

__all__ = ["HTML_SUFFIXES", "Answer", "Nginx", "nginx_version", "pages_of", "read_answer", "steady_rate"]

HTML_SUFFIXES = (".html", ".htm")
"""What is sent as text/html, and so counts as a page."""

_SETTLED_SECONDS = 0.1
_SHORTEST_STRETCH = 0.5
_ESCAPED = re.compile(r"\\x([0-9A-F]{2})")

# Answers are compressed only where a site has the compressed files (`sites.compressed`): otherwise every contender receives the
# same bytes, whatever codings it offers.
_CONFIGURATION = """
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections 1024; }}
http {{
  types {{
    text/html html htm; text/css css; text/javascript js; text/plain txt; application/json json;
    image/png png; image/gif gif; image/jpeg jpg jpeg; image/svg+xml svg; application/pdf pdf; application/zip zip;
  }}
  default_type application/octet-stream;
  charset utf-8;
  sendfile on;
  gzip_static on;
  tcp_nopush on;
  keepalive_requests 1000000;
  log_format bench '$msec|$status|$sent_http_content_type|$request_method|$body_bytes_sent|$sent_http_content_length|$uri';
  access_log {folder}/access.log bench;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024; root "{root}"; index index.html; }}
}}
"""


@dataclass(frozen=True)
class Answer:
    """One line of the access log."""

    at: float
    """When the last byte was given to the kernel, in seconds since 1970."""
    status: int
    media_type: str
    method: str
    whole: bool
    """As many bytes were sent as the header announced."""
    path: str
    """What was sent: decoded, without a query, and `/folder/index.html` where `/folder/` was asked for."""


def read_answer(line: str) -> Answer:
    """A log line as a record."""
    at, status, media_type, method, sent, length, path = line.rstrip("\n").split("|", 6)
    return Answer(float(at), int(status), media_type.partition(";")[0], method, sent == length, _unescape(path))


def _unescape(path: str) -> str:
    """nginx writes quotes, backslashes and every byte outside of printable ASCII as \\xHH."""
    if "\\" not in path:
        return path
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), path).encode("latin-1").decode("utf-8", "replace")


def pages_of(answers: Iterable[Answer]) -> frozenset[str]:
    """The different HTML documents that were sent whole."""
    return frozenset(_first_sent(answers))


def steady_rate(answers: Sequence[Answer], after: float = 1.0) -> float | None:
    """Pages per second between `after` seconds after the first answer and the last page; None where the crawl was too short.

    The time until the first request, and what a crawler does after the last page, are no part of it.
    """
    times = sorted(_first_sent(answers).values())
    if not times:
        return None
    began = min(answer.at for answer in answers) + after
    seconds = times[-1] - began
    return len([at for at in times if at > began]) / seconds if seconds >= _SHORTEST_STRETCH else None


def _first_sent(answers: Iterable[Answer]) -> dict[str, float]:
    """When each HTML document was first sent whole."""
    sent: dict[str, float] = {}
    for answer in answers:
        if answer.status == 200 and answer.method == "GET" and answer.whole and answer.media_type == "text/html":
            sent.setdefault(answer.path, answer.at)
    return sent


class Nginx:
    """Serves one document root; `mark` and `since` divide its access log among the crawls."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.port = _free_port()
        self._log = folder / "access.log"
        configuration = folder / "nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""
        configuration.write_text(_CONFIGURATION.format(user=user, folder=folder, port=self.port, root=root))
        command = [_program(), "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(configuration)]
        self._process = subprocess.Popen(command)
        self._await_answer()
        master = psutil.Process(self._process.pid)
        self._processes = [master, *master.children(recursive=True)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.terminate()
        self._process.wait()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path.lstrip('/')}"

    def cpu_seconds(self) -> float:
        """What its processes have used so far."""
        times = [process.cpu_times() for process in self._processes]
        return sum(time.user + time.system for time in times)

    def mark(self) -> int:
        return self._log.stat().st_size

    def since(self, mark: int) -> list[Answer]:
        """The answers after the mark."""
        self._await_last_line()
        with self._log.open(encoding="utf-8") as log:
            log.seek(mark)
            return [read_answer(line) for line in log]

    def _await_last_line(self) -> None:
        """A line is written after the last byte was sent, so a client may be gone before its line is there."""
        size = -1
        while size != (size := self.mark()):
            time.sleep(_SETTLED_SECONDS)

    def _await_answer(self) -> None:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            if self._process.poll() is not None:
                sys.exit(f"nginx ended with {self._process.returncode}")
            time.sleep(0.05)
        sys.exit("nginx does not answer")


def nginx_version() -> str:
    """Such as `nginx/1.22.1`."""
    said = subprocess.run([_program(), "-v"], capture_output=True, text=True, check=True).stderr
    return said.strip().rpartition(" ")[2]


def _program() -> str:
    # System folders are not on the PATH of an ordinary user in Debian.
    found = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
    if found is None:
        sys.exit("nginx is not installed; the benchmark needs it to serve the sites (Debian: apt install nginx-light)")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
