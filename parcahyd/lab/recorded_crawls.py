"""Recorded crawls for replays: who links to whom, from files in the lab's plain format or from a tree of HTML files.

Tested in tests/lab/test_recorded_crawls.py.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.lab.data import DataFile, data_file, fields, link_rows
from parcahyd.rules.html.links import read_links
from parcahyd.rules.urls.canonical_url import Joiner, canonical, split

__all__ = ["RecordedCrawl", "largest_hosts", "of_host", "read_recorded"]

_ENDINGS = (".html", ".htm", ".xhtml")
_TREE = "http://tree.invalid/"


class RecordedCrawl(msgspec.Struct, frozen=True):
    """URLs that a crawl knew, and the links between them."""

    name: str
    urls: Sequence[str]
    links: Sequence[Sequence[int]]
    """By URL: the numbers of those that it links to, once each."""
    missing: frozenset[int] = frozenset()
    """URLs that gave no page."""
    files: tuple[DataFile, ...] = ()


def read_recorded(folder: Path) -> RecordedCrawl:
    """A folder with pages.tsv and links.txt (docs/lab/data.md), or any other as a tree of HTML files. UserError: neither."""
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder", "name a folder with pages.tsv and links.txt, or with HTML files")
    if any(folder.glob("pages.tsv*")):
        return _read_graph(folder)
    return _read_tree(folder)


def _read_graph(folder: Path) -> RecordedCrawl:
    pages, links = data_file(folder, "pages.tsv"), data_file(folder, "links.txt")
    urls = [found[0] for found in fields(pages, 1)]
    targets = [array("l", dict.fromkeys(row)) for row in link_rows(links, len(urls))]
    return RecordedCrawl(folder.name, urls, targets, files=(pages, links))


def _read_tree(folder: Path) -> RecordedCrawl:
    """Pages are the HTML files; a link to a file that is not there becomes a missing URL. Other links are left out."""
    files = {path.relative_to(folder).as_posix(): path for path in _html_files(folder)}
    if not files:
        raise UserError(
            f"there are no HTML files in {folder}", "name a folder with pages.tsv and links.txt, or with HTML files"
        )
    digest = sha256()
    numbers = {url: number for number, name in enumerate(files) if (url := canonical(_TREE + name)) is not None}
    links: list[Sequence[int]] = []
    for name, path in files.items():
        body = path.read_bytes()
        digest.update(f"{name}\n{sha256(body).hexdigest()}\n".encode())
        own = canonical(_TREE + name) or ""
        targets = dict.fromkeys(_targets(own, body))
        links.append(array("l", [numbers.setdefault(url, len(numbers)) for url in targets if url != own]))
    links += [()] * (len(numbers) - len(files))
    missing = frozenset(range(len(files), len(numbers)))
    return RecordedCrawl(folder.name, list(numbers), links, missing, (DataFile(folder.absolute(), digest.hexdigest()),))


def _html_files(folder: Path) -> Iterator[Path]:
    """Without what a symbolic link brings in from elsewhere or for the second time."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in _ENDINGS and path.is_file() and not path.is_symlink())


def _targets(own: str, body: bytes) -> Iterator[str]:
    found = read_links(body, "")
    join = Joiner(own)
    for href in found.follow:
        url = join.join(href)
        if url is not None and url.startswith(_TREE):
            path = url.partition("?")[0]
            if path.endswith(_ENDINGS):
                yield path
            elif path.endswith("/"):
                yield f"{path}index.html"


def of_host(crawl: RecordedCrawl, host: str) -> RecordedCrawl:
    """The pages of one host, with the links among them."""
    kept = [number for number, url in enumerate(crawl.urls) if split(url)[1] == host]
    places = {number: place for place, number in enumerate(kept)}
    return RecordedCrawl(
        f"{crawl.name}, {host}",
        [crawl.urls[number] for number in kept],
        [array("l", [places[target] for target in crawl.links[number] if target in places]) for number in kept],
        frozenset(places[number] for number in crawl.missing if number in places),
        crawl.files,
    )


def largest_hosts(crawl: RecordedCrawl, number: int) -> list[str]:
    """The hosts with most URLs, largest first; none where the crawl has one host only, which is the crawl itself."""
    urls = Counter(split(url)[1] for url in crawl.urls)
    return sorted(urls, key=lambda host: (-urls[host], host))[:number] if len(urls) > 1 else []
