"""What a page asks of robots: `X-Robots-Tag` headers and `<meta name="robots">`, by the conventions of the search engines.

| word | what it asks for |
|---|---|
| `noindex` | do not offer the page's text to others; its links may be followed |
| `nofollow` | follow none of the page's links; they may stand in the table of links |
| `none` | both |
| `noarchive`, `nocache` | hand out no copy of the page |
| `unavailable_after: DATE` | `noindex` from that time on; a date that cannot be read counts as none |
| `all`, `index`, `follow` and everything else | nothing |

Rules for all robots and rules for our product token count, and the most restrictive wins: no rule takes back what another
asks for. In a header, `NAME:` begins the rules for one agent, up to the next name or the header's end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_tz
from enum import IntFlag

__all__ = ["MAX_LENGTH", "MAX_RULES", "NO_DIRECTIVES", "Directive", "header_directives", "meta_directives", "speaks_to_robots"]

MAX_RULES = 64
"""Headers, and metas of one page, that are read; of each, the first `MAX_LENGTH` characters."""
MAX_LENGTH = 2_048


class Directive(IntFlag):
    """What a page asks for."""

    NOINDEX = 1
    NOFOLLOW = 2
    NOARCHIVE = 4


NO_DIRECTIVES = Directive(0)

_WORDS = {
    "noindex": Directive.NOINDEX,
    "nofollow": Directive.NOFOLLOW,
    "none": Directive.NOINDEX | Directive.NOFOLLOW,
    "noarchive": Directive.NOARCHIVE,
    "nocache": Directive.NOARCHIVE,
}
_EVERYBODY = ("", "*")
_WEEKDAY = r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
# A date with its own comma; a rule with a value, which may be `none`; a name with a colon; a word.


_RULE = re.compile(
    rf"unavailable_after[\t ]*+:[\t ]*+((?:{_WEEKDAY}[\t ]*+,)?+[^,;]*+)"
    r"|max-[a-z-]++[\t ]*+:[\t ]*+[^\s,;]*+"
    r"|([^\s,;:]++)[\t ]*+(:?+)",
    re.IGNORECASE,
)


_LONGEST_DATE = 64
_FIRST_DATE = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
# Every word that does something holds one of these.


_HINT = re.compile("no(?:index|follow|archive|cache|ne)|unavailable_after", re.IGNORECASE)


def speaks_to_robots(content: str) -> bool:
    """Whether a meta's content could ask for anything; most could not, whatever their names are."""
    return _HINT.search(content, 0, MAX_LENGTH) is not None


def header_directives(values: Sequence[str], token: str, now: float) -> Directive:
    """What the `X-Robots-Tag` headers ask of the robot with this product token; `now` decides about dates."""
    found = NO_DIRECTIVES
    for value in values[:MAX_RULES]:
        found |= _read(value, token.lower(), now)
    return found


def meta_directives(metas: Iterable[tuple[str, str]], token: str, now: float) -> Directive:
    """What metas, given as name and content, ask of the robot with this product token."""
    names = {"robots", token.lower() or "robots"}
    found = NO_DIRECTIVES
    for name, content in metas:
        if name.strip().lower() in names:
            found |= _read(content, token.lower(), now)
    return found


def _read(text: str, token: str, now: float) -> Directive:
    found = NO_DIRECTIVES
    is_ours = True
    for rule in _RULE.finditer(text, 0, MAX_LENGTH):
        date, word, colon = rule.groups()
        if colon:
            is_ours = word.lower() in (*_EVERYBODY, token)
        elif not is_ours:
            continue
        elif word:
            found |= _WORDS.get(word.lower(), NO_DIRECTIVES)
        elif date and _has_passed(date, now):
            found |= Directive.NOINDEX
    return found


def _has_passed(date: str, now: float) -> bool:
    """Whether a date of ISO 8601, RFC 822 or RFC 850 lies before `now`; without a zone it is in UTC.

    A date before there was a Web is what a program writes that knows none: `0001-01-01`, `1970-01-01`.
    """
    when = _time_of(date.strip()[:_LONGEST_DATE])
    return when is not None and _FIRST_DATE <= when < now


def _time_of(date: str) -> float | None:
    try:
        when = datetime.fromisoformat(date)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        pass
    try:
        parts = parsedate_tz(date)
        if parts is None:
            return None
        # parsedate_tz takes a 41st day and a 99th hour; datetime does not.
        when = datetime(*parts[:6], tzinfo=UTC)
        return when.timestamp() - (parts[9] or 0)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
