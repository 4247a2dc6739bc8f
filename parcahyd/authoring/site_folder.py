"""The pages of a built site, the names of their tables, and processes that work on all pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote_to_bytes

from parcahyd.augment.markers import find_regions
from parcahyd.authoring.atomic_files import read_or_none
from parcahyd.authoring.author_plan import AuthorPlan
from parcahyd.core.errors import UserError
from parcahyd.rules.urls.canonical_url import canonical

__all__ = [
    "SIDECARS",
    "FolderServer",
    "Page",
    "find_pages",
    "find_sidecars",
    "for_all_pages",
    "reference_to",
]

SIDECARS = (".TOL", ".TVI")
_HTML = (".html", ".htm", ".xhtml", ".xht")
_XML = (".xml", ".rss", ".atom")


class Page(NamedTuple):
    """A document of the site; paths are relative to the folder, with slashes."""

    path: str
    tol: str
    """Empty for XML, of which no table of links is written."""
    tvi: str
    is_xml: bool = False


def find_pages(plan: AuthorPlan) -> list[Page]:
    """HTML documents, and XML documents with markers, in the order of their paths. Hidden files and folders are
    ignored, and so is everything that is not a file, such as a broken link.

    Two documents with the same table are a UserError.
    """
    pages = []
    owners: dict[str, str] = {plan.bundle: "the bundle"} if plan.bundle else {}
    for path in _files(plan.folder):
        lower = path.lower()
        is_xml = lower.endswith(_XML)
        if not lower.endswith(_HTML + _XML) or not os.path.isfile(file := os.path.join(plan.folder, path)):
            continue
        if is_xml and not _has_markers(file):
            continue
        page = _page(plan, path, is_xml)
        pages.append(page)
        for table in filter(None, (page.tol, page.tvi)):
            if table in owners:
                remedy = "choose --form path" if owners[table] != "the bundle" else "choose another --bundle"
                raise UserError(f"{table} would belong to {owners[table]} and to {path}", remedy)
            owners[table] = path
    return pages


def find_sidecars(plan: AuthorPlan) -> list[str]:
    """Every file that is named like a table."""
    return [path for path in _files(plan.folder) if path.endswith(SIDECARS)]


def reference_to(target: str, origin: str) -> str:
    """The URL reference from one file of the folder to another below its own directory."""
    name = quote(os.fsencode(target.removeprefix(origin[: origin.rfind("/") + 1])), safe="/!$&'()*+,;=:@~")
    return f"./{name}" if ":" in name.partition("/")[0] or name.startswith("/") else name


def _files(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        prefix = os.path.relpath(root, folder).replace(os.sep, "/")
        yield from ((name if prefix == "." else f"{prefix}/{name}") for name in sorted(names) if not name.startswith("."))


def _refuse(failure: OSError) -> None:
    """Raises: pages in a folder that cannot be read would otherwise count as removed."""
    raise UserError(f"{failure.filename} cannot be read: {failure.strerror}", "make it readable") from failure


def _has_markers(file: str) -> bool:
    marked = find_regions(read_or_none(file) or b"", is_xml=True)
    return bool(marked.spans or marked.errors)


def _page(plan: AuthorPlan, path: str, is_xml: bool) -> Page:
    url = canonical(plan.base_url + quote(os.fsencode(path), safe="/!$&'()*+,;=:@~")) or ""
    tol, tvi = [_path(plan, sidecar) for sidecar in (plan.declaration.tol_of(url), plan.declaration.tvi_of(url))]
    return Page(path, "" if is_xml else tol, tvi, is_xml)


def _path(plan: AuthorPlan, url: str | None) -> str:
    """The file of the folder that is served at a URL; empty where there is none."""
    if url is None or not url.startswith(plan.base_url):
        return ""
    return os.fsdecode(unquote_to_bytes(url[len(plan.base_url) :]))


# --- The same work for every page, in as many processes as there are cores ----------------------------------------------


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_BATCH = 32
"""Pages that a process receives at a time."""
_LEAST_PAGES = 1000
"""With fewer pages all work is done in this process: starting others takes about 0.3 s."""


def for_all_pages(work: Callable[[_Item], _Result], items: Sequence[_Item], jobs: int) -> Iterator[_Result]:
    """The results in the order of the items. `work` is a function of a module, or a `partial` of one."""
    if jobs <= 1 or len(items) < _LEAST_PAGES:
        yield from map(work, items)
        return
    batches = [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]
    # A fork of this process could copy locks that another thread holds; the fork server has one thread.
    server = get_context("forkserver")
    server.set_forkserver_preload(["__main__", getattr(work, "func", work).__module__])
    with ProcessPoolExecutor(min(jobs, len(batches)), server) as pool:
        yield from chain.from_iterable(pool.map(partial(_batch, work), batches))


def _batch(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    return [work(item) for item in items]


# --- Serves a site folder on loopback, to try it out: files, tables with their media types, conditional requests --------


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
