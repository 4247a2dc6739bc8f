"""The start of a run, and seeds that are given to it: each one transaction, so a command that is killed leaves all or nothing.

Tested in tests/cluster/test_starting.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Select, literal_column, select, table

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.identity import ClusterFacts
from parcahyd.cluster.routes import Routes
from parcahyd.cluster.runs import STOPPED, Run, begin_run, hold_run
from parcahyd.cluster.scope import FollowedScope
from parcahyd.cluster.seeds import post_seeds
from parcahyd.cluster.tables import seeds
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import Partitioner
from parcahyd.rules.urls.canonical_url import split
from parcahyd.storage.cluster_schemas import WHOLE_CRAWL
from parcahyd.storage.schema import urls
from parcahyd.storage.writer import Writer

__all__ = ["Begun", "SeedSower"]

_SEED = select(seeds.c.url).limit(1)
_URL: Select[Any] = select(literal_column("1")).select_from(table(urls.name, schema=WHOLE_CRAWL)).limit(1)
_FINDER = 0
"""Nobody found a seed. A strategy that leaves a site with whoever finds it leaves it there."""


class Begun(msgspec.Struct, frozen=True):
    """What a start did."""

    run: Run
    is_new: bool
    """It was begun; false: it was under way."""
    new_seeds: int
    """Those that the run had not been given before."""


class SeedSower:
    """Gives canonical URLs of the user to the partitions in which they live, and their sites to the scope."""

    def __init__(self, hub: HubConnection, facts: ClusterFacts, partitioner: Partitioner) -> None:
        """`partitioner` is made for the newest routing."""
        self._hub = hub
        self._partitions = facts.partitions
        self._secret = facts.secret
        self._partitioner = partitioner

    def begin(self, settings: str, totals: Mapping[str, int], given: Sequence[str]) -> Begun:
        """Begins a run, or joins the one under way, and gives it these seeds.

        Without any, the partitions must have URLs. A run that is being stopped is not joined. Both are a UserError.
        """
        with self._hub.transaction():
            run, is_new = begin_run(self._hub, settings, totals)
            if run.wanted == STOPPED:
                raise UserError(f"run {run.id} is being stopped", "parcahyd cluster stop waits for its end")
            if not given and self._is_empty():
                raise UserError("no seed is given, and the cluster has no URL yet", "parcahyd cluster start URL")
            return Begun(run, is_new, self._sow(run, given))

    def sow(self, given: Sequence[str]) -> int:
        """Gives seeds to the run under way; returns how many are new to it. A run that is over is a UserError."""
        with self._hub.transaction():
            return self._sow(hold_run(self._hub), given)

    def _sow(self, run: Run, given: Sequence[str]) -> int:
        if not given:
            return 0
        writer: Writer = self._hub
        routes = Routes(writer, lambda _: self._partitioner, _FINDER, self._partitions, self._secret)
        homes = routes.homes_of(given)
        FollowedScope(writer).widen([split(url)[:3] for url in given])
        return post_seeds(writer, run.id, dict(zip(given, homes, strict=True)))

    def _is_empty(self) -> bool:
        return not self._hub.rows(_SEED) and not self._hub.rows(_URL)
