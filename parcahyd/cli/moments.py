"""A moment that the user gives on the command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from parcahyd.core.errors import UserMistake

__all__ = ["read_moment"]

_TIME = re.compile(r"[T ]\d{2}(?P<minute>:?\d{2})?(?P<second>:?\d{2})?(?P<fraction>[.,]\d+)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?$")
_SECONDS = re.compile(r"\d+(?:\.\d+)?")
_INSTANT = 1e-5


def read_moment(text: str) -> float:
    """Seconds since the epoch, of a date, a time as ISO 8601 has it (UTC where no zone is given), or such seconds.

    A day, hour, minute or second stands for its last instant: what was received in it was there.
    """
    given = text.strip()
    if _SECONDS.fullmatch(given):
        return float(given) + (0.0 if "." in given else 1 - _INSTANT)
    try:
        moment = datetime.fromisoformat(given)
        at = (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise UserMistake(
            f'"{text}" is not a moment', "write 2026-03-04, 2026-03-04T05:06:07Z, or seconds since the epoch"
        ) from None
    time = _TIME.search(given)
    if time is not None and time["fraction"]:
        return at
    unit = 86400 if time is None else 1 if time["second"] else 60 if time["minute"] else 3600
    return at + unit - _INSTANT
