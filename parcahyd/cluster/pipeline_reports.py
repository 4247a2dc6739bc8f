"""What a pipeline says of itself, for people: written by its coordinator from time to time, read by `parcahyd cluster status`.

Tested in tests/cluster/test_pipeline_reports.py.
"""

from __future__ import annotations

from sqlalchemy import extract, func
from sqlalchemy.dialects.postgresql import insert

from parcahyd.cluster.fence import Fence
from parcahyd.cluster.tables import reports
from parcahyd.storage.expressions import bound

__all__ = ["write_report"]

_write = insert(reports).values(**bound("partition", "content"), written_at=extract("epoch", func.clock_timestamp()))
_WRITE = _write.on_conflict_do_update(
    index_elements=["partition"], set_={name: _write.excluded[name] for name in ("content", "written_at")}
)


def write_report(fence: Fence, content: str) -> None:
    """Puts a report, which is JSON, in the place of the last one."""
    with fence.transaction():
        fence.writer.run(_WRITE, partition=fence.holding.partition, content=content)
