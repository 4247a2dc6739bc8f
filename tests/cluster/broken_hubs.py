"""Hubs with one rule broken. The model test has to find each of them, or it is worth nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from sqlalchemy import BigInteger, bindparam, func, literal_column, select, true, update

from parcahyd.cluster import ending, fence, granting, quotas, subjects, taking
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import Deadline
from parcahyd.cluster.identity import Settling
from parcahyd.cluster.records import Want
from parcahyd.cluster.tables import chunks, cluster, partitions, states
from parcahyd.cluster.tables import quotas as quota_rows
from parcahyd.storage.expressions import same
from tests.cluster.simulated_tree import Rules

__all__ = ["BROKEN", "BrokenHub"]

Patch = pytest.MonkeyPatch


class BrokenHub(NamedTuple):
    """A hub without one of its rules, and the faults that such a hub does not bear."""

    name: str
    break_it: Callable[[Patch], Rules | None]
    faults: tuple[str, ...]
    pages: tuple[int | None, ...] = (None,)
    seed: int = 0
    """Where the search begins: a crawl that found it before."""


def _unlocked_fence(patch: Patch) -> None:
    """Taking does not wait for transactions of the holder, and does not end its sessions. Numbers are no second net."""
    joined = select(cluster.c.life).select_from(partitions.join(cluster, true()))
    unlocked = joined.where(*same(partitions, "id", "epoch", "token"), *same(cluster, "incarnation"))
    patch.setattr(fence, "_FENCE", unlocked)
    _write_any_number(patch)
    patch.setattr(taking.Taker, "_end_sessions", lambda *_: None)


def _write_any_number(patch: Patch) -> None:
    count = update(states).where(*same(states, "partition"), bindparam("before", type_=BigInteger) >= 0)
    values = {"batch": bindparam("number"), "pages": states.c.pages + bindparam("more")}
    patch.setattr(fence, "_COUNT", count.values(**values).returning(states.c.batch))


def _rest_as_released(patch: Patch) -> None:
    patch.setattr(subjects.Claims, "_rest", lambda _self, row, _delay, _life: row.rest)


def _forgetful_release(patch: Patch) -> None:
    right = subjects.Claims.release

    def release(self: subjects.Claims, released: Any) -> None:
        try:
            right(self, released)
        finally:
            for subject in released:
                self.held.pop(subject, None)

    patch.setattr(subjects.Claims, "release", release)


def _move_always(patch: Patch) -> None:
    patch.setattr(Deadline, "move", lambda self, noted: self.start(noted) or True)


def _impatient_watch(patch: Patch) -> None:
    right = taking.Watch.takeable
    patch.setattr(taking.Watch, "takeable", lambda self, node, lease: right(self, node, lease * 0.5))


def _count_twice(patch: Patch) -> None:
    """What a dead tree had is returned, and returned again."""
    gone = select(func.coalesce(func.sum(chunks.c.left), 0)).where(*same(chunks, "quota"), ~quotas._current)
    returned = update(quota_rows).where(*same(quota_rows, "name")).values(left=quota_rows.c.left + gone.scalar_subquery())
    patch.setattr(quotas, "_RETURN_STALE", returned.returning(quota_rows.c.left))


def _count_never(patch: Patch) -> None:
    """What a dead tree had is lost."""
    patch.setattr(quotas, "_RETURN_STALE", select(quota_rows.c.left).where(*same(quota_rows, "name")))


def _end_in_spite_of_mail(patch: Patch) -> None:
    nothing = ~select(states.c.partition).where(ending._working).exists()
    patch.setattr(ending, "_SEE", select(nothing, literal_column("false"), literal_column("false")))


def _no_settling(patch: Patch) -> None:
    def see(_self: Settling, facts: Any, own: Any) -> bool:
        own.settle(facts.identity)
        return True

    patch.setattr(Settling, "see", see)


def _half_a_pair(patch: Patch) -> None:
    right = granting._blocker

    def blocker(want: Want, subject: str, *rest: Any) -> int | None:
        rows = rest[1]
        return right(want, subject, *rest) if subject.startswith("host") or subject not in rows else None

    patch.setattr(granting, "_blocker", blocker)


def _old_sessions_go_on(patch: Patch) -> None:
    """A session that was lost is not ended, and the number is written without a comparison."""
    patch.setattr(HubConnection, "_end_old", lambda *_: None)
    patch.setattr(fence, "_NUMBER", select(states.c.batch, states.c.clock).where(*same(states, "partition")))
    _write_any_number(patch)


def _silent_is_free(patch: Patch) -> None:
    """Who is blocked takes a subject without ending its owner's partition, after it was refused a few times."""
    right = granting._blocker
    refusals: dict[str, int] = {}

    def blocker(want: Want, subject: str, *rest: Any) -> int | None:
        found = right(want, subject, *rest)
        refusals[subject] = 0 if found is None else refusals.get(subject, 0) + 1
        return found if refusals[subject] < 8 else None

    patch.setattr(granting, "_blocker", blocker)


def _with(**rules: bool) -> Callable[[Patch], Rules]:
    return lambda _patch: Rules(**rules)


_STILL = ("stand still", "renewer stands still", "tree stands still", "node stands still")
_LOSS = ("kill", "vanish")

BROKEN = (
    BrokenHub("the fence takes no lock", _unlocked_fence, ("tree stands still in a transaction",), seed=9),
    BrokenHub("stale subjects do not rest", _rest_as_released, ("wish", "renewer stands still"), seed=8),
    BrokenHub("a release that was not answered is forgotten", _forgetful_release, ("commit lost",), seed=9),
    BrokenHub("a deadline that passed is moved", _move_always, ("renewal is answered late",), seed=2),
    BrokenHub("takers wait half a lease", _impatient_watch, ("renewer stands still", "renewal is answered late")),
    BrokenHub("subjects are released before the answer", _with(releases_after_answer=False), ()),
    BrokenHub("a lost COMMIT is repeated unasked", _with(asks_whether_committed=False), ("commit answer lost",)),
    BrokenHub("lost sessions go on", _old_sessions_go_on, ("commit late",)),
    BrokenHub("mail is deleted before it is stored", _with(stores_mail_with_its_deletion=False), _LOSS, seed=4),
    BrokenHub("a partition with work says that it is idle", _with(is_idle_only_without_work=False), ()),
    BrokenHub("the end does not look at mail", _end_in_spite_of_mail, _STILL),
    BrokenHub("chunks of dead trees count twice", _count_twice, _LOSS, (5,), seed=3),
    BrokenHub("chunks of dead trees are lost", _count_never, _LOSS, (5,), seed=3),
    BrokenHub("nobody waits after a fail-over", _no_settling, ("fail over", "renewer stands still")),
    BrokenHub("half a pair is granted", _half_a_pair, ()),
    BrokenHub("a subject is taken from a silent partition", _silent_is_free, _STILL, seed=4),
)
