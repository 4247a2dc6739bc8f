"""Hosts and addresses: one partition at a time has each, and the delay is kept when it changes hands.

A release writes how long the subject rests: what is left of its delay since the end of the last answer. Who claims it next
counts that from the answer to his claim, which came after the release. So no two clocks are compared. The owner of a subject
that was not released is gone: the subject is stale, and rests its whole delay and a tenth of the lease, since a dead machine's
kernel may still deliver a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import bindparam, delete, exists, extract, func, null, select, update
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.deadline import BootClock, HubTime
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.granting import Decision, Owner, SubjectRow, Waiter, decide
from parcahyd.cluster.records import Want
from parcahyd.cluster.tables import cluster, partitions, subjects, tickets, waiters
from parcahyd.core.errors import HubWentBack
from parcahyd.storage.expressions import bound, numbers, same, words
from parcahyd.storage.writer import Writer

__all__ = ["Claimed", "Claims", "Learned", "sweep"]

_DAY = 86400
_DEAD_KERNEL = 0.1
"""Of a lease: for so long a dead machine's kernel may deliver what was sent."""

# An empty row gives nobody anything, so this needs no fence. It is a transaction of its own: to insert a row that another
# transaction has inserted is to wait for that one.
_OPEN = (
    insert(subjects)
    .from_select(["subject"], words("names").order_by(words("names").selected_columns[0]))
    .on_conflict_do_nothing()
)
# A locked row counts as not free. In one order, so that no two claims wait for each other.
_LOCK = (
    select(*(subjects.c[name] for name in SubjectRow._fields))
    .where(subjects.c.subject.in_(words("names")))
    .order_by(subjects.c.subject)
    .with_for_update(skip_locked=True)
)
# Read after the rows are locked, by a statement of its own. In the same statement the partitions would be as they were before
# the lock, and a subject that their next holder has just claimed would look free.
_HOLDERS = select(partitions.c.id, partitions.c.epoch, partitions.c.token, partitions.c.beat).where(
    partitions.c.token.is_not(None)
)
_QUEUES = select(*(waiters.c[name] for name in Waiter._fields)).where(waiters.c.subject.in_(words("names")))
_OWNER = ("partition", "epoch", "token")
_CLAIM = (
    update(subjects)
    .where(*same(subjects, "subject"))
    .values(**bound(*_OWNER), rest=bindparam("for_seconds"), life=bindparam("in_life"), freed_in=null())
)
_OWN = (subjects.c.subject == bindparam("name"), *same(subjects, *_OWNER))
_LEARNED = ("not_before", "delay", "reason", "failures", "facts")
_LEARN = update(subjects).where(*_OWN).values(bound(*_LEARNED)).returning(subjects.c.subject)
_FREE = {**dict.fromkeys(_OWNER, null()), "freed_in": select(cluster.c.sweep).scalar_subquery()}
_RELEASE = update(subjects).where(*_OWN).values(**_FREE, rest=bindparam("for_seconds"))
_LET_GO = update(subjects).where(*_OWN).values(_FREE)
_HAVE = select(subjects.c.subject).where(*same(subjects, *_OWNER))
_TICKET = select(func.nextval(f"{tickets.schema}.{tickets.name}"))
_WAIT = insert(waiters).values(bound(*Waiter._fields)).on_conflict_do_nothing()
_TRY = update(waiters).where(waiters.c.ticket.in_(numbers("numbers"))).values(tried_at=bindparam("beat"))
_open_tickets = select(waiters.c.ticket).where(waiters.c.ticket.in_(numbers("numbers"))).with_for_update(skip_locked=True)
_LEAVE = delete(waiters).where(waiters.c.ticket.in_(_open_tickets))
_LEAVE_PAIR = delete(waiters).where(*same(waiters, "pair", *_OWNER))
_WAITED_FOR = (
    select(subjects.c.subject)
    .where(*same(subjects, *_OWNER))
    .where(exists().where(waiters.c.subject == subjects.c.subject, waiters.c.partition != subjects.c.partition))
)
_NEXT_SWEEP = update(cluster).values(sweep=cluster.c.sweep + 1).returning(cluster.c.sweep)
_is_current = exists().where(
    partitions.c.id == subjects.c.partition, partitions.c.epoch == subjects.c.epoch, partitions.c.token == subjects.c.token
)
_waits = exists().where(
    partitions.c.id == waiters.c.partition, partitions.c.epoch == waiters.c.epoch, partitions.c.token == waiters.c.token
)
_FORGET_WAITERS = delete(waiters).where(~_waits)
_FIND_STALE = update(subjects).where(subjects.c.freed_in.is_(None), ~_is_current).values(freed_in=bindparam("number"))
_SWEEP = delete(subjects).where(
    subjects.c.freed_in < bindparam("before"),
    subjects.c.facts.is_(None),
    subjects.c.delay == 0,
    subjects.c.not_before < extract("epoch", func.clock_timestamp()) - _DAY,
)


