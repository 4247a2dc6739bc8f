"""Seeds that the user gives to a cluster: noted once a run, and posted to the partitions that they belong to.

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
from parcahyd.storage.writer import Writer

__all__ = ["SEED", "post_seeds", "sow"]

SEED = "seed"
"""The kind of a letter whose body is a URL that the user gave."""

_note = insert(seeds).values(bound("url", "run", "partition"))
# A seed is posted once in each run: one that failed in an earlier run is tried again.
_NOTE = _note.on_conflict_do_update(
    index_elements=["url"],
    set_={name: _note.excluded[name] for name in ("run", "partition")},
    where=seeds.c.run != _note.excluded.run,
).returning(seeds.c.url)
_ROUTING = select(func.max(routing.c.version))
_POST = inserting(mail, "partition", "routing", "body").values(kind=bindparam("kind"))


def sow(hub: HubConnection, homes: Mapping[str, int]) -> int:
    """Gives URLs to the run under way, each with its partition; returns how many were new. A run that is over is a
    UserError."""
    with hub.transaction():
        return post_seeds(hub, hold_run(hub).id, homes)


def post_seeds(writer: Writer, run: int, homes: Mapping[str, int]) -> int:
    """The same inside a transaction that holds the run's row."""
    version = writer.value(_ROUTING)
    new = [url for url in sorted(homes) if writer.rows(_NOTE, url=url, run=run, partition=homes[url])]
    rows = [{"partition": homes[url], "routing": version, "body": url.encode(), "kind": SEED} for url in new]
    writer.many(_POST, rows)
    return len(new)
