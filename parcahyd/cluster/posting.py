"""What a store posts to other partitions: foreign URLs, seeds, robots.txt questions and answers, and a wider scope.

Everything is posted in the transaction of the page that it comes from. A URL that was posted before is not posted again, as
far as that is remembered in bounded memory (statements C38, C39).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec
from sqlalchemy import BigInteger, Text, bindparam, column, null, select, table, update

from parcahyd.cluster.letters import ROBOTS_ANSWER, ROBOTS_QUESTION, URLS, answer, question, url_bodies
from parcahyd.cluster.mail import Letter, Mailbox
from parcahyd.cluster.partition_writer import PartitionWriter
from parcahyd.cluster.quotas import Chunk
from parcahyd.cluster.routes import Routes
from parcahyd.cluster.scope import FollowedScope
from parcahyd.cluster.seeds import SEED
from parcahyd.cluster.tables import states
from parcahyd.config.schema import WorkConf
from parcahyd.core.records import RobotsFact
from parcahyd.partition.hot_urls import HotUrls
from parcahyd.partition.posted_urls import PostedUrls
from parcahyd.rules.urls.canonical_url import split
from parcahyd.storage.cluster_schemas import WHOLE_CRAWL
from parcahyd.storage.expressions import same
from parcahyd.storage.other_partitions import FoundUrl, Origin
from parcahyd.storage.schema import sites

__all__ = ["MailCounts", "Posting"]

_LONGEST_HOT = 300
"""Characters. Longer URLs are not counted among the hot ones, so that these take a few megabytes at most."""

_IS_HERE = select(sites.c.id).where(*same(sites, "id"))
_all_sites = table(sites.name, column("id", BigInteger), column("host", Text), schema=WHOLE_CRAWL)
_HOST_OF = select(_all_sites.c.host).where(_all_sites.c.id == bindparam("id")).limit(1)
_BUSY = update(states).where(*same(states, "partition"), states.c.idle_since.is_not(None)).values(idle_since=null())


class MailCounts(msgspec.Struct):
    """What this partition has posted since its tree began, as far as it is committed."""

    letters: int = 0
    bytes: int = 0
    urls: int = 0
    spared: int = 0
    """URLs that were not posted, because they had been posted before."""
    robots: int = 0

    def add(self, more: MailCounts) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(more, name))


class Posting:
    """The OtherPartitions of a store; see there. Used inside transactions of the writer."""

    def __init__(
        self,
        writer: PartitionWriter,
        mailbox: Mailbox,
        routes: Routes,
        scope: FollowedScope,
        chunk: Chunk | None,
        work: WorkConf,
    ) -> None:
        self._writer = writer
        self._mailbox = mailbox
        self._routes = routes
        self._scope = scope
        self._chunk = chunk
        self._remembers_depth = work.MaxDepth is not None
        """A URL is posted again when it is found nearer to a seed."""
        self._posted = PostedUrls(work.PostedBytes)
        self._hot = HotUrls(work.HotUrls)
        self._names: dict[int, list[str]] = {}
        """By owner: what the transaction under way posts."""
        self._more = MailCounts()
        """What it adds to the counts."""
        self.counts = MailCounts()
        self.before_leases: Callable[[], object] = lambda: None
        """Called in the transaction of a lease, before sites are picked."""
        writer.on_failure(self._forget)
        writer.after_commit(self._note_committed)

    def _forget(self) -> None:
        self._names.clear()
        self._more = MailCounts()

    def _note_committed(self) -> None:
        for home, names in self._names.items():
            self._posted.note_committed(home, names, self._posted.version(home))
            self._hot.note_committed(home, names, self._hot.version(home))
        self.counts.add(self._more)
        self._forget()

    def forget_posted(self) -> None:
        """The routing has changed: what was posted went by the former one."""
        for partition in range(self._routes.partitions):
            self._posted.forget(partition)
            self._hot.forget(partition)

    # --- whose is it ----------------------------------------------------------------------------------------------------

    def is_ours(self, host: str) -> bool:
        return self._routes.home(host) == self._routes.here

    def is_own(self, site: int) -> bool:
        return bool(self._writer.rows(_IS_HERE, id=site))

    def before_leasing(self) -> None:
        self.before_leases()

    def begin_work(self) -> None:
        self._writer.run(_BUSY, partition=self._routes.here)

    # --- foreign URLs ---------------------------------------------------------------------------------------------------

    def post_urls(self, found: Sequence[FoundUrl], *, from_letters: bool = False) -> tuple[list[FoundUrl], list[int]]:
        routes = self._routes
        homes = routes.homes_of([url[0] for url in found])
        ours: list[FoundUrl] = []
        news: dict[int, dict[str, FoundUrl]] = {}
        for url, home in zip(found, homes, strict=True):
            if home == routes.here:
                ours.append(url)
            elif not self._is_posted(home, name := self._name(url)) or from_letters:
                news.setdefault(home, {}).setdefault(name, url)
            else:
                self._more.spared += 1
        for home, urls in news.items():
            self._names.setdefault(home, []).extend(urls)
            self._more.urls += len(urls)
        self._post((home, URLS, body) for home, urls in sorted(news.items()) for body in url_bodies(urls.values()))
        return ours, [url[5] for urls in news.values() for url in urls.values()]

    def _is_posted(self, home: int, name: str) -> bool:
        """Counts a link, too."""
        if len(name) <= _LONGEST_HOT:
            self._hot.count(name)
            if self._hot.is_posted(home, name):
                return True
        return self._posted.is_posted(home, name)

    def _name(self, url: FoundUrl) -> str:
        """What is remembered of a URL that was posted: the same with a smaller depth, or without a refusal, is news."""
        text, depth, hops, is_seed, refusal, *_ = url
        way = f"{depth} {hops}" if self._remembers_depth else hops
        return f"{way} {is_seed:d} {refusal} {text}"

    # --- seeds, robots.txt, scope, pages --------------------------------------------------------------------------------

    def post_seeds(self, urls: Sequence[str]) -> list[str]:
        homes = dict(zip(urls, self._routes.homes_of(urls), strict=True))
        foreign = sorted((home, url) for url, home in homes.items() if home != self._routes.here)
        self._post((home, SEED, url.encode()) for home, url in foreign)
        return [url for url, home in homes.items() if home == self._routes.here]

    def ask_robots(self, asker: int, url: str, hops: int) -> None:
        self._post([(self._routes.home(split(url)[1]), ROBOTS_QUESTION, question(asker, url, hops))])
        self._more.robots += 1

    def answer_robots(self, asker: int, fact: RobotsFact) -> None:
        host = self._writer.value(_HOST_OF, id=asker)
        home = self._routes.here if host is None else self._routes.home(host)
        if home != self._routes.here:
            self._post([(home, ROBOTS_ANSWER, answer(asker, fact))])
            self._more.robots += 1

    def scope_origins(self) -> Collection[Origin]:
        return self._scope.origins()

    def widen(self, origins: Iterable[Origin]) -> None:
        self._scope.widen(origins)

    def count_pages(self, pages: int) -> None:
        self._writer.batches.count_pages(pages)
        if self._chunk is not None:
            self._chunk.store(pages)

    def _post(self, letters: Iterable[tuple[int, str, bytes]]) -> None:
        posted = [Letter(home, kind, self._routes.version, body) for home, kind, body in letters]
        self._mailbox.post(posted)
        self._more.letters += len(posted)
        self._more.bytes += sum([len(letter.body) for letter in posted])
