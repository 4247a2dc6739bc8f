"""The rows of `runs`, and what a new run does to the database: settings that changed since the last one take effect."""

from __future__ import annotations

from typing import Any

import msgspec

from parcahyd import __version__
from parcahyd.config.schema import Configuration
from parcahyd.config.secrets import without_secrets
from parcahyd.core.life_cycle import SETTINGS_OF, Reason, State
from parcahyd.storage.moments import never
from parcahyd.storage.run_state import RunState
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.writer import Writer

__all__ = ["RunRows"]

_NOT_RECORDED = frozenset({"DbUrl", "DbName", "DbUser", "DbPassword"})
"""How the database is reached may be a secret, and decides nothing about the crawl."""


class RunRows:
    """Opens and closes runs; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState, site_rows: SiteRows) -> None:
        self._writer = writer
        self._state = state
        self._sites = site_rows
        self._last_settings = writer.statements["run_rows.last_settings"]
        self._insert = writer.statements["run_rows.insert"]
        self._end = writer.statements["run_rows.end"]
        self._left = writer.statements["run_rows.left"]
        self._next_due = writer.statements["run_rows.next_due"]
        self._readmit = writer.statements["run_rows.readmit"]
        self._refuse_deep = writer.statements["run_rows.refuse_deep"]
        self._revisit = writer.statements["run_rows.revisit"]

    def begin(self, configuration: Configuration, now: float) -> tuple[int, frozenset[str]]:
        """Records a run; gives its number and the settings, as `Work.KEY`, that differ from the last run's."""
        settings = _settings(configuration)
        last = self._writer.value(self._last_settings)
        before = settings if last is None else msgspec.json.decode(last)
        number = self._writer.new_id("runs")
        self._writer.run(self._insert, number, now, msgspec.json.encode(settings).decode(), __version__)
        # A setting that the last run did not have yet had no influence on it.
        return number, frozenset(key for key, value in settings.items() if before.get(key, value) != value)

    def apply(self, changed: frozenset[str], now: float) -> None:
        """Lets URLs follow settings that changed; costs a pass over the tables, and nothing where nothing changed."""
        readmitted = [
            reason.word for reason, keys in SETTINGS_OF.items() if reason is not Reason.SCOPE and changed.intersection(keys)
        ]
        revisit = "Work.RevisitAfter" in changed
        if changed.intersection(SETTINGS_OF[Reason.SCOPE]):
            self._rescope(now)
        if readmitted:
            # As far as distance and scope allow.
            reasons = self._writer.lists.bind(readmitted)
            self._writer.run(self._readmit, now, reasons, self._state.max_depth, self._state.work.MaxRedirects)
        if "Work.MaxDepth" in changed:
            self._writer.run(self._refuse_deep, self._state.max_depth)
        if revisit:
            self._writer.run(self._revisit, never(self._state.work.RevisitAfter))
        if readmitted or revisit:
            self._sites.settle_all()

    def _rescope(self, now: float) -> None:
        scope = self._sites.scope
        moved = [(number, inside) for number, origin, inside in self._sites.all_sites() if scope.admits(*origin) is not inside]
        self._sites.readmit([number for number, inside in moved if not inside], now)
        self._sites.expel([number for number, inside in moved if inside])

    def waiting(self) -> tuple[dict[str, int], float | None]:
        left = {State(state).word: number for state, number in self._writer.rows(self._left)}
        return left, self._writer.value(self._next_due)

    def end(self, outcome: str, counts: dict[str, int], now: float) -> None:
        self._writer.run(self._end, now, outcome, msgspec.json.encode(counts).decode(), self._state.run)


def _settings(configuration: Configuration) -> dict[str, Any]:
    """Every setting as JSON has it, so that it can be compared with what was read back."""
    found: dict[str, Any] = {}
    for file, conf in (("Map", configuration.map), ("Work", configuration.work)):
        for key in conf.__struct_fields__:
            if key not in _NOT_RECORDED:
                found[f"{file}.{key}"] = without_secrets(key, getattr(conf, key))
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return decoded
