"""The statements of pages and confirmations."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, bindparam, func, insert, literal_column, null, true, update

from parcahyd.storage.statements.definition import ONE, ZERO, Definition
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import STORED, sites, urls

__all__ = ["definitions"]

_PLACE = ("site_id", "key", "path")
_WAY = ("reason", "depth", "hops", "seed", "priority")
_OUTCOME = (
    *("due_at", "status", "checked_at", "etag", "modified"),
    *("document_id", "fetch_id", "checks", "changes", "changed_at", "confirmed_at"),
)
_RATE = ("change_weight", "change_span", "change_restless")
_HERE = [urls.c[name] == bindparam(f"its_{name}") for name in _PLACE]
_ITS_PLACE = tuple(f"its_{name}" for name in _PLACE)


def definitions(_: Idiom) -> dict[str, Definition]:
    names = (*_PLACE, *_WAY, "first_seen", *_OUTCOME)
    changing: dict[str, BindParameter[Any]] = {name: bindparam(f"new_{name}") for name in (*_WAY, *_OUTCOME, *_RATE)}
    counts = ("urls", "pages", "bytes")
    return {
        "insert": Definition(insert(urls).values({"state": STORED, **{name: bindparam(name) for name in names}}), *names),
        "update": Definition(
            update(urls).where(*_HERE).values({"state": STORED, "tries": ZERO, "detail": null(), **changing}),
            *(f"new_{name}" for name in changing),
            *_ITS_PLACE,
        ),
        "confirm": _confirm(),
        "mark_seed": Definition(update(urls).where(*_HERE).values(seed=true()), *_ITS_PLACE),
        "count": Definition(
            update(sites)
            .where(sites.c.id == bindparam("site"))
            .values({name: sites.c[name] + bindparam(f"more_{name}") for name in counts}),
            *(f"more_{name}" for name in counts),
            "site",
        ),
    }


def _confirm() -> Definition:
    fresh = {
        name: func.coalesce(func.nullif(bindparam(f"new_{name}"), literal_column("''")), urls.c[name])
        for name in ("etag", "modified")
    }
    confirmed = {
        "state": STORED,
        "reason": null(),
        "due_at": bindparam("due"),
        "tries": ZERO,
        "status": bindparam("answer"),
        "checked_at": bindparam("at"),
        **fresh,
        "checks": urls.c.checks + ONE,
        "confirmed_at": bindparam("again_at"),
        **{name: bindparam(f"new_{name}") for name in _RATE},
        "detail": null(),
    }
    told = ("due", "answer", "at", "new_etag", "new_modified", "again_at", *(f"new_{name}" for name in _RATE))
    return Definition(update(urls).where(*_HERE).values(confirmed), *told, *_ITS_PLACE)
