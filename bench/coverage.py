"""The pages that a crawl must find, by a walk over the files from the start page.

It shares no code with PARCAHYD: the links come from the standard library's HTML parser, the URLs from `urllib`, and the files
stand for what nginx sends. So a link that PARCAHYD overlooks, and any page that a contender never asks for, is seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from html.parser import HTMLParser
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bench.nginx import HTML_SUFFIXES

__all__ = ["Coverage", "Reachable", "compare", "links_of", "walk"]

_ORIGIN = "http://site.invalid"
_REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_SLASHES = re.compile("//+")
_RELATIONS = {"alternate", "canonical", "next", "prev", "previous"}
# What stands in these elements is text to a browser, or is not shown.
_SILENT = {"template", "textarea", "title", "xmp", "noembed", "noframes", "iframe"}


@dataclass(frozen=True)
class Reachable:
    """What links lead to, as nginx names it in its log."""

    pages: frozenset[str]
    files: frozenset[str]
    """Linked too, but no HTML: archives, texts, images that a link shows."""


@dataclass(frozen=True)
class Coverage:
    """A crawl's pages beside those of the walk."""

    expected: int
    covered: int
    missing: tuple[str, ...]
    outside: tuple[str, ...]
    """Pages that were fetched although no link that the walk knows leads to them."""


def compare(expected: frozenset[str], fetched: frozenset[str]) -> Coverage:
    """Which of the expected pages were fetched, and which others."""
    missing, outside = sorted(expected - fetched), sorted(fetched - expected)
    return Coverage(len(expected), len(expected & fetched), tuple(missing), tuple(outside))


class _Links(HTMLParser):
    """Collects the references of one document."""

    def __init__(self) -> None:
        super().__init__()
        self.base: str | None = None
        self.references: list[str] = []
        self._silence: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        # Of two attributes with one name the first counts.
        attributes = dict(reversed(attrs))
        if not self._silence:
            self._take(tag, attributes)
        if tag in _SILENT:
            self._silence.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """In HTML the slash of `<a/>` means nothing."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._silence and self._silence[-1] == tag:
            self._silence.pop()

    def _take(self, tag: str, attributes: dict[str, str | None]) -> None:
        match tag:
            case "a" | "area":
                self._add(attributes.get("href"))
            case "frame" | "iframe":
                self._add(attributes.get("src"))
            case "link" if _RELATIONS & set((attributes.get("rel") or "").lower().split()):
                self._add(attributes.get("href"))
            case "meta" if (attributes.get("http-equiv") or "").lower() == "refresh":
                refresh = _REFRESH.match(attributes.get("content") or "")
                self._add(refresh and refresh[1])
            case "base" if self.base is None:
                self.base = attributes.get("href")

    def _add(self, reference: str | None) -> None:
        if reference is not None:
            self.references.append(reference)


def links_of(document: str, path: str) -> set[str]:
    """The paths on the same site that a document at a path refers to, decoded."""
    parser = _Links()
    parser.feed(document)
    parser.close()
    here = _ORIGIN + path
    base = here if parser.base is None else urljoin(here, parser.base)
    found = (_path_of(base, reference) for reference in set(parser.references))
    return {path for path in found if path is not None}


def _path_of(base: str, reference: str) -> str | None:
    try:
        parts = urlsplit(urljoin(base, reference.strip()))
    except ValueError:
        return None
    if f"{parts.scheme}://{parts.netloc}" != _ORIGIN:
        return None
    # nginx takes several slashes for one.
    return _SLASHES.sub("/", unquote(parts.path)) or "/"


def _served(root: Path, path: str) -> str | None:
    """The path of the file that nginx sends in the end, after its redirect to a folder with a slash; None for "not found"."""
    if "\0" in path or ".." in path.split("/"):
        return None
    file = root / path.lstrip("/")
    if file.is_dir():
        path = f"{path.rstrip('/')}/index.html"
        return path if (file / "index.html").is_file() else None
    return path if file.is_file() and not path.endswith("/") else None


def _next(root: Path, path: str) -> set[str]:
    # nginx announces UTF-8, which counts for more than what a document says of itself.
    document = (root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace")
    return links_of(document, path)


def walk(root: Path, start: str) -> Reachable:
    """Follows the links from the start page, one distance after the other."""
    seen: set[str] = set()
    reached: set[str] = set()
    frontier = _arrive(root, {"/" + start.lstrip("/")}, seen, reached)
    # A fork of this process could copy locks that another thread holds.
    with ProcessPoolExecutor(mp_context=get_context("forkserver")) as processes:
        while frontier:
            linked = set().union(*processes.map(partial(_next, root), frontier, chunksize=16))
            frontier = _arrive(root, linked, seen, reached)
    pages = frozenset(path for path in reached if path.endswith(HTML_SUFFIXES))
    return Reachable(pages, frozenset(reached) - pages)


def _arrive(root: Path, linked: Iterable[str], seen: set[str], reached: set[str]) -> list[str]:
    """Enters what is new; returns the pages among it, whose links come next."""
    new = set(linked) - seen
    seen |= new
    served = {path for path in (_served(root, path) for path in new) if path is not None} - reached
    reached |= served
    return sorted(path for path in served if path.endswith(HTML_SUFFIXES))
