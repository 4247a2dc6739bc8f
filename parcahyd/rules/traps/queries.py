"""Queries without end: very many parameters, repeated parameters, or ever new combinations of them.

A page whose every filter is a parameter has one URL for each combination of filters, in each order. So only a limited number
of different lists of parameter names is followed for one path. After that the path counts as exploded: no new query of it with
more than one parameter is followed.

Tested in tests/rules/traps/test_guards.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from parcahyd.core.states import Reason
from parcahyd.rules.traps.memory_budget import VisitMemory
from parcahyd.rules.traps.url_shapes import repeats

__all__ = ["Queries"]

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
