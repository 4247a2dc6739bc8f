"""The statements of pauses."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from parcahyd.storage.statements.definition import Definition, later
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import pauses

__all__ = ["definitions"]


def definitions(idiom: Idiom) -> dict[str, Definition]:
    new = idiom.insert(pauses).values(subject=bindparam("subject"), not_before=bindparam("not_before"))
    # Of two visits to one host or address the later end counts.
    longer = later(pauses.c.not_before, new.excluded.not_before)
    upsert = new.on_conflict_do_update(index_elements=["subject"], set_={"not_before": longer})
    return {
        "upsert": Definition(upsert, "subject", "not_before"),
        "drop_over": Definition(delete(pauses).where(pauses.c.not_before <= bindparam("now")), "now"),
        "all": Definition(select(pauses.c.subject, pauses.c.not_before).order_by(pauses.c.subject)),
    }
