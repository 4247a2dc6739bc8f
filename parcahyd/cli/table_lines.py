"""The tables that a site offers, in sentences: a part of what `parcahyd explain` writes."""

from __future__ import annotations

from collections.abc import Iterator

from parcahyd.augment.site_offer import ALL_TABLES, ALL_TVI, choose, declarations_in, read_offer
from parcahyd.cli.wording import utc_time
from parcahyd.rules.urls.canonical_url import split

__all__ = ["table_lines"]


def table_lines(url: str, robots: bytes, augmentation: bytes, eager: str, now: float) -> Iterator[str]:
    """Where this URL's tables are, which file declares them, and what is not requested.

    `augmentation` is what visits learned about the site.
    """
    by_robots, offer = declarations_in(robots), read_offer(augmentation)
    declarations = [*by_robots, *offer.declarations]
    holds = choose(declarations, url)
    path = split(url)[3]
    if not declarations:
        yield "the site declares none"
    elif holds is None:
        yield "the site declares some, but none for this URL"
    else:
        speaker = "robots.txt" if holds in by_robots else "a page or a file of declarations"
        named = [("links", holds.tol_of(url)), ("what changes", holds.tvi_of(url))]
        places = [f"{what} at {place}" for what, place in named if place is not None]
        yield f"{', '.join(places) or 'none for this URL'}, declared by {speaker} for {holds.scope}"
    for declaration in declarations:
        bundle = declaration.bundle_of(url[: len(url) - len(path)])
        if bundle is not None:
            yield f'a bundle of links at {bundle}; Eager = "{eager}"'
    yield from _not_asked_for(path, offer.absent, now)
    if offer.links_barred_until > now:
        yield f"its tables of links are ignored until {utc_time(offer.links_barred_until)}: its documents lack too many of them"
    if offer.fragments_barred_until > now:
        yield f"its tables of what changes are ignored until {utc_time(offer.fragments_barred_until)}: too many were wrong"


def _not_asked_for(path: str, absent: tuple[tuple[str, float], ...], now: float) -> Iterator[str]:
    directory = path.partition("?")[0].rpartition("/")[0] + "/"
    for place, until in absent:
        if until <= now:
            continue
        if place == ALL_TABLES:
            yield f"no tables are asked for on this site before {utc_time(until)}: three were missing"
        elif place == ALL_TVI:
            yield f"no tables of what changes are asked for on this site before {utc_time(until)}: three were missing"
        elif place == directory:
            yield f"no tables are asked for in {place} before {utc_time(until)}: three were missing"
        elif not place.endswith("/"):
            yield f"{place} is not asked for before {utc_time(until)}"
