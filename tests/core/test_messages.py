"""Every message that may arrive in a process has a handler there: a channel does not know what to do with any other."""

from __future__ import annotations

import inspect
import re
import sys
from types import ModuleType
from typing import get_args

import msgspec
import pytest

from parcahyd import topology
from parcahyd.core import messages
from parcahyd.core.messages import Signal, SignalBoard, charge, rows_of
from parcahyd.core.records import BadRecord, ExternRecord, LinksRecord
from parcahyd.processes import agent, coordinator, crawl_worker, part_of_crawl, update_database, worker_pool

_RECORDS = {kind.__name__ for kind in get_args(messages.BufferRecord)}


@pytest.mark.parametrize(
    ("union", "readers"),
    [
        (messages.FromCoordinatorToUpdate, (update_database,)),
        (messages.FromCoordinatorToWorker, (crawl_worker, topology)),
        (messages.FromUpdateToCoordinator, (coordinator, part_of_crawl, topology)),
        (messages.FromWorkerToCoordinator, (coordinator, worker_pool, topology)),
        (messages.FromWorkerToUpdate, (update_database,)),
        (messages.FromPipelineToAgent, (agent,)),
    ],
    ids=[
        "to Update Database",
        "to a Crawl Worker",
        "from Update Database",
        "from a Crawl Worker",
        "to the buffer",
        "to an agent",
    ],
)
def test_every_message_that_may_arrive_has_a_handler(union: object, readers: tuple[ModuleType, ...]) -> None:
    handled = {kind for reader in readers for kind in re.findall(r"\.on\((\w+),", inspect.getsource(reader))}
    if union is messages.FromWorkerToUpdate:
        handled |= _RECORDS  # One handler is added for all of them.
    kinds = {kind.__name__ for kind in get_args(union)}
    assert kinds
    assert kinds - handled == set()


def test_a_signal_wakes_only_its_own() -> None:
    board = SignalBoard()
    woken: list[str] = []
    board.wire(Signal.HUNGRY, lambda: woken.append("first"))
    board.wire(Signal.HUNGRY, lambda: woken.append("second"))
    board.wire(Signal.SOMETHING_TO_MAP, lambda: woken.append("other"))
    board.raise_(Signal.HUNGRY)
    board.raise_(Signal.HUNGRY)
    assert woken == ["first", "second", "first", "second"]


def test_there_are_the_five_of_the_paper() -> None:
    assert [signal.value for signal in Signal] == [
        "Something to map",
        "Hungry",
        "Something to crawl",
        "Request processed",
        "Something to update",
    ]


def test_a_record_is_charged_what_its_links_take_in_memory() -> None:
    """Decoded, a link of a few characters is several times as large as on the wire."""
    paths = tuple(f"/{number}" for number in range(10_000))
    record = LinksRecord(1, 1, 1, 0.0, paths)
    data = msgspec.msgpack.encode(record)
    decoded = msgspec.msgpack.decode(data, type=LinksRecord)
    in_memory = sys.getsizeof(decoded.internal) + sum(map(sys.getsizeof, decoded.internal))
    assert in_memory > 5 * len(data)
    assert in_memory <= charge(len(data), rows_of(record)) <= 2 * in_memory
    assert rows_of(ExternRecord(1, 1, ("http://a.example/", "http://b.example/"))) == 3
    assert rows_of(BadRecord(7, 1, 1, "/", 0, 0, False, 0.0, 4, "missing", 0.0, 0)) == 1
