"""Which pairs of host and address are granted to whom wants them: the decision, without the database.

A pair is granted when each of its subjects is the claimer's already, or is free and no one with a lower ticket waits for it. A
pair draws one ticket for both its subjects, so the lowest ticket of all is head of both its queues, and no two pairs wait for
each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from parcahyd.cluster.records import Want

__all__ = ["Decision", "Owner", "SubjectRow", "Waiter", "decide"]

_PATIENCE = 2
"""Beats. A waiter that has renewed so often since its last try does not want the subject any more."""


_LAST = float("inf")


class Owner(NamedTuple):
    """A partition and the fencing token of one of its holders."""

    partition: int
    epoch: int
    token: int


class SubjectRow(NamedTuple):
    """A row of `subjects`, locked by the claim."""

    subject: str
    partition: int | None
    epoch: int | None
    token: int | None
    rest: float
    not_before: float
    delay: float
    reason: str
    failures: int
    facts: bytes | None
    life: int

    @property
    def owner(self) -> Owner | None:
        if self.partition is None or self.epoch is None or self.token is None:
            return None
        return Owner(self.partition, self.epoch, self.token)


class Waiter(NamedTuple):
    """A row of `waiters`."""

    subject: str
    ticket: int
    partition: int
    epoch: int
    token: int
    pair: str
    tried_at: int

    @property
    def owner(self) -> Owner:
        return Owner(self.partition, self.epoch, self.token)


class Decision(msgspec.Struct):
    """What a claim does."""

    granted: list[Want]
    refused: dict[str, list[int]]
    """Pairs that have to wait, with the partitions that they wait for. One of these may be silent, and has to be ended
    first."""
    struck: set[int]
    """Tickets that nobody will use."""


def decide(
    wants: Sequence[Want],
    claimer: Owner,
    rows: Mapping[str, SubjectRow],
    waiters: Iterable[Waiter],
    beats: Mapping[Owner, int],
    yielding: Collection[str] = (),
) -> Decision:
    """`beats` has the current holder of each partition with its beat. A subject without a row here is locked by another claim.

    `yielding` are subjects that the claimer has and is to hand on, because its turn is over.
    """
    struck: set[int] = set()
    heads: dict[str, Waiter] = {}
    for waiter in waiters:
        beat = beats.get(waiter.owner)
        if beat is None or beat - waiter.tried_at >= _PATIENCE:
            struck.add(waiter.ticket)
        elif waiter.subject not in heads or waiter.ticket < heads[waiter.subject].ticket:
            heads[waiter.subject] = waiter
    decision = Decision([], {}, struck)
    own_tickets = {waiter.pair: waiter.ticket for waiter in heads.values() if waiter.owner == claimer}
    granted: set[str] = set()
    for want in sorted(wants, key=lambda want: own_tickets.get(want.pair, _LAST)):
        open_ones = want.delays.keys() - granted
        blockers = {
            blocker
            for subject in open_ones
            if (blocker := _blocker(want, subject, claimer, rows, heads, beats, yielding)) is not None
        }
        if blockers:
            decision.refused[want.pair] = sorted(blockers - {claimer.partition})
        else:
            decision.granted.append(want)
            granted |= open_ones
    return decision


def _blocker(
    want: Want,
    subject: str,
    claimer: Owner,
    rows: Mapping[str, SubjectRow],
    heads: Mapping[str, Waiter],
    beats: Mapping[Owner, int],
    yielding: Collection[str],
) -> int | None:
    """The partition because of which the pair cannot have this subject; the claimer's own where it is nobody else's fault."""
    row = rows.get(subject)
    if row is None or subject in yielding:
        return claimer.partition
    if row.owner == claimer:
        return None
    if row.owner is not None and row.owner in beats:
        return row.owner.partition
    head = heads.get(subject)
    if head is None or (head.owner == claimer and head.pair == want.pair):
        return None
    return head.partition
