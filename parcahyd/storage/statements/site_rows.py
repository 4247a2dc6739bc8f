"""The statements of sites: by origin, in and out of the scope, and when they fall due."""

from __future__ import annotations

from sqlalchemy import ColumnElement, ScalarSelect, bindparam, func, null, select, true, update

from parcahyd.core.life_cycle import Reason
from parcahyd.storage.statements.definition import ONE, ZERO, Definition, inserting, later, limited, most, word
from parcahyd.storage.statements.idioms import Idiom
from parcahyd.storage.tables import FAILED, GONE, KNOWN, REFUSED, STORED, errands, seeds, sites, urls

__all__ = ["definitions"]

_THIS = sites.c.id == bindparam("site")
_ORIGIN = (sites.c.id, sites.c.scheme, sites.c.host, sites.c.port, sites.c.in_scope)


def definitions(idiom: Idiom) -> dict[str, Definition]:
    return {**_by_origin(idiom), **_scope(idiom), **_when_due(idiom)}


def _by_origin(idiom: Idiom) -> dict[str, Definition]:
    return {
        "by_hosts": Definition(select(*_ORIGIN).where(sites.c.host.in_(idiom.words("hosts"))), "hosts"),
        "insert": inserting(sites, *(column.name for column in _ORIGIN)),
        "page": Definition(
            limited(select(*_ORIGIN).where(sites.c.id > bindparam("after")).order_by(sites.c.id), most()), "after", "most"
        ),
        "count": Definition(
            update(sites).where(_THIS).values(urls=sites.c.urls + bindparam("more")),
            *("more", "site"),
        ),
    }


def _scope(idiom: Idiom) -> dict[str, Definition]:
    of_sites = urls.c.site_id.in_(idiom.numbers("ids"))
    outside = (of_sites, urls.c.state == REFUSED, urls.c.reason == word(Reason.SCOPE))
    in_reach = (urls.c.depth <= bindparam("max_depth"), urls.c.hops <= bindparam("max_hops"))
    known = {"state": KNOWN, "reason": null(), "due_at": bindparam("now"), "tries": ZERO}
    expelled = {"state": REFUSED, "reason": word(Reason.SCOPE), "due_at": null()}
    return {
        "of_seeds": Definition(
            select(sites.c.scheme, sites.c.host, sites.c.port).where(sites.c.id.in_(select(seeds.c.site_id)))
        ),
        "set_scope": Definition(update(sites).where(_THIS).values(in_scope=bindparam("inside")), "inside", "site"),
        "readmit": Definition(update(urls).where(*outside, *in_reach).values(known), "now", "ids", "max_depth", "max_hops"),
        "refuse_deep": Definition(
            update(urls).where(*outside, urls.c.depth > bindparam("max_depth")).values(reason=word(Reason.DEPTH)),
            *("ids", "max_depth"),
        ),
        "refuse_far": Definition(update(urls).where(*outside).values(reason=word(Reason.REDIRECTS)), "ids"),
        "expel": Definition(update(urls).where(of_sites, urls.c.state.in_((KNOWN, FAILED))).values(expelled), "ids"),
    }


def _when_due(idiom: Idiom) -> dict[str, Definition]:
    ready = later(bindparam("now", type_=sites.c.due_at.type), later(sites.c.not_before, sites.c.errand_until))
    now_until = ("now", "now")  # `ready` compares before it chooses
    asleep = sites.c.due_at.is_(None) | (sites.c.due_at > ready)
    known = select(urls.c.due_at).where(urls.c.site_id == sites.c.id, urls.c.state == KNOWN)
    first_known = limited(known.order_by(urls.c.priority, urls.c.due_at, urls.c.key), ONE).scalar_subquery()
    errand = select(func.min(errands.c.asked_at)).where(errands.c.site_id == sites.c.id).scalar_subquery()
    firsts = {"failed": FAILED, "stored": STORED, "refused": REFUSED, "gone": GONE}
    return {
        "wake": Definition(
            update(sites).where(_THIS, sites.c.visit.is_(None), sites.c.in_scope.is_(true()), asleep).values(due_at=ready),
            *(*now_until, "site", *now_until),
        ),
        "dues": Definition(
            select(
                *(sites.c.id, sites.c.in_scope, sites.c.not_before, sites.c.errand_until, first_known.label("known")),
                *(_first(state).label(name) for name, state in firsts.items()),
                errand.label("errand"),
            ).where(sites.c.id.in_(idiom.numbers("ids"))),
            "ids",
        ),
        "set_dues": Definition(
            update(sites).where(_THIS).values(due_at=bindparam("due"), again_at=bindparam("again")), "due", "again", "site"
        ),
    }


def _first(state: ColumnElement[int]) -> ScalarSelect[float]:
    """The earliest due_at of a site's URLs in a state other than known: one step into `urls_rest`."""
    of_site = select(urls.c.due_at).where(
        urls.c.site_id == sites.c.id, urls.c.state != KNOWN, urls.c.state == state, urls.c.due_at.is_not(None)
    )
    return limited(of_site.order_by(urls.c.due_at), ONE).scalar_subquery()
