"""Letters between partitions: written in the transaction of the page that they come from, deleted in the one that stores them.

So each letter is taken in exactly once. A full box never holds back a page: what does not fit waits in the sender's outbox,
and only new visits of the sender are slowed. A partition that nobody holds has a box without limit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from sqlalchemy import bindparam, delete, exists, func, insert, null, or_, select, update

from parcahyd.cluster.fence import Fence
from parcahyd.cluster.tables import mail, outbox, partitions, states
from parcahyd.core.errors import LeaseLost
from parcahyd.storage.expressions import MOST, inserting, numbers, same

__all__ = ["Letter", "Mailbox", "ReceivedLetter"]

_COLUMNS = ("partition", "kind", "routing", "body")
_POST = inserting(mail, *_COLUMNS)
_KEEP = inserting(outbox, "sender", *_COLUMNS)
_A_LOT = 64 * 1024 * 1024
_AT_ONCE = 500
"""Letters that one transaction takes out of the outbox, at most."""
_is_alive = partitions.c.token.is_not(None)
_is_full = exists(select(mail.c.id).where(mail.c.partition == partitions.c.id).offset(MOST).correlate(partitions))
_FULL = select(partitions.c.id).where(partitions.c.id.in_(numbers("readers")), _is_alive, _is_full)
_READERS = select(outbox.c.partition).where(*same(outbox, "sender")).distinct()
_longest_kept = (
    select(outbox.c.id)
    .where(*same(outbox, "sender"), outbox.c.partition.in_(numbers("readers")))
    .order_by(outbox.c.id)
    .limit(MOST)
)
_moved = delete(outbox).where(outbox.c.id.in_(_longest_kept)).returning(*(outbox.c[name] for name in _COLUMNS)).cte("moved")
_RELAY = insert(mail).from_select(list(_COLUMNS), select(*(_moved.c[name] for name in _COLUMNS)))
_KEPT = select(func.count()).select_from(outbox).where(*same(outbox, "sender"))
_HAS_NEWS = select(
    or_(
        exists(select(mail.c.id).where(mail.c.partition == bindparam("partition"))),
        exists(select(outbox.c.id).where(outbox.c.sender == bindparam("partition"))),
    )
)
_size = func.octet_length(mail.c.body)
_oldest = select(mail, _size.label("size")).where(*same(mail, "partition")).order_by(mail.c.id).limit(MOST).subquery()
_so_far = select(_oldest, func.sum(_oldest.c.size).over(order_by=_oldest.c.id).label("so_far")).subquery()
_OLDEST = (
    select(_so_far.c.id, _so_far.c.kind, _so_far.c.routing, _so_far.c.body)
    .where(_so_far.c.so_far - _so_far.c.size < bindparam("most_bytes"))
    .order_by(_so_far.c.id)
)
_REMOVE = delete(mail).where(*same(mail, "partition"), mail.c.id.in_(numbers("letters"))).returning(mail.c.id)
_REPLACE = update(mail).where(*same(mail, "id", "partition")).values(body=bindparam("content"))
_BUSY = update(states).where(*same(states, "partition"), states.c.idle_since.is_not(None)).values(idle_since=null())


class Letter(msgspec.Struct, frozen=True):
    """What one partition tells another: foreign URLs, a robots redirect, a boundary page, a probe."""

    partition: int
    """Who reads it."""
    kind: str
    routing: int
    """The version of the routing by which the sender found the reader."""
    body: bytes


class ReceivedLetter(msgspec.Struct, frozen=True):
    """A letter in its reader's box."""

    id: int
    kind: str
    routing: int
    body: bytes


class Mailbox:
    """The mail of one partition; used inside transactions of its writer, after the fence."""

    def __init__(self, fence: Fence, limit: int) -> None:
        """`limit` is the number of letters from which on a box is full."""
        self._writer = fence.writer
        self._partition = fence.holding.partition
        self._limit = limit

    def post(self, letters: Sequence[Letter]) -> None:
        """Posts letters in the transaction of the page that they come from."""
        if not letters:
            return
        full = self._full({letter.partition for letter in letters})
        rows = [{name: getattr(letter, name) for name in _COLUMNS} for letter in letters]
        self._writer.many(_POST, [row for row in rows if row["partition"] not in full])
        self._writer.many(_KEEP, [{"sender": self._partition, **row} for row in rows if row["partition"] in full])

    def _full(self, readers: Collection[int]) -> set[int]:
        names = self._writer.lists.bind(sorted(readers))
        return {row[0] for row in self._writer.rows(_FULL, readers=names, most=self._limit - 1)}

    def relay(self) -> int:
        """Posts what waits in the outbox where there is room again; returns how many letters still wait."""
        readers = {row[0] for row in self._writer.rows(_READERS, sender=self._partition)}
        if not readers:
            return 0
        names = self._writer.lists.bind(sorted(readers - self._full(readers)))
        self._writer.run(_RELAY, sender=self._partition, readers=names, most=_AT_ONCE)
        return int(self._writer.value(_KEPT, sender=self._partition))

    def has_news(self) -> bool:
        """Whether letters are in the box or in the outbox; reads without a lock, and needs no fence."""
        return bool(self._writer.value(_HAS_NEWS, partition=self._partition))

    def read(self, most: int, most_bytes: int = _A_LOT) -> list[ReceivedLetter]:
        """The oldest letters in the box, which stay there. They end with the one that fills up so many bytes."""
        rows = self._writer.rows(_OLDEST, partition=self._partition, most=most, most_bytes=most_bytes)
        return [ReceivedLetter(*row) for row in rows]

    def take_in(self, letters: Sequence[ReceivedLetter]) -> None:
        """Deletes letters in the transaction that stores what they say. The partition is idle no longer."""
        names = self._writer.lists.bind([letter.id for letter in letters])
        if len(self._writer.rows(_REMOVE, partition=self._partition, letters=names)) != len(letters):
            raise LeaseLost(f"letters to partition {self._partition} were taken in by another")
        self._writer.run(_BUSY, partition=self._partition)

    def divide(self, letter: ReceivedLetter, bodies: Sequence[bytes]) -> None:
        """Puts two letters in the place of one in the box."""
        first, second = bodies
        self._writer.run(_REPLACE, id=letter.id, partition=self._partition, content=first)
        row = {"partition": self._partition, "kind": letter.kind, "routing": letter.routing, "body": second}
        self._writer.run(_POST, **row)
