"""The statements of errands and robots.txt."""

from __future__ import annotations

from sqlalchemy import bindparam, case, delete, select, update

from parcahyd.storage.statements.definition import ZERO, Definition, inserting
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import errands, sites

__all__ = ["definitions"]

_FACTS = ("status", "text", "fetched_at", "expires_at", "detail", "failing_since", "delay")


def definitions(idiom: Idiom) -> dict[str, Definition]:
    this_site = sites.c.id == bindparam("site")
    return {
        "set_robots": Definition(
            update(sites)
            .where(this_site)
            .values({**{f"robots_{name}": bindparam(name) for name in _FACTS}, "errand_until": bindparam("until")}),
            *(*_FACTS, "until", "site"),
        ),
        # Where it could not be read, the last copy stays, and so does the time since when.
        "set_unread_robots": Definition(
            update(sites)
            .where(this_site)
            .values(
                {
                    **{f"robots_{name}": bindparam(name) for name in _FACTS if name not in ("text", "failing_since", "delay")},
                    "robots_failing_since": case(
                        (sites.c.robots_failing_since > ZERO, sites.c.robots_failing_since), else_=bindparam("failing_since")
                    ),
                    "errand_until": bindparam("until"),
                }
            ),
            *("status", "fetched_at", "expires_at", "detail", "failing_since", "until", "site"),
        ),
        "set_augmentation": Definition(
            update(sites).where(this_site).values(augmentation=bindparam("offers")), "offers", "site"
        ),
        "last_copy": Definition(
            select(sites.c.robots_text, sites.c.robots_failing_since, sites.c.robots_delay).where(this_site), "site"
        ),
        "delete": Definition(delete(errands).where(errands.c.asker == bindparam("site")), "site"),
        "insert": inserting(errands),
        "of_sites": Definition(
            select(errands.c.site_id, errands.c.asker, errands.c.path, errands.c.hops)
            .where(errands.c.site_id.in_(idiom.numbers("ids")))
            .order_by(errands.c.asked_at),
            "ids",
        ),
        "of_asker": Definition(
            select(errands.c.site_id, errands.c.path, errands.c.hops).where(errands.c.asker == bindparam("site")), "site"
        ),
    }
