"""Queries without end: very many or repeated parameters, ever new combinations of them, and session ids.

A page whose every filter is a parameter has one URL for each combination of filters, in each order. So only a limited number
of different lists of parameter names is followed for one path. After that the path counts as exploded: no new query of it with
more than one parameter is followed.

Tested in tests/rules/traps/test_guards.py.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

from parcahyd.core.states import Reason
from parcahyd.rules.traps.budgets import VisitMemory
from parcahyd.rules.traps.url_shapes import repeats

__all__ = [
    "SESSION_NAMES",
    "Queries",
    "Sessions",
    "without_session",
]

_MOST_EXPLODED = 64


class Queries:
    """Judges the queries of one site. `exploded` outlives the visit."""

    __slots__ = ("_max_parameters", "_max_repeats", "_max_shapes", "_shapes", "exploded")

    def __init__(self, max_parameters: int, max_repeats: int, max_shapes: int, exploded: Iterable[int] = ()) -> None:
        self._max_parameters = max_parameters
        self._max_repeats = max_repeats
        self._max_shapes = max_shapes
        self._shapes: dict[str, set[str]] = {}
        self.exploded = set(exploded)
        """Numbers of paths."""

    def judge(self, plain: str, query: str, names: Sequence[str], memory: VisitMemory) -> Reason | None:
        """Why a path with this query, whose parameters have these names, is refused, if it is."""
        count = len(names)
        if count == 1:
            return None
        if self._max_parameters and count > self._max_parameters:
            return Reason.PARAMETERS
        if self._max_repeats and count > self._max_repeats + 1 and repeats(query.split("&")) > self._max_repeats:
            return Reason.REPEATS
        return Reason.QUERIES if self._max_shapes and self._is_one_too_many(plain, "&".join(names), memory) else None

    def _is_one_too_many(self, plain: str, shape: str, memory: VisitMemory) -> bool:
        shapes = self._shapes.get(plain)
        if shapes is None:
            if not memory.take():
                return False
            shapes = self._shapes[plain] = set()
        if self.exploded and _number(plain) in self.exploded:
            return True
        if shape in shapes:
            return False
        if len(shapes) < self._max_shapes:
            if memory.take():
                shapes.add(shape)
            return False
        if len(self.exploded) < _MOST_EXPLODED:
            self.exploded.add(_number(plain))
        return True


def _number(plain: str) -> int:
    return zlib.crc32(plain.encode())


# --- Session ids: a server that writes one into every link gives each page a new URL on every visit ---------------------
# Of URLs that differ only in the id, the first is followed, so a site that has no other URLs is still crawled.

# Names that mean nothing else, and names that mean a session only where the value looks like an id.
_CERTAIN = ("jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "sess_id", "cfid", "cftoken", "zenid", "oscsid")
_LIKELY = ("sid", "s", "session", "sess", "token")
_LOOKS_LIKE_ONE = r"(?=[A-Za-z_-]*+[0-9])[0-9A-Za-z_-]{16,}+(?=[&;/?]|$)"

_PARAMETER = re.compile(
    rf"([?&;])(?:(?:{'|'.join(_CERTAIN)})=[^&;/?]*+|(?:{'|'.join(_LIKELY)})={_LOOKS_LIKE_ONE})", re.IGNORECASE
)

SESSION_NAMES = frozenset(
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
