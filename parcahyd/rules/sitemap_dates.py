"""The moment that a date of a sitemap or feed means: W3C dates in every precision, RFC 822 dates, and their usual slips.

A date without a time is its first moment, and so are a month and a year; a time without a zone is taken as UTC. What no server
can mean is None: impossible dates, and years outside those of the Web.
"""

from __future__ import annotations

import re
from datetime import date

__all__ = ["moment"]

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
_MONTHS = {name: month for month, name in enumerate(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), 1)}
_ZONES = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
"""Hours that the named zones of RFC 822 are ahead of UTC; other names are UTC or tell nothing (RFC 2822, section 4.3)."""


def moment(text: str) -> float | None:
    """Seconds since the epoch; None where the text is no date, or an absurd one."""
    if not text or len(text) > _LONGEST:
        return None
    text = _BLANKS.sub(" ", text).strip()
    found = _W3C(text)
    if found:
        year, month, day, hour, minute, second, fraction, zone = found.groups()
        whole = _seconds(int(year), int(month or 1), int(day or 1), hour, minute, second, zone or "")
        return whole if whole is None or not fraction else whole + float(f"0.{fraction}")
    found = _RFC_822(text)
    if not found:
        return None
    day, name, year, hour, minute, second, zone = found.groups()
    return _seconds(_full_year(year), _MONTHS.get(name.lower(), 0), int(day), hour, minute, second, zone or "")


def _seconds(
    year: int, month: int, day: int, hour: str | None, minute: str | None, second: str | None, zone: str
) -> float | None:
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    clock = _clock(int(hour or 0), int(minute or 0), int(second or 0))
    ahead = _ahead_of_utc(zone)
    if clock is None or ahead is None:
        return None
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None
    return float(days * 86_400 + clock - ahead)


def _clock(hour: int, minute: int, second: int) -> int | None:
    """The second of the day; a leap second (60) is the first of the next minute."""
    return hour * 3600 + minute * 60 + second if hour < 24 and minute < 60 and second <= 60 else None


def _ahead_of_utc(zone: str) -> int | None:
    if zone[:1] not in ("+", "-"):
        return _ZONES.get(zone.lower(), 0) * 3600
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:] or 0) * 60
    if seconds > 14 * 3600 or int(digits[2:] or 0) > 59:
        return None
    return -seconds if zone[0] == "-" else seconds


def _full_year(digits: str) -> int:
    """Two digits are the years from 1969 to 2068, as POSIX reads them."""
    year = int(digits)
    return year if len(digits) == 4 else year + (1900 if year >= 69 else 2000)
