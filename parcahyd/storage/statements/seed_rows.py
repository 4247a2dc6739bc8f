"""The statements of seeds."""

from __future__ import annotations

from sqlalchemy import bindparam, null, select, true, update

from parcahyd.storage.statements.definition import ZERO, Definition, inserting
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import KNOWN, seeds, sites, urls

__all__ = ["definitions"]


def definitions(idiom: Idiom) -> dict[str, Definition]:
    place = (urls.c.site_id == bindparam("site"), urls.c.key == bindparam("place"), urls.c.path == bindparam("text"))
    marks = {"seed": true(), "depth": ZERO, "hops": ZERO, "priority": ZERO}
    again = {"state": KNOWN, "reason": null(), "tries": ZERO, "due_at": bindparam("now")}
    origins = select(sites.c.id, sites.c.scheme, sites.c.host, sites.c.port)
    return {
        "insert": inserting(seeds),
        "present": Definition(select(seeds.c.url).where(seeds.c.url.in_(idiom.words("urls"))), "urls"),
        "mark": Definition(update(urls).where(*place).values(marks), "site", "place", "text"),
        "ask_again": Definition(update(urls).where(*place).values({**marks, **again}), "now", "site", "place", "text"),
        "origins": Definition(origins.where(sites.c.id.in_(idiom.numbers("ids"))), "ids"),
    }
