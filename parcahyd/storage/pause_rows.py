"""The rows of `pauses`: until when a host or an address is not to be asked, whichever site it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import BindParameter, bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from parcahyd.core.records import Pause
from parcahyd.storage.moments import later
from parcahyd.storage.tables import pauses
from parcahyd.storage.writer import Writer

__all__ = ["PauseRows"]


class PauseRows:
    """Keeps pauses; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        values: dict[str, BindParameter[Any]] = {"subject": bindparam("subject"), "not_before": bindparam("not_before")}
        # Of two visits to one host or address the later end counts.
        if writer.engine.dialect.name == "sqlite":
            lite = sqlite.insert(pauses).values(values)
            upsert = lite.on_conflict_do_update(
                index_elements=["subject"], set_={"not_before": later(pauses.c.not_before, lite.excluded.not_before)}
            )
            self._upsert = writer.prepare(upsert, "subject", "not_before")
        else:
            full = postgresql.insert(pauses).values(values)
            self._upsert = writer.prepare(
                full.on_conflict_do_update(
                    index_elements=["subject"], set_={"not_before": later(pauses.c.not_before, full.excluded.not_before)}
                ),
                *("subject", "not_before"),
            )

    def extend(self, wanted: Iterable[Pause]) -> None:
        """Keeps each subject from being asked until then; a pause is never shortened."""
        self._writer.many(self._upsert, [(pause.subject, pause.not_before) for pause in wanted])

    def in_force(self, now: float) -> tuple[Pause, ...]:
        """The pauses that are not over; the others are dropped."""
        self._writer.execute(delete(pauses).where(pauses.c.not_before <= now))
        statement = select(pauses.c.subject, pauses.c.not_before).order_by(pauses.c.subject)
        return tuple(Pause(subject, not_before) for subject, not_before in self._writer.execute(statement))
