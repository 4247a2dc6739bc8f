"""The statements of what sitemaps say."""

from __future__ import annotations

from sqlalchemy import bindparam, select, update

from parcahyd.storage.statements.definition import Definition
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import STORED, sites, urls

__all__ = ["definitions"]


def definitions(_: Idiom) -> dict[str, Definition]:
    this_site = sites.c.id == bindparam("site")
    here = (urls.c.site_id == bindparam("site"), urls.c.key == bindparam("place"), urls.c.state == STORED)
    note = update(urls).where(*here).values(due_at=bindparam("due"), lastmod=bindparam("said"), lastmod_read=bindparam("read"))
    return {
        "trust_of": Definition(select(sites.c.lastmod_trust).where(this_site), "site"),
        "set_trust": Definition(update(sites).where(this_site).values(lastmod_trust=bindparam("trust")), "trust", "site"),
        "note": Definition(note, "due", "said", "read", "site", "place"),
    }
