"""The scope of the crawl: the hub's, with a version, read by every pipeline at each renewal.

A URL is judged by the partition that it belongs to. When the scope grows, partitions that are idle under the old version judge
again: a run does not end before all of them have judged by the newest.

Tested in tests/cluster/test_runs.py.
"""

from __future__ import annotations

from sqlalchemy import func, select

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.runs import hold_run
from parcahyd.cluster.tables import scope
from parcahyd.storage.expressions import inserting

__all__ = ["change_scope", "read_scope"]

_NEWEST = select(scope.c.version, scope.c.rules).order_by(scope.c.version.desc()).limit(1)
_LAST = select(func.max(scope.c.version))
_ADD = inserting(scope, "version", "rules")


def read_scope(hub: HubConnection) -> tuple[int, bytes]:
    """The newest version and its rules."""
    with hub.transaction():
        ((version, rules),) = hub.rows(_NEWEST)
    return version, bytes(rules)


def change_scope(hub: HubConnection, rules: bytes) -> int:
    """Makes a new version while a run is under way; returns it."""
    with hub.transaction():
        hold_run(hub)
        version = int(hub.value(_LAST)) + 1
        hub.run(_ADD, version=version, rules=rules)
    return version
