"""A recorded crawl as a graph: pages by URL, and which page links to which.

Two files: `pages.tsv` with a URL in the first column, sorted, and `links.txt`, whose line i has the row numbers of the pages
that page i links to, a number for each link. Where there is no folder, a web is made from the seed.

Tested in tests/lab/test_graph.py.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec

from parcahyd.lab.data import DataFile, data_file, fields, link_rows

__all__ = ["LinkGraph", "read_graph", "synthetic_graph"]

_SYNTHETIC_HOSTS = 40
_SYNTHETIC_PAGES = 6000


class LinkGraph(msgspec.Struct, frozen=True):
    """Pages are numbered from 0."""

    name: str
    """Of the folder; `synthetic`."""
    sites: tuple[tuple[str, str], ...]
    """Host and path of each page."""
    links: tuple[tuple[int, ...], ...]
    """The pages that each page links to; a link that is repeated on a page is there repeatedly."""
    files: tuple[DataFile, ...] = ()

    def __len__(self) -> int:
        return len(self.sites)

    @property
    def link_count(self) -> int:
        return sum(map(len, self.links))

    def seeds(self) -> list[int]:
        """Pages from which all others are reached: the shortest URL of the largest host, and so on with what is not reached."""
        sizes: dict[str, int] = defaultdict(int)
        for host, _ in self.sites:
            sizes[host] += 1
        reached = [False] * len(self)
        found: list[int] = []
        for page in sorted(range(len(self)), key=lambda page: self._prominence(page, sizes)):
            if not reached[page]:
                found.append(page)
                self._reach(page, reached)
        return found

    def _prominence(self, page: int, sizes: dict[str, int]) -> tuple[int, int, str, str]:
        host, path = self.sites[page]
        return -sizes[host], len(path), host, path

    def _reach(self, page: int, reached: list[bool]) -> None:
        reached[page] = True
        waiting = [page]
        while waiting:
            for target in self.links[waiting.pop()]:
                if not reached[target]:
                    reached[target] = True
                    waiting.append(target)


def read_graph(folder: Path) -> LinkGraph:
    """The graph of a folder. UserError: there is none, or it is damaged."""
    pages, links = data_file(folder, "pages.tsv"), data_file(folder, "links.txt")
    sites = tuple(_host_and_path(row[0]) for row in fields(pages, 1))
    return LinkGraph(folder.name, sites, tuple(link_rows(links, len(sites))), (pages, links))


def _host_and_path(url: str) -> tuple[str, str]:
    host, slash, path = url.partition("://")[2].partition("/")
    return host, f"{slash}{path}" or "/"


def synthetic_graph(seed: int, pages: int = _SYNTHETIC_PAGES) -> LinkGraph:
    """A web of hosts of very different size with folders; most links stay in their folder, most others in their host."""
    chance = random.Random(seed)
    sites: list[tuple[str, str]] = []
    for _ in range(pages):
        number = min(int(chance.paretovariate(0.8)) - 1, _SYNTHETIC_HOSTS - 1)
        sites.append((f"www.site-{number}.example", f"/{chance.randrange(12)}/{chance.randrange(6)}/{len(sites)}.html"))
    sites.sort()
    by_host, by_folder = _grouped(sites, 1), _grouped(sites, 3)
    links: list[tuple[int, ...]] = []
    for host, path in sites:
        near, around = by_folder[_folder(host, path, 3)], by_host[host]
        links.append(tuple(_target(chance, near, around, pages) for _ in range(chance.randrange(2, 20))))
    return LinkGraph("synthetic", tuple(sites), tuple(links))


def _target(chance: random.Random, near: Sequence[int], around: Sequence[int], pages: int) -> int:
    drawn = chance.random()
    return chance.choice(near) if drawn < 0.7 else chance.choice(around) if drawn < 0.95 else chance.randrange(pages)


def _folder(host: str, path: str, depth: int) -> str:
    return "/".join([host, *path.split("/")[1:depth]])


def _grouped(sites: Sequence[tuple[str, str]], depth: int) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for number, (host, path) in enumerate(sites):
        found[_folder(host, path, depth)].append(number)
    return found
