"""The scope of the crawl: the hub's, with a version, read by every pipeline at each renewal.

What the hub has are the sites that the seeds span the scope with: those of the user, and those that seeds redirect to. A
version is a row with the sites that it added; no site is ever taken away. The settings that do the rest (Scope, Domains,
Include, Exclude) are the run's. A URL is judged by the partition that it belongs to. When the scope grows, partitions that are
idle under the old version judge again: a run does not end before all of them have judged by the newest.

Tested in tests/cluster/test_runs.py and tests/cluster/test_followed_scope.py.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from sqlalchemy import bindparam, select

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.runs import hold_last_run, hold_run
from parcahyd.cluster.tables import scope
from parcahyd.storage.expressions import inserting
from parcahyd.storage.other_partitions import Origin
from parcahyd.storage.writer import Writer

__all__ = ["FollowedScope", "added_since", "change_scope", "read_scope"]

_ALL = -1
"""The version before the first one."""

_SINCE = select(scope.c.version, scope.c.rules).where(scope.c.version > bindparam("version")).order_by(scope.c.version)
_ADD = inserting(scope, "version", "rules")
_decode = msgspec.json.Decoder(tuple[Origin, ...]).decode


def added_since(writer: Writer, version: int) -> tuple[int, tuple[Origin, ...]]:
    """The newest version, and the sites that it has more than this one; used inside a transaction."""
    rows = writer.rows(_SINCE, version=version)
    added = (origin for _, rules in rows if rules for origin in _decode(rules))
    return (rows[-1][0] if rows else version), tuple(added)


def read_scope(hub: HubConnection) -> tuple[int, tuple[Origin, ...]]:
    """The newest version and all its sites."""
    with hub.transaction():
        return added_since(hub, _ALL)


def change_scope(hub: HubConnection, origins: Iterable[Origin]) -> int:
    """Adds sites to the scope while a run is under way, unless they are in it; returns the newest version."""
    with hub.transaction():
        hold_run(hub)
        version, before = added_since(hub, _ALL)
        return _add(hub, version, set(origins).difference(before))


def _add(writer: Writer, version: int, origins: Iterable[Origin]) -> int:
    """The row of the run is locked, so nobody else makes the same version."""
    new = sorted(origins)
    if new:
        version += 1
        writer.run(_ADD, version=version, rules=msgspec.json.encode(new))
    return version


class FollowedScope:
    """The scope as one partition knows it; used inside transactions of its writer.

    What was read or added in a transaction that failed is forgotten, and then all is read again.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._origins: dict[Origin, None] = {}
        self._version = _ALL
        writer.on_failure(self._forget)

    def _forget(self) -> None:
        self._origins.clear()
        self._version = _ALL

    @property
    def version(self) -> int:
        """That was read last."""
        return self._version

    def read(self) -> int:
        """Reads what is new; returns the newest version."""
        self._version, added = added_since(self._writer, self._version)
        self._origins.update(dict.fromkeys(added))
        return self._version

    def origins(self) -> tuple[Origin, ...]:
        """The sites as they were read last."""
        if self._version == _ALL:
            self.read()
        return tuple(self._origins)

    def widen(self, origins: Iterable[Origin]) -> None:
        """Adds sites to the scope of the whole crawl. A run that has just ended takes them, too: its pages are still stored."""
        hold_last_run(self._writer)
        version = self.read()
        new = [origin for origin in origins if origin not in self._origins]
        self._version = _add(self._writer, version, new)
        self._origins.update(dict.fromkeys(new))
