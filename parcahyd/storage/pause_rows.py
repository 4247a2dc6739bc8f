"""The rows of `pauses`: until when a host or an address is not to be asked, whichever site it is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import astuple

from parcahyd.core.records import Pause, PauseRecord
from parcahyd.storage.writer import Writer

__all__ = ["PauseRows"]

_REMEMBERED = 86_400.0


class PauseRows:
    """Keeps pauses; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._upsert = writer.statements["pause_rows.upsert"]
        self._drop_over = writer.statements["pause_rows.drop_over"]
        self._all = writer.statements["pause_rows.all"]
        self._spare_site = writer.statements["pause_rows.spare_site"]

    def extend(self, wanted: Iterable[Pause]) -> None:
        """Keeps each subject from being asked until then; a pause is never shortened."""
        self._writer.many(self._upsert, [astuple(pause) for pause in wanted])

    def note(self, record: PauseRecord) -> None:
        """Takes what an open visit was told: who is to be left alone, its own site included."""
        self.extend(record.pauses)
        told = (record.not_before, record.not_before, record.failures, record.reason or None)
        self._writer.many(self._spare_site, [(*told, record.site, record.visit)])

    def in_force(self, now: float) -> tuple[Pause, ...]:
        """The pauses that are not over; those that are still count for a day, where they came one after the other."""
        self._writer.run(self._drop_over, now, now - _REMEMBERED)
        return tuple(Pause(*row) for row in self._writer.rows(self._all))
