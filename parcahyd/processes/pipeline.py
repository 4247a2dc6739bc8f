"""A pipeline: the coordinator's process of one partition, as the agent of a machine starts it.

The agent sends one message, which says what partition this is and by which settings to crawl. Closing the channel asks for the
partition: visits are handed back, everything is committed, and the partition is free.

Tested in tests/cluster_lab/test_agent.py.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from parcahyd.cluster.records import HeldPartition
from parcahyd.config.schema import decode_configuration
from parcahyd.core.errors import DatabaseUnusable, LeaseLost, RunFailure, StoreFailure, UserError
from parcahyd.core.messages import Begin, CannotRun, FromAgentToPipeline, Notice
from parcahyd.processes.part_of_crawl import PartOfCrawl
from parcahyd.processes.surroundings import LEASE_IS_OVER
from parcahyd.runtime.channel import Channel, first_message, send_message
from parcahyd.runtime.children import become_child, end_now

if TYPE_CHECKING:
    from parcahyd.processes.coordinator import Coordinator

__all__ = ["Pipeline"]

_FAILED = 1
_LAST_WORD = 1.0


class Pipeline:
    """Hosts the coordinator of one partition until the partition is given back or lost."""

    def __init__(self) -> None:
        self._end = become_child("pipeline")
        begin = first_message(self._end, Begin)
        self.configuration = decode_configuration(begin.configuration)
        self.is_forever = begin.forever
        held = msgspec.msgpack.decode(begin.partition, type=HeldPartition)
        try:
            self.part = PartOfCrawl(self.configuration, held, begin.partition)
        except (LeaseLost, StoreFailure, DatabaseUnusable) as error:  # The agent tries again, or another machine does.
            sys.stderr.write(f"parcahyd: partition {held.holding.partition}: {error}\n")
            end_now(LEASE_IS_OVER)

    def run(self, coordinator: Coordinator) -> int:
        """The exit code: 0 where the partition was given back."""
        agent = Channel(self._end, coordinator.loop, FromAgentToPipeline, self._give_back)
        self.part.tell = lambda sentence: agent.send(Notice(sentence))
        try:
            return coordinator.run()
        except LeaseLost:
            return LEASE_IS_OVER
        except UserError as error:
            self._say_last(CannotRun(error.message, error.remedy))
        except (RunFailure, StoreFailure) as error:
            self._say_last(Notice(str(error)))
        return _FAILED

    def _say_last(self, message: CannotRun | Notice) -> None:
        """The loop is closed; the agent may be gone, or busy."""
        self._end.settimeout(_LAST_WORD)
        with suppress(OSError):
            send_message(self._end, message)

    def _give_back(self) -> None:
        """The agent is gone, or wants the partition back."""
        self.part.give_back("its agent ends")
