"""One Set-Cookie header, as user agents must read it (RFC 6265, section 5), whatever a server writes."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

__all__ = ["SetCookie", "cookie_date", "read_set_cookie"]

# RFC 6265bis, section 5.6: longer ones are not kept; nobody's session needs them.
_LONGEST_COOKIE = 4096
_LONGEST_ATTRIBUTE = 1024
_MOST_ATTRIBUTES = 32

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]").search
_INTEGER = re.compile(r"-?[0-9]++").fullmatch
_DELIMITERS = re.compile(r"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]++")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])").match
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])").match
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])").match
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class SetCookie(msgspec.Struct, frozen=True):
    """What the header says, nothing of it judged yet."""

    name: str
    value: str
    domain: str = ""
    """Lower case, without a leading dot; empty: this host only."""
    path: str = ""
    """Empty: the default path."""
    expires: float | None = None
    """In seconds since 1970; None: with the session."""
    secure: bool = False


def read_set_cookie(header: str, now: float) -> SetCookie | None:
    """The cookie, or None where the header is to be ignored."""
    pair, *attributes = header.split(";", _MOST_ATTRIBUTES)
    name, equals, value = pair.partition("=")
    name, value = name.strip(" \t"), value.strip(" \t")
    if not equals or not name or len(name) + len(value) > _LONGEST_COOKIE or _CONTROL(pair) is not None:
        return None
    domain, path, secure = "", "", False
    max_age: float | None = None
    expires: float | None = None
    for attribute in attributes[: _MOST_ATTRIBUTES - 1]:
        if len(attribute) > _LONGEST_ATTRIBUTE:
            continue
        word, _, given = attribute.partition("=")
        given = given.strip(" \t")
        match word.strip(" \t").lower():
            case "domain":
                domain = given.removeprefix(".").lower()
            case "path":
                path = given if given.startswith("/") and _CONTROL(given) is None else ""
            case "secure":
                secure = True
            case "max-age" if _INTEGER(given):
                # Nineteen digits are further away than any date, and int() of a long text would be slow.
                max_age = now + int(given[:19])
            case "expires":
                found = cookie_date(given)
                expires = expires if found is None else found
    return SetCookie(name, value, domain, path, expires if max_age is None else max_age, secure)


def cookie_date(text: str) -> float | None:
    """A date by the algorithm of RFC 6265, section 5.1.1, in seconds since 1970; None where it is none."""
    clock = day = month = year = None
    for token in _DELIMITERS.split(text):
        if clock is None and (found := _CLOCK(token)):
            clock = found
        elif day is None and (found := _DAY(token)):
            day = int(found[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year is None and (found := _YEAR(token)):
            year = int(found[1])
    if clock is None or day is None or month is None or year is None:
        return None
    if year < 100:
        year += 1900 if year >= 70 else 2000
    if year < 1601:
        return None
    try:
        return datetime(year, month, day, int(clock[1]), int(clock[2]), int(clock[3]), tzinfo=UTC).timestamp()
    except ValueError:
        return None