class Claimed(msgspec.Struct):
    """A subject that this tree has, and what goes with it."""

    since: float
    """The boot clock when the claim was answered: the turn counts from here."""
    usable_from: float
    """The boot clock from which the first request may be sent."""
    delay: float
    """The longer of the one that was learned and that of the configuration."""
    not_before: float
    reason: str
    failures: int
    facts: bytes | None
    is_being_released: bool = False
    """Its release was asked for and not answered: nothing is sent to it."""


class Learned(msgspec.Struct, frozen=True):
    """What was learned of a subject. It stays with the subject whoever has it."""

    subject: str
    not_before: float = 0.0
    """Hub time; only pauses that are longer than the delay."""
    delay: float = 0.0
    """Where it is more than the configuration's."""
    reason: str = ""
    failures: int = 0
    facts: bytes | None = None
    """Of a host: robots.txt, guards, limits."""


class Claims:
    """The subjects of one tree. Used from one thread, on a connection of its own."""

    def __init__(self, fence: Fence, clock: BootClock, hub_time: HubTime, lease: float, turn_seconds: float) -> None:
        self._fence = fence
        self._writer = fence.writer
        self._clock = clock
        self._hub_time = hub_time
        self._lease = lease
        self._turn_seconds = turn_seconds
        self._me = Owner(fence.holding.partition, fence.holding.epoch, fence.holding.token)
        self.held: dict[str, Claimed] = {}
        """What this tree has, as far as it knows. A subject leaves only when its release is known to be committed."""

    # --- claiming -------------------------------------------------------------------------------------------------------

    def claim(self, wants: Sequence[Want], yielding: Iterable[str] = ()) -> Decision:
        """Claims host and address of each pair, both or neither. A refused pair waits with a ticket.

        `yielding` are subjects that are to be handed on. Called again for pairs that wait, at least once in each renewal: a
        ticket that nobody tries to use is struck out.
        """
        delays = {subject: delay for want in wants for subject, delay in want.delays.items()}
        names = self._writer.lists.bind(sorted(delays))
        kept_back = {*yielding, *(subject for subject, claimed in self.held.items() if claimed.is_being_released)}
        with self._writer.at_once():
            self._writer.run(_OPEN, names=names)
        with self._fence.transaction() as life:
            rows = {row[0]: SubjectRow._make(row) for row in self._writer.rows(_LOCK, names=names)}
            beats = {Owner(*row[:3]): row[3] for row in self._writer.rows(_HOLDERS)}
            queues = [Waiter._make(row) for row in self._writer.rows(_QUEUES, names=names)]
            decision = decide(wants, self._me, rows, queues, beats, kept_back)
            taken = self._take(decision, rows, delays, life)
            self._queue(decision, wants, queues, beats)
        self._note(taken, rows, delays)
        return decision

    def _take(
        self, decision: Decision, rows: Mapping[str, SubjectRow], delays: Mapping[str, float], life: int
    ) -> dict[str, float]:
        """Writes the owner of granted subjects. How long each rests is written, too: the answer may be lost."""
        granted = {subject for want in decision.granted for subject in want.delays}
        if any(rows[subject].owner != self._me for subject in granted & self.held.keys()):
            raise HubWentBack("the hub does not know of a host or address that this tree has")
        taken = {subject: self._rest(rows[subject], delays[subject], life) for subject in sorted(granted - self.held.keys())}
        rows_to_write = [
            {"subject": subject, **self._fence.owner, "for_seconds": rest, "in_life": life} for subject, rest in taken.items()
        ]
        self._writer.many(_CLAIM, rows_to_write)
        return taken

    def _rest(self, row: SubjectRow, default_delay: float, life: int) -> float:
        delay = max(row.delay, default_delay)
        if row.owner == self._me:  # Claimed by a transaction whose answer was lost.
            return row.rest
        if row.owner is not None:
            return delay + _DEAD_KERNEL * self._lease
        # The hub went back since, so a release or even the row may be missing.
        return max(row.rest, delay) if row.life < life else row.rest

    def _note(self, taken: Mapping[str, float], rows: Mapping[str, SubjectRow], delays: Mapping[str, float]) -> None:
        answered, hub_now = self._clock(), self._hub_time.now()
        for subject, rest in taken.items():
            row = rows[subject]
            self.held[subject] = Claimed(
                since=answered,
                usable_from=answered + max(rest, row.not_before - hub_now),
                delay=max(row.delay, delays[subject]),
                not_before=row.not_before,
                reason=row.reason,
                failures=row.failures,
                facts=row.facts,
            )

    # --- turns ----------------------------------------------------------------------------------------------------------

    def _queue(self, decision: Decision, wants: Sequence[Want], queues: Sequence[Waiter], beats: Mapping[Owner, int]) -> None:
        """Strikes out tickets that nobody uses, ends those of granted pairs, and gives refused pairs one."""
        mine = {waiter.pair: waiter.ticket for waiter in queues if waiter.owner == self._me}
        granted = {want.pair for want in decision.granted}
        over = decision.struck | {ticket for pair, ticket in mine.items() if pair in granted}
        if over:
            self._writer.run(_LEAVE, numbers=self._writer.lists.bind(sorted(over)))
        beat = beats[self._me]
        waiting = [ticket for pair, ticket in mine.items() if pair in decision.refused and ticket not in over]
        if waiting:
            self._writer.run(_TRY, numbers=self._writer.lists.bind(sorted(waiting)), beat=beat)
        for want in wants:
            if want.pair in decision.refused and mine.get(want.pair) not in waiting:
                ticket = self._writer.value(_TICKET)
                row = {"ticket": ticket, **self._fence.owner, "pair": want.pair, "tried_at": beat}
                self._writer.many(_WAIT, [{"subject": subject, **row} for subject in want.delays])

    def leave(self, pairs: Iterable[str]) -> None:
        """Gives up the tickets of pairs that have waited too long."""
        with self._fence.transaction():
            self._writer.many(_LEAVE_PAIR, [{"pair": pair, **self._fence.owner} for pair in pairs])

    def to_yield(self) -> set[str]:
        """The subjects whose turn is over because others wait for them: no visit that has not started is opened there."""
        with self._fence.transaction():
            waited_for = {row[0] for row in self._writer.rows(_WAITED_FOR, **self._fence.owner)}
        now = self._clock()
        return {
            subject
            for subject, claimed in self.held.items()
            if subject in waited_for and now - claimed.since >= self._turn_seconds
        }

    # --- what was learned, and releasing --------------------------------------------------------------------------------

    def learn(self, learned: Sequence[Learned]) -> None:
        """Writes delays and pauses, before the next request is sent: the next owner must know them even if this tree dies."""
        with self._fence.transaction():
            self._write_learned(learned)
        for one in learned:
            claimed = self.held[one.subject]
            claimed.delay = max(claimed.delay, one.delay)

    def _write_learned(self, learned: Sequence[Learned]) -> None:
        for one in sorted(learned, key=lambda one: one.subject):
            columns = {name: getattr(one, name) for name in _LEARNED}
            if not self._writer.rows(_LEARN, name=one.subject, **columns, **self._fence.owner):
                raise HubWentBack(f"the hub does not know that this tree has {one.subject}")

    def release(self, rests: Mapping[str, float]) -> None:
        """Hands subjects on, each with the seconds that are left of its delay since the end of the last answer.

        Nothing of this tree is on the wire there. After a StoreFailure the release is repeated: until it is known to be
        committed, nobody here uses the subjects, and nobody forgets them.
        """
        for subject in rests:
            self.held[subject].is_being_released = True
        with self._fence.transaction():
            rows = [{"name": subject, "for_seconds": rests[subject], **self._fence.owner} for subject in sorted(rests)]
            self._writer.many(_RELEASE, rows)
        for subject in rests:
            del self.held[subject]

    def release_strays(self) -> None:
        """Frees subjects of a claim that was committed although its answer was lost. They were not used, and rest as before."""
        with self._fence.transaction():
            known = {row[0] for row in self._writer.rows(_HAVE, **self._fence.owner)}
            strays = sorted(known - self.held.keys())
            self._writer.many(_LET_GO, [{"name": subject, **self._fence.owner} for subject in strays])


def sweep(writer: Writer) -> None:
    """Deletes subjects that have been free since before the last sweep and of which nothing was learned.

    Called by the planner once a day of its own clock, and first a day after it became the planner. So what is deleted has been
    free for a day, whatever the hub's clock did. Used inside a transaction.
    """
    number = writer.value(_NEXT_SWEEP)
    writer.run(_FIND_STALE, number=number)
    writer.run(_SWEEP, before=number - 1)
    writer.run(_FORGET_WAITERS)
