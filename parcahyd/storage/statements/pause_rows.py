"""The statements of pauses."""

from __future__ import annotations

from sqlalchemy import Text, and_, bindparam, case, delete, literal_column, or_, select, update

from parcahyd.core.records import Pause
from parcahyd.storage.statements.definition import ONE, ZERO, Definition, later
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import pauses, sites

__all__ = ["definitions"]

_NOTHING = literal_column("''", Text)


def definitions(idiom: Idiom) -> dict[str, Definition]:
    new = idiom.insert(pauses).values({name: bindparam(name) for name in Pause.__struct_fields__})
    # Of two visits to one host or address the later end counts. A visit that ends tells the same end again, without its reason.
    longer = later(pauses.c.not_before, new.excluded.not_before)
    has_news = or_(new.excluded.reason != _NOTHING, new.excluded.not_before > pauses.c.not_before + ONE)
    reason = case((has_news, new.excluded.reason), else_=pauses.c.reason)
    news = {"not_before": longer, "reason": reason, "failures": new.excluded.failures}
    upsert = new.on_conflict_do_update(index_elements=["subject"], set_=news)
    return {
        "upsert": Definition(upsert, *Pause.__struct_fields__),
        "drop_over": Definition(
            delete(pauses).where(
                or_(
                    and_(pauses.c.not_before <= bindparam("now"), pauses.c.failures == ZERO),
                    pauses.c.not_before <= bindparam("long_ago"),
                )
            ),
            *("now", "long_ago"),
        ),
        "all": Definition(select(*(pauses.c[name] for name in Pause.__struct_fields__)).order_by(pauses.c.subject)),
        "spare_site": Definition(
            update(sites)
            .where(sites.c.id == bindparam("site"), sites.c.visit == bindparam("its_visit"))
            .values(
                not_before=later(sites.c.not_before, bindparam("until", type_=sites.c.not_before.type)),
                failures=bindparam("new_failures"),
                reason=bindparam("new_reason"),
            ),
            *("until", "until", "new_failures", "new_reason", "site", "its_visit"),
        ),
    }
