"""The rows of `pauses`: until when a host or an address is not to be asked, whichever site it is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from parcahyd.core.records import Pause
from parcahyd.storage.writer import Writer

__all__ = ["PauseRows"]


class PauseRows:
    """Keeps pauses; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._upsert = writer.statements["pause_rows.upsert"]
        self._drop_over = writer.statements["pause_rows.drop_over"]
        self._all = writer.statements["pause_rows.all"]

    def extend(self, wanted: Iterable[Pause]) -> None:
        """Keeps each subject from being asked until then; a pause is never shortened."""
        self._writer.many(self._upsert, [(pause.subject, pause.not_before) for pause in wanted])

    def in_force(self, now: float) -> tuple[Pause, ...]:
        """The pauses that are not over; the others are dropped."""
        self._writer.run(self._drop_over, now)
        return tuple(Pause(subject, not_before) for subject, not_before in self._writer.rows(self._all))
