"""Session ids: a server that writes one into every link gives each page a new URL on every visit.

Of URLs that differ only in the id, the first is followed, so a site that has no other URLs is still crawled.

Tested in tests/rules/traps/test_guards.py.
"""

from __future__ import annotations

import re

from parcahyd.rules.traps.memory_budget import VisitMemory

__all__ = ["NAMES", "Sessions", "without_session"]

# Names that mean nothing else, and names that mean a session only where the value looks like an id.
_CERTAIN = ("jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "sess_id", "cfid", "cftoken", "zenid", "oscsid")
_LIKELY = ("sid", "s", "session", "sess", "token")
_LOOKS_LIKE_ONE = r"(?=[A-Za-z_-]*+[0-9])[0-9A-Za-z_-]{16,}+(?=[&;/?]|$)"


_PARAMETER = re.compile(
    rf"([?&;])(?:(?:{'|'.join(_CERTAIN)})=[^&;/?]*+|(?:{'|'.join(_LIKELY)})={_LOOKS_LIKE_ONE})", re.IGNORECASE
)


NAMES = frozenset(
    (
        *(spelling for name in (*_CERTAIN, *_LIKELY) for spelling in (name, name.upper(), name.capitalize())),
        *("osCsid", "sessionId", "sessionID", "SessionId", "SessionID", "sessId", "sessID", "sId", "sID"),
    )
)
"""Names of parameters that may hold a session id."""
# ASP.NET writes it into the path: /(S(lit3py55t21z5v55vlm25s55))/page.aspx


_SEGMENT = re.compile(r"/\((?:[A-Z]\([^()/]{1,60}\)){1,4}\)(?=/)")


def without_session(path: str) -> str | None:
    """The path with its session ids left out; None where it has none."""
    bare = _PARAMETER.sub(r"\1", path)
    if "(" in bare:
        bare = _SEGMENT.sub("", bare)
    return None if bare == path else bare


class Sessions:
    """Remembers the forms of URLs of one visit that came with a session id."""

    __slots__ = ("_forms",)

    def __init__(self) -> None:
        self._forms: set[int] = set()

    def refuses(self, path: str, memory: VisitMemory) -> bool:
        """Whether the visit has met the same path with another session id."""
        form = without_session(path)
        if form is None:
            return False
        number = hash(form)
        if number in self._forms:
            return True
        if memory.take():
            self._forms.add(number)
        return False
