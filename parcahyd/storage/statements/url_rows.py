"""The statements of URLs and the links that are seen."""

from __future__ import annotations

from sqlalchemy import bindparam, func, null, select, update

from parcahyd.storage.statements.definition import ONE, Definition, inserting, limited
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import KNOWN, urls
from parcahyd.storage.url_rows import UrlRow

__all__ = ["definitions"]


def definitions(idiom: Idiom) -> dict[str, Definition]:
    pair = idiom.pairs()
    here = (urls.c.site_id == pair.c.site_id) & (urls.c.key == pair.c.key)
    columns = (urls.c[name] for name in UrlRow._fields)
    nearer = {
        "state": KNOWN,
        "reason": null(),
        "depth": bindparam("links"),
        "hops": bindparam("redirects"),
        "priority": bindparam("order"),
        "due_at": func.coalesce(urls.c.due_at, bindparam("now", type_=urls.c.due_at.type)),
    }
    place = (urls.c.site_id == bindparam("site"), urls.c.key == bindparam("place"), urls.c.path == bindparam("text"))
    return {
        "look_up": Definition(select(urls.c.site_id, urls.c.key, *columns).join_from(pair, urls, here), *idiom.pair_parameters),
        "insert": inserting(
            urls,
            *("site_id", "key", "path", "state", "reason", "depth", "hops", "seed", "priority", "first_seen", "due_at"),
        ),
        "nearer": Definition(
            update(urls).where(*place).values(nearer),
            *("links", "redirects", "order", "now", "site", "place", "text"),
        ),
        "seen_again": Definition(
            update(urls).where(*place, urls.c.state == KNOWN).values(priority=bindparam("order")),
            *("order", "site", "place", "text"),
        ),
        "any": Definition(limited(select(urls.c.key), ONE)),
    }
