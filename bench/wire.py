"""Every byte of HTTP that a request costs, counted on a loopback connection to nginx, which compresses as its manual says.

Requests are those of PARCAHYD: the same headers, one kept-alive connection. TCP, IP and TLS are not counted.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import NamedTuple, Self

from bench.nginx import _free_port, _program

__all__ = ["Compressing", "Exchange", "Logged", "Wire"]

_SETTLED_SECONDS = 0.3

_CONFIGURATION = """
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections 64; }}
http {{
  types {{ text/html html; text/vnd.augment.tvi TVI; text/vnd.augment.tol TOL; }}
  default_type application/octet-stream;
  log_format wire '$status $request_length $bytes_sent $uri';
  access_log {log};
  keepalive_requests 1000000;
  gzip on;
  gzip_comp_level {level};
  gzip_types text/vnd.augment.tvi text/vnd.augment.tol;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root "{root}"; index index.html; }}
}}
"""


class Compressing:
    """nginx with `gzip on`, at its own level 1 or another, with a folder of its own."""

    def __init__(self, root: Path, folder: Path, level: int = 1, *, is_logging: bool = False) -> None:
        self.port = _free_port()
        self._log = folder / "access.log"
        folder.mkdir(parents=True, exist_ok=True)
        configuration = folder / "nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""
        log = f"{self._log} wire" if is_logging else "off"
        text = _CONFIGURATION.format(user=user, folder=folder, port=self.port, root=root, level=level, log=log)
        configuration.write_text(text)
        command = [_program(), "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(configuration)]
        self._process = subprocess.Popen(command)

    def __enter__(self) -> Self:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return self
            if self._process.poll() is not None:
                sys.exit(f"nginx ended with {self._process.returncode}")
            time.sleep(0.05)
        sys.exit("nginx does not answer")

    def __exit__(self, *exception: object) -> None:
        self._process.terminate()
        self._process.wait()

    def logged(self, since: int = 0) -> list[Logged]:
        """The requests that were answered, after so many others."""
        time.sleep(_SETTLED_SECONDS)  # A line is written after the last byte was sent.
        fields = [line.split(" ", 3) for line in self._log.read_text(encoding="utf-8").splitlines()[since:]]
        return [Logged(int(status), int(asked), int(sent), path) for status, asked, sent, path in fields]


class Logged(NamedTuple):
    """One request in nginx's log."""

    status: int
    request_bytes: int
    answer_bytes: int
    """Headers and body."""
    path: str


class Exchange(NamedTuple):
    """One request and its answer."""

    status: int
    headers: dict[str, str]
    """By lower-case name."""
    content: bytes
    """Content coding removed."""
    request_bytes: int
    header_bytes: int
    """Of the answer: status line and headers."""
    body_bytes: int
    """As it was sent: compressed, with the lengths of chunks."""

    @property
    def total(self) -> int:
        return self.request_bytes + self.header_bytes + self.body_bytes


class Wire:
    """A kept-alive connection that counts; `host` is the name that requests carry."""

    def __init__(self, port: int, host: str, user_agent: str) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), 10)
        self._incoming = self._connection.makefile("rb")
        # In libcurl's order; these are the codings of pycurl's wheel.
        self._common = f"Host: {host}\r\nAccept-Encoding: deflate, gzip, br\r\nUser-Agent: {user_agent}\r\nAccept: */*\r\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._incoming.close()
        self._connection.close()

    def get(self, path: str, known: Exchange | None = None, *, with_date: bool = True) -> Exchange:
        """Asks for a path, with the validators of an earlier answer where it is given."""
        validators = ""
        if known is not None:
            validators = f"If-None-Match: {known.headers['etag']}\r\n"
            if with_date:
                validators += f"If-Modified-Since: {known.headers['last-modified']}\r\n"
        request = f"GET {path} HTTP/1.1\r\n{self._common}{validators}\r\n".encode()
        self._connection.sendall(request)
        lines = self._lines()
        headers = {name.lower(): value.strip() for name, _, value in (line.decode().partition(":") for line in lines[1:-1])}
        status = int(lines[0].split()[1])
        body, body_bytes = (b"", 0) if status == 304 else self._body(headers)
        content = zlib.decompress(body, 31) if headers.get("content-encoding") == "gzip" else body
        return Exchange(status, headers, content, len(request), sum(map(len, lines)), body_bytes)

    def _lines(self) -> list[bytes]:
        lines = [self._incoming.readline()]
        while lines[-1] not in (b"\r\n", b""):
            lines.append(self._incoming.readline())
        if not lines[-1]:
            sys.exit("nginx closed the connection")
        return lines

    def _body(self, headers: dict[str, str]) -> tuple[bytes, int]:
        if headers.get("transfer-encoding") != "chunked":
            body = self._incoming.read(int(headers["content-length"]))
            return body, len(body)
        chunks, count = [], 0
        while True:
            line = self._incoming.readline()
            size = int(line, 16)
            chunks.append(self._incoming.read(size))
            count += len(line) + size + len(self._incoming.readline())
            if not size:
                return b"".join(chunks), count
