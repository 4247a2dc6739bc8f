"""The rows of `runs`, and what a new run does to the database: settings that changed since the last one take effect."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import func, insert, null, select, update

from parcahyd import __version__
from parcahyd.config.schema import Configuration
from parcahyd.core.life_cycle import SETTINGS_OF, Reason, State
from parcahyd.refresh.schedule import NEVER
from parcahyd.storage.run_state import RunState
from parcahyd.storage.site_rows import SiteRows
from parcahyd.storage.tables import FAILED, KNOWN, REFUSED, STORED, runs, sites, urls
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

    def begin(self, configuration: Configuration, now: float) -> tuple[int, frozenset[str]]:
        """Records a run; gives its number and the settings, as `Work.KEY`, that differ from the last run's."""
        settings = _settings(configuration)
        last = self._writer.execute(select(runs.c.settings).order_by(runs.c.id.desc()).limit(1)).scalar()
        before = settings if last is None else msgspec.json.decode(last)
        number = self._writer.new_id(runs)
        self._writer.execute(
            insert(runs).values(id=number, started_at=now, settings=msgspec.json.encode(settings).decode(), version=__version__)
        )
        # A setting that the last run did not have yet had no influence on it.
        return number, frozenset(key for key, value in settings.items() if before.get(key, value) != value)

    def apply(self, changed: frozenset[str], now: float) -> None:
        """Lets URLs follow settings that changed; costs a pass over the tables, and nothing where nothing changed."""
        readmitted = [
            reason.word for reason, keys in SETTINGS_OF.items() if reason is not Reason.SCOPE and changed.intersection(keys)
        ]
        revisit = "Work.RevisitAfter" in changed
        if "Work.Scope" in changed:
            self._rescope(now)
        if readmitted:
            self._readmit(readmitted, now)
        if "Work.MaxDepth" in changed:
            self._writer.execute(
                update(urls)
                .where(urls.c.state.in_((KNOWN, FAILED)), urls.c.depth > self._state.max_depth)
                .values(state=REFUSED, reason=Reason.DEPTH.word, due_at=None)
            )
        if revisit:
            after = self._state.work.RevisitAfter
            due = null() if after >= NEVER else urls.c.checked_at + after
            self._writer.execute(update(urls).where(urls.c.state == STORED).values(due_at=due))
        if readmitted or revisit:
            self._sites.settle_all()

    def _rescope(self, now: float) -> None:
        scope = self._sites.scope
        moved = [(number, inside) for number, origin, inside in self._sites.all_sites() if scope.admits(*origin) is not inside]
        self._sites.readmit([number for number, inside in moved if not inside], now)
        self._sites.expel([number for number, inside in moved if inside])

    def _readmit(self, reasons: list[str], now: float) -> None:
        """What was refused for these reasons is looked at again, as far as distance and scope allow."""
        in_reach = (urls.c.depth <= self._state.max_depth) & (urls.c.hops <= self._state.work.MaxRedirects)
        inside = urls.c.site_id.in_(select(sites.c.id).where(sites.c.in_scope))
        self._writer.execute(
            update(urls)
            .where(urls.c.state == REFUSED, urls.c.reason.in_(reasons), in_reach, inside)
            .values(state=KNOWN, reason=None, due_at=now, tries=0)
        )

    def waiting(self) -> tuple[dict[str, int], float | None]:
        counted = select(urls.c.state, func.count()).where(urls.c.state.in_((KNOWN, FAILED))).group_by(urls.c.state)
        due = select(func.min(sites.c.due_at)).where(sites.c.visit.is_(None))
        left = {State(state).word: number for state, number in self._writer.execute(counted)}
        return left, self._writer.execute(due).scalar()

    def end(self, outcome: str, counts: dict[str, int], now: float) -> None:
        self._writer.execute(
            update(runs)
            .where(runs.c.id == self._state.run)
            .values(ended_at=now, outcome=outcome, counts=msgspec.json.encode(counts).decode())
        )


def _settings(configuration: Configuration) -> dict[str, Any]:
    """Every setting as JSON has it, so that it can be compared with what was read back."""
    found: dict[str, Any] = {}
    for file, conf in (("Map", configuration.map), ("Work", configuration.work)):
        for key, value in msgspec.to_builtins(conf).items():
            if key not in _NOT_RECORDED:
                found[f"{file}.{key}"] = value
    decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return decoded
