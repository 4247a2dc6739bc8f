"""The statements of documents, fetches and links, and of what goes with a fetch."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, exists, select

from parcahyd.storage.statements.definition import Definition, inserting
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import documents, fetches, learned, links, summaries, tvis, volatile

__all__ = ["definitions"]


def definitions(idiom: Idiom) -> dict[str, Definition]:
    pair = idiom.pairs()
    unneeded = ~exists().where(fetches.c.document_id == documents.c.id)
    return {
        "by_df": Definition(select(documents.c.sha256, documents.c.id).where(documents.c.df.in_(idiom.numbers("dfs"))), "dfs"),
        "insert": inserting(documents),
        "insert_links": inserting(links),
        "insert_summary": inserting(summaries),
        "insert_fetch": inserting(fetches),
        "history": Definition(
            select(fetches.c.site_id, fetches.c.key, fetches.c.id, fetches.c.document_id)
            .join_from(pair, fetches, (fetches.c.site_id == pair.c.site_id) & (fetches.c.key == pair.c.key))
            .order_by(fetches.c.id.desc()),
            *idiom.pair_parameters,
        ),
        "unreferenced": Definition(select(documents.c.id).where(documents.c.id.in_(idiom.numbers("ids")), unneeded), "ids"),
        "delete": Definition(delete(documents).where(documents.c.id == bindparam("document")), "document"),
        "delete_summary": Definition(delete(summaries).where(summaries.c.document_id == bindparam("document")), "document"),
        "delete_links": Definition(delete(links).where(links.c.document_id == bindparam("document")), "document"),
        "delete_fetch": Definition(delete(fetches).where(fetches.c.id == bindparam("fetch")), "fetch"),
        "delete_tvi": Definition(delete(tvis).where(tvis.c.fetch_id == bindparam("fetch")), "fetch"),
        "delete_learned": Definition(delete(learned).where(learned.c.fetch_id == bindparam("fetch")), "fetch"),
        "delete_volatile": Definition(delete(volatile).where(volatile.c.fetch_id == bindparam("fetch")), "fetch"),
    }
