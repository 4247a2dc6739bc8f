"""Serves a site folder on loopback, to try it out: files, tables with their media types, conditional requests."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ["FolderServer"]


class _Handler(SimpleHTTPRequestHandler):
    """Serves files as the standard library does, with 304 where Last-Modified has not changed."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".TOL": "text/vnd.augment.tol; charset=utf-8",
        ".tol": "text/vnd.augment.tol; charset=utf-8",
        ".TVI": "text/vnd.augment.tvi; charset=utf-8",
        ".tvi": "text/vnd.augment.tvi; charset=utf-8",
    }

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is the standard library's
        """Prints nothing."""


class FolderServer(ThreadingHTTPServer):
    """Serves a folder at `url` once `serve_forever` is called; port 0 takes any free port."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), partial(_Handler, directory=str(folder)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"
