"""The statements of bad URLs."""

from __future__ import annotations

from sqlalchemy import bindparam, literal_column, update

from parcahyd.storage.statements.definition import ZERO, Definition, inserting
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import sites, urls

__all__ = ["definitions"]

_PLACE = ("site_id", "key", "path")
_OUTCOME = ("due_at", "tries", "status", "checked_at")


def definitions(_: Idiom) -> dict[str, Definition]:
    # The document of an earlier visit stays: `failed` and `gone` say how the last one went.
    changing = ("state", "reason", *_OUTCOME, "detail")
    return {
        "insert": inserting(
            urls, *_PLACE, "state", "reason", "depth", "hops", "seed", "priority", "first_seen", *_OUTCOME, "detail"
        ),
        "update": Definition(
            update(urls)
            .where(*(urls.c[name] == bindparam(f"its_{name}") for name in _PLACE))
            .values({name: bindparam(f"new_{name}") for name in changing}),
            *(f"new_{name}" for name in changing),
            *(f"its_{name}" for name in _PLACE),
        ),
        "blank": Definition(
            update(sites).where(sites.c.id == bindparam("site")).values(addresses=literal_column("''"), addresses_expire=ZERO),
            "site",
        ),
    }
