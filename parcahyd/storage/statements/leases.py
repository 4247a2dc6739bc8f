"""The statements of leases."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, bindparam, func, literal_column, null, select, update

from parcahyd.storage.leases import LeasedSite, VisitedSite
from parcahyd.storage.statements.definition import ONE, Definition, later, limited, most
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import sites

__all__ = ["definitions"]

_FREE = sites.c.visit.is_(None)
_THIS = sites.c.id == bindparam("site")
_ITS_VISIT = sites.c.visit == bindparam("its_visit")
_GIVEN_BACK = {"visit": null(), "visit_address": literal_column("''")}


def definitions(idiom: Idiom) -> dict[str, Definition]:
    return {**_giving_out(idiom), **_taking_back()}


def _giving_out(idiom: Idiom) -> dict[str, Definition]:
    due = select(sites.c.due_at, sites.c.id).where(_FREE, sites.c.due_at.is_not(None)).order_by(sites.c.due_at)
    again = select(sites.c.again_at, sites.c.id).where(_FREE, sites.c.again_at.is_not(None)).order_by(sites.c.again_at)
    ready = (sites.c.not_before <= bindparam("now"), sites.c.errand_until <= bindparam("now"))
    spared = select(func.min(later(sites.c.not_before, sites.c.errand_until))).where(_FREE, sites.c.again_at.is_not(None))
    before = sites.c.again_at < bindparam("before")
    return {
        "due": Definition(limited(due.where(sites.c.due_at <= bindparam("now")), most()), "now", "most"),
        "again": Definition(limited(again.where(before, *ready), most()), "before", "now", "now", "most"),
        "next_due": Definition(limited(due, ONE)),
        "next_again": Definition(limited(again.where(sites.c.again_at >= bindparam("before")), ONE), "before"),
        "next_spared": Definition(spared.where(before), "before"),
        "details": Definition(
            select(*(sites.c[name] for name in LeasedSite._fields)).where(sites.c.id.in_(idiom.numbers("ids"))), "ids"
        ),
        "take": Definition(update(sites).where(_THIS).values(visit=bindparam("new_visit")), "new_visit", "site"),
        "assign": Definition(
            update(sites).where(_THIS, _ITS_VISIT).values(visit_address=bindparam("address")), "address", "site", "its_visit"
        ),
    }


def _taking_back() -> dict[str, Definition]:
    told = ("addresses", "addresses_expire", "guards", "not_before", "failures", "reason")
    news: dict[str, BindParameter[Any]] = {name: bindparam(f"new_{name}") for name in told}
    until = later(sites.c.not_before, bindparam("until", type_=sites.c.not_before.type))
    return {
        "give_back": Definition(
            update(sites)
            .where(_THIS, _ITS_VISIT)
            .values({**_GIVEN_BACK, **news, "requests": sites.c.requests + bindparam("more")}),
            *(*(f"new_{name}" for name in told), "more", "site", "its_visit"),
        ),
        "orphan": Definition(
            update(sites)
            .where(_THIS, _ITS_VISIT)
            .values({**_GIVEN_BACK, "not_before": until, "failures": bindparam("new_failures")}),
            *("until", "until", "new_failures", "site", "its_visit"),
        ),
        "visited": Definition(select(*(sites.c[name] for name in VisitedSite._fields)).where(sites.c.visit.is_not(None))),
    }
