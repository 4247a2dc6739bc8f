"""What a cluster's crawl costs the hub while it grows: hosts, letters and the memory that spares them, on a synthetic web.

Everything that decides is the crawler's own: `ByHash` says whose a host is, `PostedUrls` and `HotUrls` what need not be posted
again. The web is made from the seed: sizes of hosts fall with their rank, most links stay on their host, and the others lead to
known hosts and pages more often than to unknown ones. Pages are crawled in the order in which they were found.

Tested in tests/lab/test_growth.py.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from random import Random

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import Routing
from parcahyd.lab.report import LabRow, LabTable
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.hot_urls import HotUrls
from parcahyd.partition.posted_urls import PostedUrls

__all__ = ["Growth", "Stage", "growth_table", "stages"]

_LINKS = 12
"""Of a page."""
_ON_THEIR_HOST = 0.75
_NEW = 0.35
"""Of the links: they lead to URLs that nobody has met."""
_NEW_HOST = 0.02
"""Of those that lead to new URLs of other hosts."""
_BATCH = 100
"""Pages that a writer commits together."""


class Growth(msgspec.Struct, frozen=True):
    """What is simulated."""

    urls: int
    """The crawl has met so many in the end."""
    partitions: int
    posted_bytes: int
    hot_urls: int
    seed: int
    command: str


class Stage(msgspec.Struct, frozen=True):
    """The crawl when it has met so many URLs."""

    urls: int
    hosts: int
    pages: int
    crossing: int
    """Links to other partitions."""
    letters: int
    """URLs that were posted."""
    most: int
    """URLs of the partition that has most."""


class _Web:
    """URLs that were met, by number: each has a host, and pages are taken in the order of the numbers."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.host_of = array("i", [0])
        self.of_host: list[array[int]] = [array("i", [0])]

    def links(self, page: int) -> Iterator[int]:
        """The numbers of the URLs that a page links to; new ones get the next numbers."""
        chance, host = self._chance, self.host_of[page]
        for _ in range(_LINKS):
            there = host if chance.random() < _ON_THEIR_HOST else self._other_host()
            if chance.random() < _NEW:
                yield self._new(there)
            else:
                known = self.of_host[there]
                yield known[int(len(known) * chance.random() ** 3)]

    def _other_host(self) -> int:
        if self._chance.random() < _NEW_HOST:
            self.of_host.append(array("i"))
            self._new(len(self.of_host) - 1)
            return len(self.of_host) - 1
        return int(len(self.of_host) * self._chance.random() ** 2)

    def _new(self, host: int) -> int:
        number = len(self.host_of)
        self.host_of.append(host)
        self.of_host[host].append(number)
        return number


class _Partition:
    """What one partition remembers of its posts."""

    def __init__(self, growth: Growth) -> None:
        self.posted = PostedUrls(growth.posted_bytes)
        self.hot = HotUrls(growth.hot_urls)
        self.on_the_way: dict[int, dict[str, None]] = {}
        self.pages = 0

    def post(self, owner: int, url: str) -> bool:
        """Whether a link to a URL of another partition costs a letter."""
        self.hot.count(url)
        if self.hot.is_posted(owner, url) or self.posted.is_posted(owner, url) or url in self.on_the_way.get(owner, ()):
            return False
        self.on_the_way.setdefault(owner, {})[url] = None
        return True

    def stored(self) -> None:
        self.pages += 1
        if self.pages % _BATCH == 0:
            for owner, urls in self.on_the_way.items():
                self.posted.note_committed(owner, urls, self.posted.version(owner))
                self.hot.note_committed(owner, urls, self.hot.version(owner))
            self.on_the_way.clear()


def stages(growth: Growth, tell: Callable[[int], None] = lambda _: None) -> Iterator[Stage]:
    """The crawl at every power of ten from 10,000 URLs on, and at its end."""
    web = _Web(Random(growth.seed))
    strategy = ByHash(WorkConf(), Routing(growth.partitions, secret=growth.seed.to_bytes(8)))
    owners = array("i")
    partitions = [_Partition(growth) for _ in range(growth.partitions)]
    crossing = letters = page = 0
    sizes = [0] * growth.partitions
    counted = 0
    following = min(10_000, growth.urls)
    while page < len(web.host_of):
        here = _owner(owners, web.host_of[page], strategy)
        partition = partitions[here]
        for url in web.links(page):
            host = web.host_of[url]
            there = _owner(owners, host, strategy)
            if there != here:
                crossing += 1
                letters += partition.post(there, f"http://h{host}.growth.example/{url}")
        partition.stored()
        page += 1
        if len(web.host_of) >= following:
            for number in range(counted, len(web.host_of)):
                sizes[_owner(owners, web.host_of[number], strategy)] += 1
            counted = len(web.host_of)
            tell(counted)
            yield Stage(counted, len(web.of_host), page, crossing, letters, max(sizes))
            if counted >= growth.urls:
                return
            following = min(following * 10, growth.urls)


def _owner(owners: array[int], host: int, strategy: ByHash) -> int:
    while len(owners) <= host:
        owners.append(strategy.place(f"h{len(owners)}.growth.example"))
    return owners[host]


def growth_table(growth: Growth, tell: Callable[[int], None] = lambda _: None) -> LabTable:
    """A row for each stage."""
    rows = []
    for stage in stages(growth, tell):
        per_page = stage.letters / stage.pages
        mean = stage.urls / growth.partitions
        rows.append(
            LabRow(
                f"{stage.urls:,} URLs",
                "ours",
                (
                    f"{stage.pages:,}",
                    f"{stage.hosts:,}",
                    f"{stage.crossing / stage.pages:.3f}",
                    f"{per_page:.3f}",
                    f"{1 - stage.letters / max(1, stage.crossing):.1%}",
                    f"{stage.most / mean:.2f}",
                ),
                {"letters a page": per_page, "max : mean": stage.most / mean},
            )
        )
    return LabTable(
        "growth",
        f"A crawl that grows, in {growth.partitions} partitions",
        ("pages", "hosts", "crossing links a page", "posted URLs a page", "spared", "URLs, max : mean"),
        tuple(rows),
        growth.command,
        growth.seed,
        1,
        notes=(_note(growth),),
    )


def _note(growth: Growth) -> str:
    return (
        f"Each partition remembers posted URLs in {growth.posted_bytes:,} bytes, and {growth.hot_urls:,} hot URLs besides. "
        f"A page has {_LINKS} links, {_ON_THEIR_HOST:.0%} to its own host and {_NEW:.0%} to URLs that nobody has met: "
        "a web that is made up, and one run."
    )
