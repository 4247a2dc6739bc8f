"""The store of one partition: the tables of its sites, its mail, its share of MaxPages, and when it has nothing to do.

Every method is one transaction of the partition's writer, as with `Store`. It is used from the database thread.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from sqlalchemy import bindparam, null, select, update

from parcahyd.cluster.ending import set_idle
from parcahyd.cluster.incoming import Incoming, Letters
from parcahyd.cluster.mail import Mailbox
from parcahyd.cluster.partition_writer import PartitionWriter
from parcahyd.cluster.posting import MailCounts, Posting
from parcahyd.cluster.quotas import Chunk
from parcahyd.cluster.records import HeldPartition, MoveNews
from parcahyd.cluster.routes import Routes
from parcahyd.cluster.runs import STOPPED
from parcahyd.cluster.scope import FollowedScope, added_since
from parcahyd.cluster.site_moves import SiteMoves
from parcahyd.cluster.tables import runs, starts, states
from parcahyd.config.schema import Configuration
from parcahyd.core.partitions import Partitioner, Routing
from parcahyd.storage.expressions import inserting, same
from parcahyd.storage.store import RunStart, Store, TakenMail

__all__ = ["BOX_LIMIT", "Letters", "PartitionStore"]

BOX_LIMIT = 2000
"""Letters from which on the box of a partition is full."""

_BEGUN = (
    select(states.c.run, runs.c.outcome)
    .select_from(states.outerjoin(runs, runs.c.id == states.c.run))
    .where(*same(states, "partition"))
)
_BEGIN = update(states).where(*same(states, "partition")).values(run=bindparam("number"))
_NOTE_START = inserting(starts, "partition", "start", "run")
_JUDGED = select(states.c.judged).where(*same(states, "partition"))
_JUDGE = update(states).where(*same(states, "partition")).values(judged=bindparam("version"), idle_since=null())


class PartitionStore:
    """A Store, and what its partition owes the others. `begin_run` comes first.

    `store` is used as on one machine. What it posts, counts and reserves goes with its transactions.
    """

    def __init__(
        self,
        url: str,
        held: HeldPartition,
        configuration: Configuration,
        make_partitioner: Callable[[Routing], Partitioner],
        passed: Callable[[], bool],
        now: Callable[[], float],
        box_limit: int = BOX_LIMIT,
    ) -> None:
        """`passed` says whether the deadline of the tree has passed, `now` is the pipeline's own time."""
        self._writer = PartitionWriter(url, held, passed, now)
        self._partition = held.holding.partition
        self._routes = Routes(self._writer, make_partitioner, self._partition, held.partitions, held.secret)
        self._scope = FollowedScope(self._writer)
        self._chunk = Chunk(self._writer.fence) if configuration.work.MaxPages else None
        self._mailbox = Mailbox(self._writer.fence, box_limit)
        self._posting = Posting(self._writer, self._mailbox, self._routes, self._scope, self._chunk, configuration.work)
        self.store = Store(self._writer, others=self._posting)
        self._moves = SiteMoves(self._writer, self._mailbox, self._routes, self.store)
        self._routes.on_coming = self._moves.receive
        self._posting.before_leases = self._moves.before_leases
        self._incoming = Incoming(self._writer, self._mailbox, self._before_mail, self.store.take_in)

    @property
    def last_time(self) -> float:
        """The pipeline's own time when the writer of a tree before last wrote. No clock of this tree goes back behind it."""
        return self._writer.batches.last_time

    @property
    def mail_counts(self) -> MailCounts:
        return self._posting.counts

    # --- runs -----------------------------------------------------------------------------------------------------------

    def begin_run(self, configuration: Configuration, run: int, now: float, *, forever: bool) -> RunStart:
        """Begins the run of the hub in this partition, or goes on with it where another tree began it.

        A tree that dies between the two transactions has opened no visit, so the next one begins the run once more.
        """
        with self._writer.transaction():
            ((begun, outcome),) = self._writer.rows(_BEGUN, partition=self._partition)
            self._follow_routing()
        start = self.store.begin_run(configuration, now, forever=forever, goes_on=begun == run or outcome == STOPPED)
        with self._writer.transaction():
            self._writer.run(_BEGIN, partition=self._partition, number=run)
            self._writer.run(_NOTE_START, partition=self._partition, start=start.run, run=run)
            self._follow_scope(now)
        return start

    def go_idle(self, now: float, until: float, again_before: float | None) -> bool:
        """Says that there is nothing to do, if nothing falls due before `until` and no letter waits; returns whether it did.

        It writes only then. `again_before` is that of `Store.lease`.
        """
        if self.store.open_visits:
            return False
        with self._writer.looking():
            if self._has_work(now, until, again_before):
                return False
        with self._writer.transaction():
            self._follow_routing()
            self._follow_scope(now)
            if self._has_work(now, until, again_before):
                return False
            set_idle(self._writer.fence, self._chunk, self._scope.version, self._routes.version)
        return True

    def _has_work(self, now: float, until: float, again_before: float | None) -> bool:
        if self._mailbox.has_news() or self._moves.look().is_any:
            return True
        due = self.store.next_due(now, again_before)
        return due is not None and due <= until

    # --- what all partitions go by --------------------------------------------------------------------------------------

    def follow_scope(self, now: float) -> bool:
        """Goes by the newest scope, when a renewal tells of one; returns whether a site became due."""
        with self._writer.transaction():
            return self._follow_scope(now)

    def follow_routing(self) -> None:
        """The same with the routing. Letters and `go_idle` follow both of themselves."""
        with self._writer.transaction():
            self._follow_routing()

    def _follow_routing(self) -> None:
        if self._routes.follow():
            self._posting.forget_posted()

    def _follow_scope(self, now: float) -> bool:
        """Judges the sites by what the scope has got since they were judged last."""
        newest = self._scope.read()
        judged = self._writer.value(_JUDGED, partition=self._partition)
        if newest == judged:
            return False
        _, added = added_since(self._writer, judged)
        self._writer.run(_JUDGE, partition=self._partition, version=newest)
        return self.store.admit(added, now)

    # --- mail -----------------------------------------------------------------------------------------------------------

    def exchange_letters(self, now: float) -> Letters:
        """Takes in letters, and posts what waits in the outbox."""
        return self._incoming.exchange(now)

    def _before_mail(self, mail: TakenMail, routing: int, now: float) -> bool:
        """Letters are judged by the scope, the routing and the homes that their writers knew, or newer ones."""
        if routing > self._routes.version:
            self._follow_routing()
        self._routes.doubt(url[0] for url in mail.urls)
        self._routes.doubt(mail.seeds)
        self._routes.doubt(url for _, url, _ in mail.robots_questions)
        return self._follow_scope(now)

    # --- sites that move ------------------------------------------------------------------------------------------------

    def move_sites(self) -> MoveNews:
        """Lets go of sites that are to live elsewhere, and carries some rows of one that comes. It writes nothing where there
        is neither."""
        with self._writer.looking():
            news = self._moves.look()
        if not news.is_any:
            return news
        self.store.take_new_work()
        with self._writer.transaction():
            self._moves.begin_given()
            self._moves.let_go()
            self._moves.carry()
        with self._writer.looking():
            news = self._moves.look()
        return msgspec.structs.replace(news, has_new_work=self.store.take_new_work())

    def close(self) -> None:
        self.store.close()
