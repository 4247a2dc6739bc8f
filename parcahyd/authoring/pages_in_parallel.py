"""The same work for every page, in as many processes as there are cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TypeVar

__all__ = ["for_all_pages"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_SET = 32
"""Pages that a process is given at a time."""
_FEW = 100
"""For fewer pages no process is started."""


def for_all_pages(work: Callable[[_Item], _Result], items: Sequence[_Item], jobs: int) -> Iterator[_Result]:
    """The results in the order of the items, as they come. `work` is a function of a module, or a `partial` of one."""
    if jobs <= 1 or len(items) < _FEW:
        yield from map(work, items)
        return
    from concurrent.futures import ProcessPoolExecutor

    sets = [items[start : start + _SET] for start in range(0, len(items), _SET)]
    with ProcessPoolExecutor(min(jobs, len(sets))) as pool:
        yield from chain.from_iterable(pool.map(partial(_set, work), sets))


def _set(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    return [work(item) for item in items]
