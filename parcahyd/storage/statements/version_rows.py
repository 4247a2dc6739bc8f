"""The statements of versions: what a fetch brought, in its parts, and what is known with it."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select, update

from parcahyd.storage.statements.definition import Definition, inserting, limited, most
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import documents, fetches, learned, tvis, urls, volatile

__all__ = ["definitions"]


def definitions(idiom: Idiom) -> dict[str, Definition]:
    pair = idiom.pairs()
    lessons = (learned.c.skeleton_sha256, learned.c.content)
    versions = select(
        *(fetches.c.id, fetches.c.redirect, fetches.c.sha256, fetches.c.length, fetches.c.document_id),
        *(tvis.c.fetch_id.label("tvi"), *lessons),
    )
    with_table = select(
        *(urls.c.site_id, urls.c.key, urls.c.fetch_id, urls.c.document_id, fetches.c.sha256),
        *(func.length(documents.c.body).label("size"), documents.c.media_type, documents.c.charset, fetches.c.headers),
        *(tvis.c.etag, tvis.c.modified, tvis.c.refresh, tvis.c.merges),
    )
    return {
        "of": Definition(
            versions.join(tvis, tvis.c.fetch_id == fetches.c.id, isouter=True)
            .join(learned, learned.c.fetch_id == fetches.c.id, isouter=True)
            .where(fetches.c.id.in_(idiom.numbers("ids"))),
            "ids",
        ),
        "with_table": Definition(
            with_table.join_from(pair, urls, (urls.c.site_id == pair.c.site_id) & (urls.c.key == pair.c.key))
            .join(tvis, tvis.c.fetch_id == urls.c.fetch_id)
            .join(fetches, fetches.c.id == urls.c.fetch_id)
            .join(documents, documents.c.id == urls.c.document_id),
            *idiom.pair_parameters,
        ),
        "document": Definition(
            select(documents.c.body, documents.c.length).where(documents.c.id == bindparam("document")), "document"
        ),
        "regions": Definition(
            select(volatile.c.id, volatile.c.offset, volatile.c.length, volatile.c.content)
            .where(volatile.c.fetch_id == bindparam("fetch"))
            .order_by(volatile.c.region),
            "fetch",
        ),
        "users": Definition(
            limited(select(fetches.c.id).where(fetches.c.document_id == bindparam("document")), most()), "document", "most"
        ),
        "insert_volatile": inserting(volatile),
        "move": Definition(
            update(fetches).where(fetches.c.id == bindparam("fetch")).values(document_id=bindparam("document")),
            *("document", "fetch"),
        ),
        "insert_tvi": inserting(tvis),
        "learned": Definition(
            select(learned.c.fetch_id, fetches.c.document_id, fetches.c.length, *lessons)
            .join(fetches, fetches.c.id == learned.c.fetch_id)
            .where(learned.c.fetch_id.in_(idiom.numbers("ids"))),
            "ids",
        ),
        "insert_learned": inserting(learned),
    }
