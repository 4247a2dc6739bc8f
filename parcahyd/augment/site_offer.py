"""What was learned about the tables of one site: kept with the site, sent along with every visit, and given back after it.

What robots.txt declares is not kept here: it is read with robots.txt.
"""

from __future__ import annotations

import msgspec

from parcahyd.augment.declaration import MAX_DECLARATIONS, Declaration

__all__ = ["ALL_TABLES", "ALL_TVI", "MAX_ABSENT", "NOTHING_OFFERED", "SiteOffer", "read_offer", "write_offer"]

ALL_TABLES = "*"
"""Stands in `absent` for every table of links of a site that declares none."""
ALL_TVI = "*.TVI"
"""The same for every table of variable information."""

MAX_ABSENT = 200
"""Directories of which it is remembered that they have no tables."""
_FORM = 1


class SiteOffer(msgspec.Struct, frozen=True, array_like=True):
    """Times are seconds since the epoch."""

    declarations: tuple[Declaration, ...] = ()
    """What pages and `/.well-known/augment` declared, each bound to what its author speaks for."""
    absent: tuple[tuple[str, float], ...] = ()
    """Directories that have no tables, and until when that is believed; `/.well-known/augment`, bundles, `ALL_TABLES` and
    `ALL_TVI` stand here too."""
    confirmed: int = 0
    """Links of tables that their documents have."""
    phantoms: int = 0
    """Links of tables that their documents do not have."""
    links_barred_until: float = 0.0
    """Until then its tables of links are ignored: too many phantoms."""
    strikes: int = 0
    """Tables of variable information that were wrong."""
    fragments_barred_until: float = 0.0
    """Until then its tables of variable information are ignored: too many strikes."""
    form: int = _FORM


NOTHING_OFFERED = SiteOffer()


def write_offer(offer: SiteOffer) -> bytes:
    """For the database."""
    return msgspec.msgpack.encode(offer)


def read_offer(data: bytes) -> SiteOffer:
    """What `write_offer` wrote; nothing where it is of another form, or damaged."""
    if not data:
        return NOTHING_OFFERED
    try:
        offer = msgspec.msgpack.decode(data, type=SiteOffer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return NOTHING_OFFERED
    is_sound = offer.form == _FORM and len(offer.declarations) <= MAX_DECLARATIONS and len(offer.absent) <= MAX_ABSENT
    return offer if is_sound else NOTHING_OFFERED
