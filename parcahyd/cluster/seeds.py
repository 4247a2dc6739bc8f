"""Seeds that the user gives to a cluster: noted once, and posted to the partitions that they belong to.

Tested in tests/cluster/test_runs.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, func, select
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.runs import hold_run
from parcahyd.cluster.tables import mail, routing, seeds
from parcahyd.storage.expressions import bound, inserting

__all__ = ["SEED", "sow"]

SEED = "seed"
"""The kind of a letter whose body is a URL that the user gave."""

_NOTE = insert(seeds).values(bound("url", "run", "partition")).on_conflict_do_nothing().returning(seeds.c.url)
_ROUTING = select(func.max(routing.c.version))
_POST = inserting(mail, "partition", "routing", "body").values(kind=bindparam("kind"))


def sow(hub: HubConnection, homes: Mapping[str, int]) -> int:
    """Gives URLs to the run under way, each with its partition; returns how many were new. A run that is over is a
    UserError."""
    with hub.transaction():
        run = hold_run(hub)
        version = hub.value(_ROUTING)
        new = [url for url in sorted(homes) if hub.rows(_NOTE, url=url, run=run.id, partition=homes[url])]
        rows = [{"partition": homes[url], "routing": version, "body": url.encode(), "kind": SEED} for url in new]
        hub.many(_POST, rows)
    return len(new)
