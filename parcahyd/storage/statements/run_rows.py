"""The statements of runs, and of what settings that changed do to URLs: those pass over the tables."""

from __future__ import annotations

from sqlalchemy import bindparam, func, null, select, update

from parcahyd.core.life_cycle import Reason
from parcahyd.storage.statements.definition import ONE, ZERO, Definition, inserting, limited, word
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import FAILED, KNOWN, REFUSED, runs, sites, urls

__all__ = ["definitions"]


def definitions(idiom: Idiom) -> dict[str, Definition]:
    told = ("ended_at", "outcome", "counts")
    left = select(urls.c.state, func.count()).where(urls.c.state.in_((KNOWN, FAILED))).group_by(urls.c.state)
    return {
        "last_settings": Definition(limited(select(runs.c.settings).order_by(runs.c.id.desc()), ONE)),
        "insert": inserting(runs, "id", "started_at", "settings", "version"),
        "end": Definition(
            update(runs).where(runs.c.id == bindparam("run")).values({name: bindparam(f"new_{name}") for name in told}),
            *(f"new_{name}" for name in told),
            "run",
        ),
        "left": Definition(left),
        "next_due": Definition(select(func.min(sites.c.due_at)).where(sites.c.visit.is_(None))),
        **_settings(idiom),
    }


def _settings(idiom: Idiom) -> dict[str, Definition]:
    in_reach = (urls.c.depth <= bindparam("max_depth"), urls.c.hops <= bindparam("max_hops"))
    inside = urls.c.site_id.in_(select(sites.c.id).where(sites.c.in_scope))
    known = {"state": KNOWN, "reason": null(), "due_at": bindparam("now"), "tries": ZERO}
    refused = {"state": REFUSED, "reason": word(Reason.DEPTH), "due_at": null()}
    return {
        "readmit": Definition(
            update(urls)
            .where(urls.c.state == REFUSED, urls.c.reason.in_(idiom.words("reasons")), *in_reach, inside)
            .values(known),
            *("now", "reasons", "max_depth", "max_hops"),
        ),
        "refuse_deep": Definition(
            update(urls).where(urls.c.state.in_((KNOWN, FAILED)), urls.c.depth > bindparam("max_depth")).values(refused),
            "max_depth",
        ),
    }
