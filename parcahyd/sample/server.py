"""The server of the sample site: the files of `site/` and their tables, held in memory, on a loopback address."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Self, TypedDict

from parcahyd.augment.bundle import write_bundle
from parcahyd.augment.document_tables import describe, tvi_of
from parcahyd.augment.sidecars import INDEX, stem
from parcahyd.augment.tol import write_tol

__all__ = [
    "BUNDLE",
    "CHANGING_PAGE",
    "GUESTS",
    "REDIRECTS",
    "SampleServer",
    "site_files",
    "site_tables",
]

REDIRECTS = {"/opening-times": "/visit/hours.html", "/kettles": "/kettles/", "/news": "/news/", "/visit": "/visit/"}
"""Paths that answer 301, and where they lead."""

CHANGING_PAGE, _FRAGMENT = "/", b'data-vol="guests">%d<'
GUESTS = 37, 52
"""The number on the changing page, before and after `SampleServer.change`."""

_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "TOL": "text/vnd.augment.tol; charset=utf-8",
    "TVI": "text/vnd.augment.tvi; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}


def site_files() -> dict[str, bytes]:
    """Every path that the site answers with 200, and its bytes; `index.html` is served under its folder's name."""
    return dict(_walk(resources.files(__package__) / "site", "/"))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in _TYPES:
            found.append((prefix if entry.name == "index.html" else prefix + entry.name, entry.read_bytes()))
    return found


class _Answer(TypedDict, total=False):
    status: HTTPStatus
    body: bytes
    headers: dict[str, str]


class SampleServer:
    """Serves the sample site while its `with` block runs; `url` is where it starts.

    Port 0 takes any free port. Requests are answered by threads that end with the process. `requests` lists every
    request as (method, path, status), in the order of the answers.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.requests: list[tuple[str, str, int]] = []
        self._files = site_files()
        self._files |= site_tables(self._files)
        """Replaced as a whole, never changed: requests are answered by other threads."""
        self._server = ThreadingHTTPServer((host, port), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def change(self) -> None:
        """A number on the changing page becomes another one, and its tables with it."""
        before, after = (_FRAGMENT % guests for guests in GUESTS)
        files = site_files()
        files[CHANGING_PAGE] = files[CHANGING_PAGE].replace(before, after)
        self._files = files | site_tables(files)

    def size_of(self, path: str) -> int:
        """The bytes that a path is answered with now."""
        return len(self._files.get(path, b""))

    def wait(self) -> None:
        """Block until the server ends, that is, until an interruption."""
        self._thread.join()

    def _answer(self, target: str, known_tag: str) -> _Answer:
        path = target.partition("?")[0]
        if path in REDIRECTS:
            return {"status": HTTPStatus.MOVED_PERMANENTLY, "headers": {"Location": REDIRECTS[path]}}
        body = self._files.get(path)
        if body is None:
            return {"status": HTTPStatus.NOT_FOUND, "body": b"No such page.\n", "headers": {"Content-Type": _TYPES["txt"]}}
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if known_tag == tag:
            return {"status": HTTPStatus.NOT_MODIFIED, "headers": {"ETag": tag}}
        kind = "html" if path.endswith("/") else path.rpartition(".")[2]
        return {"status": HTTPStatus.OK, "body": body, "headers": {"Content-Type": _TYPES[kind], "ETag": tag}}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            server_version = "kettle"
            timeout = 30

            def do_GET(self) -> None:
                answer = server._answer(self.path, self.headers.get("If-None-Match", ""))
                body = answer.get("body", b"")
                self.send_response(answer["status"])
                for name, value in answer.get("headers", {}).items():
                    self.send_header(name, value)
                if answer["status"] != HTTPStatus.NOT_MODIFIED:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            do_HEAD = do_GET  # noqa: N815 - the name is the standard library's

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002 - as above
                server.requests.append((self.command, self.path, int(code)))

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as above
                """Prints nothing; requests are listed in `requests`."""

        return Handler


# --- the tables of the sample site ------------------------------------------------------------------------------------------


BUNDLE = "/site.TOL"


def site_tables(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The tables that robots.txt declares for these pages, by path."""
    tables: dict[str, bytes] = {}
    bundle: list[bytes] = []
    for path, document in sorted(files.items()):
        if not path.endswith(("/", ".html")):
            continue
        whole = path + INDEX if path.endswith("/") else path
        name, tvi = whole.rpartition("/")[2], f"{stem(whole)}.TVI"
        made = {
            f"{stem(whole)}.TOL": write_tol(*describe(document, name, tvi=tvi.rpartition("/")[2])),
            tvi: tvi_of(document, name),
        }
        tables |= {place: table for place, table in made.items() if isinstance(table, bytes)}
        entry = write_tol(*describe(document, whole[1:], tvi=tvi[1:]))
        bundle += [entry] if isinstance(entry, bytes) else []
    together = write_bundle(bundle)
    return {**tables, BUNDLE: together} if isinstance(together, bytes) else tables
