"""What the process of Update Database does where its database is one partition of a cluster's crawl.

It takes in mail from the other partitions, judges by the newest scope, says at the hub when there is nothing to do, and tells
the coordinator that it goes on. Tested in tests/cluster_lab/test_agent.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from parcahyd.cluster.records import HeldPartition, MoveNews
from parcahyd.config.database_url import database_url
from parcahyd.config.schema import Configuration
from parcahyd.core.messages import Begin, FollowScope, GoIdle, Idle, Pulse, Ready
from parcahyd.plugin_manager import PluginManager
from parcahyd.processes.surroundings import Surroundings

if TYPE_CHECKING:
    from parcahyd.cluster.partition_store import Letters, PartitionStore
    from parcahyd.processes.update_database import UpdateDatabaseProcess

__all__ = ["PartitionDatabase"]

_LOOK_EVERY = 0.2
"""Seconds between two looks into the box. A look that finds nothing writes nothing."""
_PULSE_EVERY = 0.5
_MOVE_EVERY = 1.0


class PartitionDatabase:
    """The part of `host` that only a partition needs; it does nothing before `open`."""

    def __init__(self, host: UpdateDatabaseProcess, surroundings: Surroundings) -> None:
        self._host = host
        self._surroundings = surroundings
        self._partition: PartitionStore | None = None
        self._taken = 0
        """Letters."""
        self._moves = MoveNews()

    def begin(self) -> None:
        """Tells the coordinator from now on that this process goes on, also while the database is being opened."""
        self._pulse()

    def open(self, configuration: Configuration, message: Begin, buffer_address: str) -> Ready:
        """Opens the partition and begins its part of the run; runs in the database thread."""
        # A crawl of one machine does not load the hub's statements, nor the dialect of PostgreSQL with them.
        from parcahyd.cluster.partition_store import PartitionStore

        held = msgspec.msgpack.decode(message.partition, type=HeldPartition)
        plugins = PluginManager.load(configuration)
        clock = self._surroundings.clock
        partition = PartitionStore(
            database_url(configuration), held, configuration, plugins.partitioner, self._surroundings.has_passed, clock.now
        )
        store = partition.store
        store.set_order(plugins.order())
        store.set_local_schemes(plugins.local_schemes)
        start = partition.begin_run(configuration, held.run, clock.now(), forever=message.forever)
        self._host.writer.store, self._partition = store, partition
        self._host.loop.call_soon_threadsafe(self._look_for_letters)
        self._host.loop.call_soon_threadsafe(self._move_sites)
        return Ready(start.run, start.pauses, False, buffer_address)

    def _opened(self) -> PartitionStore:
        assert self._partition is not None, "nothing is asked before `Ready`"  # noqa: S101 (for mypy)
        return self._partition

    def _pulse(self) -> None:
        posted = {} if self._partition is None else msgspec.structs.asdict(self._partition.mail_counts)
        self._host.coordinator.send(Pulse(posted, self._taken, self._moves.leaving, len(self._moves.coming)))
        self._host.later(_PULSE_EVERY, self._pulse)

    def _look_for_letters(self) -> None:
        def looked(letters: Letters) -> None:
            self._taken += letters.taken
            if letters.has_new_work:
                self._host.send_committed([], True, 0.0)
            if letters.has_more:
                self._look_for_letters()
            else:
                self._host.later(_LOOK_EVERY, self._look_for_letters)

        now = self._surroundings.clock.now
        self._host.call(lambda _: self._opened().exchange_letters(now()), looked, "the database gave no letters")

    def _move_sites(self) -> None:
        def moved(news: MoveNews) -> None:
            self._moves = news
            if news.has_new_work:
                self._host.send_committed([], True, 0.0)
            if news.coming:
                self._move_sites()
            else:
                self._host.later(_MOVE_EVERY, self._move_sites)

        self._host.call(lambda _: self._opened().move_sites(), moved, "no site was moved")

    def follow_scope(self, _: FollowScope) -> None:
        """Judges all sites by the newest scope."""

        def followed(has_new_work: bool) -> None:
            if has_new_work:
                self._host.send_committed([], True, 0.0)

        now = self._surroundings.clock.now
        self._host.call(lambda _: self._opened().follow_scope(now()), followed, "the database was not judged by the new scope")

    def go_idle(self, message: GoIdle) -> None:
        """Says at the hub that there is nothing to do, if that is so."""
        now = self._surroundings.clock.now
        self._host.call(
            lambda _: self._opened().go_idle(now(), message.until, message.again_before),
            lambda is_idle: self._host.coordinator.send(Idle(is_idle, self._taken)),
            "the hub was not told that there is nothing to do",
        )
