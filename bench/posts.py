"""How many URLs the partitions of a cluster post to each other, on a recorded web graph (statements C38, C39, G19).

    python bench/posts.py FOLDER [--partitions 4 8 16] [--by host]

FOLDER has `pages.tsv.xz`, a URL in the first column, and `links.txt.xz`, whose line i has the row numbers of the pages that
page i links to. Hosts are divided by hash. Every partition takes its pages in the order of a breadth-first walk over the whole
graph, and commits them in batches. A link that leads to another partition is posted, unless a table says that it was posted
before. Each row is one way to decide that:

    every link            nothing is remembered
    once a page           links of one page to one URL are one
    once a batch          what all ways below do as well: within a batch, a URL is posted once
    posted N kB           the table of posted URLs, of so many bytes
    hot K                 the K URLs that most links lead to
    posted + hot          both
    once                  everything is remembered: the least that is possible
"""

from __future__ import annotations

import argparse
import lzma
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import Routing
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.hot_urls import HotUrls
from parcahyd.partition.posted_urls import PostedUrls

__all__ = ["Graph", "Outcome", "Way", "main", "outcome", "read_graph", "walk", "ways"]


class Graph(NamedTuple):
    """URLs of pages, and for each page the numbers of those that it links to."""

    urls: list[str]
    links: list[list[int]]


class Way(Protocol):
    """What a partition remembers of its posts."""

    def count(self, url: str) -> None: ...

    def is_posted(self, owner: int, url: str) -> bool: ...

    def commit(self, posts: Sequence[tuple[int, str]]) -> None: ...


class Outcome(NamedTuple):
    """What was posted, of how much."""

    pages: int
    links: int
    crossing: int
    posts: int
    bytes: int


class _Nothing:
    def count(self, url: str) -> None:
        pass

    def is_posted(self, owner: int, url: str) -> bool:  # noqa: ARG002 - the signature of a way
        return False

    def commit(self, posts: Sequence[tuple[int, str]]) -> None:
        pass


class _Everything(_Nothing):
    def __init__(self) -> None:
        self._posted: set[str] = set()

    def is_posted(self, owner: int, url: str) -> bool:  # noqa: ARG002
        return url in self._posted

    def commit(self, posts: Sequence[tuple[int, str]]) -> None:
        self._posted.update(url for _, url in posts)


class _Tables(_Nothing):
    def __init__(self, memory: int = 0, capacity: int = 0) -> None:
        self._posted = PostedUrls(memory) if memory else None
        self._hot = HotUrls(capacity) if capacity else None
        self._tables = [table for table in (self._hot, self._posted) if table is not None]

    def count(self, url: str) -> None:
        if self._hot is not None:
            self._hot.count(url)

    def is_posted(self, owner: int, url: str) -> bool:
        return any(table.is_posted(owner, url) for table in self._tables)

    def commit(self, posts: Sequence[tuple[int, str]]) -> None:
        for table in self._tables:
            for owner, url in posts:
                table.note_committed(owner, [url], table.version(owner))


def read_graph(folder: Path) -> Graph:
    """The graph in a folder."""
    with lzma.open(folder / "pages.tsv.xz", "rt", encoding="utf-8") as pages:
        urls = [line.partition("\t")[0].rstrip("\n") for line in pages if not line.startswith("#")]
    with lzma.open(folder / "links.txt.xz", "rt", encoding="utf-8") as lines:
        links = [[int(number) for number in line.split()] for line in lines if not line.startswith("#")]
    return Graph(urls, links)


def walk(graph: Graph) -> Iterator[int]:
    """All pages, breadth first from the first one, and from the next one that was not reached."""
    seen = [False] * len(graph.urls)
    for start in range(len(graph.urls)):
        waiting = deque([start])
        while waiting:
            page = waiting.popleft()
            if not seen[page]:
                seen[page] = True
                yield page
                waiting.extend(target for target in graph.links[page] if not seen[target])


def outcome(graph: Graph, owners: Sequence[int], make: Callable[[], Way], batch: int, per_page: bool = True) -> Outcome:
    """What is posted when each page is crawled by its owner; `batch` 0: what is posted is not even remembered for a batch."""
    memories: dict[int, Way] = {}
    waiting: dict[int, list[tuple[int, str]]] = {}
    stored = dict.fromkeys(owners, 0)
    crossing = posts = size = 0
    for page in walk(graph):
        here = owners[page]
        memory, on_the_way = memories.setdefault(here, make()), waiting.setdefault(here, [])
        foreign = [target for target in graph.links[page] if owners[target] != here]
        crossing += len(foreign)
        for target in dict.fromkeys(foreign) if per_page else foreign:
            letter = owners[target], graph.urls[target]
            memory.count(letter[1])
            if not memory.is_posted(*letter) and not (batch and letter in on_the_way):
                on_the_way.append(letter)
                posts += 1
                size += len(letter[1])
        stored[here] += 1
        if stored[here] % max(1, batch) == 0:
            memory.commit(on_the_way)
            on_the_way.clear()
    return Outcome(len(graph.urls), sum(map(len, graph.links)), crossing, posts, size)


def ways(memories: Sequence[int], capacities: Sequence[int]) -> Iterator[tuple[str, Callable[[], Way]]]:
    """The tables by name: of each size, and both kinds of the smallest size together."""
    for memory in memories:
        yield f"posted {memory / 1024:g} kB", partial(_Tables, memory)
    for capacity in capacities:
        yield f"hot {capacity:,}", partial(_Tables, 0, capacity)
    memory, capacity = min(memories), min(capacities)
    yield f"posted {memory / 1024:g} kB + hot {capacity:,}", partial(_Tables, memory, capacity)


def _rows(graph: Graph, owners: Sequence[int], options: argparse.Namespace) -> Iterator[tuple[str, Outcome]]:
    yield "every link", outcome(graph, owners, _Nothing, 0, per_page=False)
    yield "once a page", outcome(graph, owners, _Nothing, 0)
    yield f"once a batch of {options.batch}", outcome(graph, owners, _Nothing, options.batch)
    for name, make in ways([size * 1024 for size in options.posted], options.hot):
        yield name, outcome(graph, owners, make, options.batch)
    yield "once", outcome(graph, owners, _Everything, options.batch)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--partitions", type=int, nargs="+", default=[4, 8, 16])
    parser.add_argument("--by", choices=["host", "domain"], default="host", help="PartitionBy")
    parser.add_argument("--batch", type=int, default=100, help="pages that are committed together")
    parser.add_argument("--posted", type=int, nargs="+", default=[1, 4, 64], metavar="KILOBYTES")
    parser.add_argument("--hot", type=int, nargs="+", default=[64, 1000], metavar="URLS")
    options = parser.parse_args(arguments)
    graph = read_graph(options.folder)
    print("| partitions | way | posts | posts per page | bytes per page | of crossing links |\n|---|---|---|---|---|---|")
    for partitions in options.partitions:
        strategy = ByHash(WorkConf(PartitionBy=options.by), Routing(partitions))
        owners = [strategy.place(urlsplit(url).hostname or "") for url in graph.urls]
        for name, found in _rows(graph, owners, options):
            share = f"{100 * found.posts / max(1, found.crossing):.2f} %"
            per_page = f"{found.posts / found.pages:.4f} | {found.bytes / found.pages:.1f}"
            print(f"| {partitions} | {name} | {found.posts:,} | {per_page} | {share} |")


if __name__ == "__main__":
    main()
