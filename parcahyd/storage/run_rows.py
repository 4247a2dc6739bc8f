"""The rows of `runs`, and what a new run does to the database: settings that changed since the last one take effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from parcahyd.config.schema import Configuration
from parcahyd.config.secrets import without_secrets
from parcahyd.core.life_cycle import SETTINGS_OF, Reason, State
from parcahyd.core.version import __version__
from parcahyd.refresh.budget import Allowance
from parcahyd.refresh.schedule import SETTINGS
from parcahyd.storage.histories import History, rate_of
from parcahyd.storage.moments import never
from parcahyd.storage.run_state import RunState
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.writer import Writer

__all__ = ["RunRows"]

_NOT_RECORDED = frozenset({"DbUrl", "DbName", "DbUser", "DbPassword"})
"""How the database is reached may be a secret, and decides nothing about the crawl."""

_DAY = 86400.0
_PAGE = 2000


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
        self._histories = writer.statements["histories.page"]
        self._set_due = writer.statements["histories.set_due"]

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
        revisit = bool(SETTINGS & changed)
        if changed.intersection(SETTINGS_OF[Reason.SCOPE]):
            self._rescope(now)
        if readmitted:
            # As far as distance and scope allow.
            reasons = self._writer.lists.bind(readmitted)
            self._writer.run(self._readmit, now, reasons, self._state.max_depth, self._state.work.MaxRedirects)
        if "Work.MaxDepth" in changed:
            self._writer.run(self._refuse_deep, self._state.max_depth)
        if revisit:
            self._reschedule()
        if readmitted or revisit:
            self._sites.settle_all()

    def _rescope(self, now: float) -> None:
        scope = self._sites.scope
        moved = [(number, inside) for number, origin, inside in self._sites.all_sites() if scope.admits(*origin) is not inside]
        self._sites.readmit([number for number, inside in moved if not inside], now)
        self._sites.expel([number for number, inside in moved if inside])

    def count_pages(self, now: float) -> None:
        """Counts the stored pages by their rates of change, which a budget is shared by; costs a pass over the table."""
        budget, per_day = self._state.budget, self._state.work.RevisitsPerDay
        if budget is None:
            return
        spent = 0
        for page in self._stored():
            for _, _, state, history in page:
                budget.enter(rate_of(history, self._state.revisits.guess), history.planned)
                again = history.checks > 1 or state != State.STORED
                spent += again and (history.checked_at or 0.0) > now - _DAY
        budget.tune()
        self._state.allowance = Allowance(per_day, now, spent)

    def _reschedule(self) -> None:
        """Sets the next visit of every stored page to what it would be had the settings always been these."""
        revisits, budget = self._state.revisits, self._state.budget
        for page in self._stored():
            rows = []
            for site, key, state, history in page:
                if state == State.STORED:
                    rate = rate_of(history, revisits.guess)
                    at = history.last_good
                    due = revisits.first(at, key) if rate is None else revisits.following(at, key, rate)
                    rows.append((never(due), site, key))
                    if budget is not None:
                        budget.replan(history.planned, due - at)
            self._writer.many(self._set_due, rows)

    def _stored(self) -> Iterator[list[tuple[int, int, int, History]]]:
        """Site, key, state and history of every URL that has a version, some at a time."""
        site, key = 0, 0
        while rows := self._writer.rows(self._histories, site, key, _PAGE):
            yield [(row[0], row[1], row[2], History._make(row[3:])) for row in rows]
            site, key = rows[-1][:2]

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
