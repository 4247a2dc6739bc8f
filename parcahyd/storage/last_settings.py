"""The settings of the last run, as its row in `runs` records them. Tested in tests/storage/test_runs.py."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from parcahyd.config.remembered import read_record
from parcahyd.storage.schema import runs

__all__ = ["last_settings"]

_LAST = select(runs.c.settings).order_by(runs.c.id.desc()).limit(1)


def last_settings(connection: Connection) -> dict[str, Any] | None:
    """By `Map.KEY` and `Work.KEY`, and which of them were given; None where there was no run.

    The database may be anybody's: `parcahyd.config.remembered` checks each value before it is used.
    """
    text = connection.scalar(_LAST)
    return None if text is None else read_record(text)
