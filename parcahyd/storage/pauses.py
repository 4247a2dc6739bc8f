"""The rows of `pauses`: until when no request goes to a host or an address, for any site."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import Text, and_, bindparam, case, delete, literal_column, or_, select, update
from sqlalchemy.dialects import sqlite

from parcahyd.core.records import Pause, PauseRecord
from parcahyd.storage.expressions import ONE, ZERO, later, same, time_bound
from parcahyd.storage.schema import pauses, sites
from parcahyd.storage.writer import Writer

__all__ = ["PauseRows"]

_REMEMBERED = 86_400.0


_FIELDS = Pause.__struct_fields__


def _upsert(new: Any) -> Any:
    """An INSERT that lengthens an existing pause. Each database has its own form of it.

    Of two visits to one host or address the later end counts. A visit that ends repeats the same end without its reason.
    """
    longer = later(pauses.c.not_before, new.excluded.not_before)
    is_longer = new.excluded.not_before > pauses.c.not_before + ONE
    has_news = or_(new.excluded.reason != literal_column("''", Text), is_longer)
    reason = case((has_news, new.excluded.reason), else_=pauses.c.reason)
    changed = {"not_before": longer, "reason": reason, "failures": new.excluded.failures}
    return new.values({name: bindparam(name) for name in _FIELDS}).on_conflict_do_update(
        index_elements=["subject"], set_=changed
    )


def _insert(kind: str) -> Any:
    if kind == "sqlite":
        return sqlite.insert(pauses)
    from sqlalchemy.dialects import postgresql  # Loading it takes as long as the rest of the start of a small crawl.

    return postgresql.insert(pauses)


_DROP_OVER = delete(pauses).where(
    or_(
        and_(pauses.c.not_before <= bindparam("now"), pauses.c.failures == ZERO),
        pauses.c.not_before <= bindparam("long_ago"),
    )
)
_ALL = select(*(pauses.c[name] for name in _FIELDS)).order_by(pauses.c.subject)
_SPARE_SITE = (
    update(sites)
    .where(*same(sites, "id", "visit"))
    .values(
        not_before=later(sites.c.not_before, time_bound("until", sites.c.not_before)),
        failures=bindparam("failures"),
        reason=bindparam("reason"),
    )
)


class PauseRows:
    """Writes and reads pauses; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._upsert = _upsert(_insert(writer.kind))

    def extend(self, wanted: Iterable[Pause]) -> None:
        """Inserts pauses or lengthens them. A pause is never shortened."""
        self._writer.many(self._upsert, [asdict(pause) for pause in wanted])

    def note(self, record: PauseRecord) -> None:
        """Stores the pauses that an open visit reports, and that of its own site."""
        self.extend(record.pauses)
        row = {"until": record.not_before, "failures": record.failures, "reason": record.reason or None}
        self._writer.many(_SPARE_SITE, [{"id": record.site, "visit": record.visit, **row}])

    def in_force(self, now: float) -> tuple[Pause, ...]:
        """The pauses, without those that are over. One after repeated failures is kept for a day after its end."""
        self._writer.run(_DROP_OVER, now=now, long_ago=now - _REMEMBERED)
        return tuple(Pause(*row) for row in self._writer.rows(_ALL))
