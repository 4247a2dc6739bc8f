"""A cluster that the commands themselves made on a real PostgreSQL server, with trees that stand in for machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from parcahyd.cli import main
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import Deadline, boot_time
from parcahyd.cluster.fence import Fence
from parcahyd.cluster.identity import ClusterIdentity
from parcahyd.cluster.records import Holding
from parcahyd.cluster.taking import Renewer, Taker

__all__ = ["ClusterOfTest", "HeldPartition"]

_LOCK_SECONDS = 2.0


class HeldPartition:
    """A partition that is held, as far as a command can tell: it renews, confirms and is given back."""

    def __init__(self, hub: HubConnection, holding: Holding, lease: float) -> None:
        self.renewer = Renewer(hub, holding, Deadline(boot_time, lease))
        self.renewer._deadline.start(boot_time())
        self.fence = Fence(hub, holding)


class ClusterOfTest:
    """Commands with one configuration, and what they left in the database."""

    def __init__(self, folder: Path, url: str, work: str = "") -> None:
        self.url = url
        self.folder = folder
        (folder / "MapConf.toml").write_text(f'DbUrl = "{url}"\n')
        (folder / "WorkConf.toml").write_text(work)

    def __call__(self, *words: str) -> int:
        return main(["cluster", words[0], "--conf", str(self.folder), *words[1:]])

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(text.encode()).fetchall()

    def change(self, text: str) -> None:
        with psycopg.connect(self.url) as connection:
            connection.execute(text.encode())

    @contextmanager
    def held(self, partition: int, node: str = "n1") -> Iterator[HeldPartition]:
        """Takes a partition that is free."""
        with closing(HubConnection(self.url, "parcahyd test", _LOCK_SECONDS)) as hub:
            facts = ClusterIdentity(hub).read()
            taker = Taker(hub, boot_time, facts)
            (seen,) = [row for row in taker.look() if row.id == partition]
            taking = taker.take(seen, node)
            assert taking is not None
            with closing(HubConnection(self.url, taking.holding.session_name, _LOCK_SECONDS)) as own:
                yield HeldPartition(own, taking.holding, facts.lease)
