"""The timestamp of a date in a sitemap or feed: W3C dates in every precision, RFC 822 dates, and their usual misspellings.

A date without a time, a month and a year stand for their first second; a time without a zone is taken as UTC. What no server
can mean is None: impossible dates, and years outside those of the Web.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

__all__ = ["parse_date"]

_LONGEST = 64
_FIRST_YEAR, _LAST_YEAR = 1990, 2100
_EPOCH = date(1970, 1, 1).toordinal()

# W3C note "Date and Time Formats"; besides, a space for the T, a zone without its colon, no zone, minutes and hours alone.
_W3C = re.compile(
    r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[Tt ] ?([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9})[0-9]*+)?+)?+"
    r" ?([Zz]|UTC|GMT|[+-][0-9]{2}:?+(?:[0-9]{2})?+)?+)?+)?+)?+"
).fullmatch
# RFC 822, section 5, with the years of RFC 1123; besides, long names of days and months, hyphens, no time, no zone.
_RFC_822 = re.compile(
    r"(?:[A-Za-z]{2,9}\.?+,?+ ?)?+([0-9]{1,2})[ -]([A-Za-z]{3})[a-z]{0,6}\.?+[ -]([0-9]{4}|[0-9]{2})"
    r"(?: ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?+ ?([+-][0-9]{2}:?+[0-9]{2}|[A-Za-z]{1,5})?+)?+"
).fullmatch
_BLANKS = re.compile(r"\s++")
_MONTHS = {name: str(month) for month, name in enumerate(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), 1)}
_ZONES = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
"""Hours that the named zones of RFC 822 are ahead of UTC; other names are UTC or unknown (RFC 2822, section 4.3)."""


def parse_date(text: str) -> float | None:
    """Seconds since the epoch; None where the text is no date, or an absurd one."""
    return _parse_date(text) if 0 < len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)  # the pages of a site share many dates
def _parse_date(text: str) -> float | None:
    found = _W3C(text) or _W3C(text := _BLANKS.sub(" ", text).strip())
    if found:
        year, month, day, hour, minute, second, fraction, zone = found.groups()
        fraction = f"0.{fraction}" if fraction else "0"
    elif found := _RFC_822(text):
        day, month, year, hour, minute, second, zone = found.groups()
        year, month, fraction = _full_year(year), _MONTHS.get(month.lower(), "0"), "0"
    else:
        return None
    midnight = _midnight(year, month or "1", day or "1")
    ahead = _ahead_of_utc(zone or "")
    if midnight is None or ahead is None:
        return None
    if hour is None:
        return midnight
    clock = int(hour) * 3600 + int(minute) * 60 + int(second or 0)
    is_time = int(hour) < 24 and int(minute) < 60 and int(second or 0) <= 60  # 60 is a leap second
    return midnight + clock + float(fraction) - ahead if is_time else None


@lru_cache(maxsize=4096)  # a sitemap has few days and zones, and to check a date costs more than all else
def _midnight(year: str, month: str, day: str) -> float | None:
    """The day's first second in UTC."""
    if not _FIRST_YEAR <= int(year) <= _LAST_YEAR:
        return None
    try:
        return (date(int(year), int(month), int(day)).toordinal() - _EPOCH) * 86_400.0
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _ahead_of_utc(zone: str) -> int | None:
    """Seconds; None where no place on earth has such a zone."""
    if zone[:1] not in ("+", "-"):
        return _ZONES.get(zone.lower(), 0) * 3600
    hours, minutes = int(zone[1:3]), int(zone[3:].removeprefix(":") or 0)
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        return None
    return (hours * 60 + minutes) * (-60 if zone[0] == "-" else 60)


def _full_year(digits: str) -> str:
    """Two digits are the years from 1969 to 2068, as POSIX reads them."""
    if len(digits) == 4:
        return digits
    return f"19{digits}" if digits >= "69" else f"20{digits}"
