"""Every message has somebody who reads it."""

from __future__ import annotations

from types import ModuleType
from typing import get_args

import pytest

from parcahyd.core import messages
from parcahyd.processes import coordinator, crawl_worker, update_database


@pytest.mark.parametrize(
    ("union", "reader"),
    [
        (messages.FromCoordinatorToUpdate, update_database),
        (messages.FromCoordinatorToWorker, crawl_worker),
        (messages.FromUpdateToCoordinator, coordinator),
        (messages.FromWorkerToCoordinator, coordinator),
    ],
    ids=["to Update Database", "to a Crawl Worker", "from Update Database", "from a Crawl Worker"],
)
def test_whoever_is_told_a_message_knows_it(union: object, reader: ModuleType) -> None:
    told = get_args(union)
    assert told
    assert [message.__name__ for message in told if getattr(reader, message.__name__, None) is not message] == []
