"""The statements of histories: of a batch's URLs, and of all URLs, some at a time."""

from __future__ import annotations

from sqlalchemy import Text, bindparam, literal_column, or_, select, tuple_, update

from parcahyd.storage.histories import History
from parcahyd.storage.statements.definition import Definition, limited, most
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import STORED, urls

__all__ = ["definitions"]


def definitions(idiom: Idiom) -> dict[str, Definition]:
    pair = idiom.pairs()
    here = (urls.c.site_id == pair.c.site_id) & (urls.c.key == pair.c.key)
    history = [urls.c[name] for name in History._fields]
    place = tuple_(urls.c.site_id, urls.c.key)
    stored = select(urls.c.site_id, urls.c.key, urls.c.state, *history).where(
        place > tuple_(bindparam("site"), bindparam("after")),
        or_(urls.c.fetch_id.is_not(None), urls.c.state == STORED),
        urls.c.path.not_like(literal_column("'%#%'", Text)),  # members of archives come with the archive
    )
    return {
        "of": Definition(select(urls.c.site_id, urls.c.key, *history).join_from(pair, urls, here), *idiom.pair_parameters),
        "page": Definition(
            limited(stored.order_by(urls.c.site_id, urls.c.key), most()),
            *("site", "after", "most"),
        ),
        "set_due": Definition(
            update(urls)
            .where(urls.c.site_id == bindparam("site"), urls.c.key == bindparam("place"))
            .values(due_at=bindparam("due")),
            *("due", "site", "place"),
        ),
    }
