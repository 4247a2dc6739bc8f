"""How volatile places are learned: a version is compared with the stored one, and what differs is joined with what is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from parcahyd.augment.differences import Difference, differences
from parcahyd.augment.learned import (
    MAX_CONTENT,
    MAX_PLACES,
    WINDOW,
    Learned,
    Place,
    content_mark,
    end_of,
    followed,
    ranges_of,
)

__all__ = ["learn"]

_ANCHOR = 16
"""Bytes before and after a place that are kept."""
_LEAST_ANCHOR = 8
"""Places with fewer bytes between them are one: so little may be equal by chance, such as an escape in two tokens."""


def learn(learned: Learned, old: bytes, new: bytes) -> Learned:
    """What is known after a visit that brought `new`, which will be stored; `old` is the version that is stored now.

    Places are followed to where they stand in the newer version, by what is equal around them. Of a page that was visited
    before without a change begin with `Learned(visits=...)`: one change in many visits makes nothing volatile.
    """
    visits = min(learned.visits + 1, WINDOW)
    ranges = ranges_of(old, learned.places)
    known = [] if ranges is None else list(zip(ranges, learned.places, strict=True))
    groups = _groups(known, differences(old, new, whole_words=True))
    places = _places(new, groups)
    if len(groups) > MAX_PLACES or sum([group.end - group.start for group in groups]) * 2 > len(new):
        places = ()  # A page that changes all over is no page with a clock.
    return Learned(places, visits)


class _Group(NamedTuple):
    """Known places and differences that overlap or nearly meet: they become one place."""

    start: int
    """In the newer version, as is the end."""
    end: int
    known: tuple[Place, ...]
    is_as_before: bool
    """Whether it is one known place, no wider than it was."""
    is_short: bool


_Part = tuple[int, int, Place | Difference]


def _groups(known: Sequence[tuple[tuple[int, int], Place]], found: Sequence[Difference]) -> list[_Group]:
    parts: list[_Part] = [(*extent, place) for extent, place in known]
    parts += [(part.old_start, part.old_end, part) for part in found]
    parts.sort(key=lambda part: part[:2])
    groups = []
    shift = 0
    for members in _neighbours(parts):
        start, end = members[0][0], max([end for _, end, _ in members])
        new_start = start + shift
        for _, _, part in members:
            if isinstance(part, Difference):
                shift = part.new_end - part.old_end
        places = tuple([part for _, _, part in members if isinstance(part, Place)])
        is_as_before = len(places) == 1 and (start, end, places[0]) in members
        is_short = max(end - start, end + shift - new_start) <= MAX_CONTENT
        groups.append(_Group(new_start, end + shift, places, is_as_before, is_short))
    return groups


def _neighbours(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    """Parts in groups that have enough stable bytes between them."""
    members: list[_Part] = []
    reach = 0
    for part in parts:
        if members and part[0] >= reach + _LEAST_ANCHOR:
            yield members
            members = []
        reach = max(reach, part[1])
        members.append(part)
    if members:
        yield members


def _places(new: bytes, groups: Sequence[_Group]) -> tuple[Place, ...]:
    """The groups as places of the newer version, without those in which nobody would find the end."""
    places = []
    cut = 0
    for number, group in enumerate(groups):
        stable_from = groups[number - 1].end if number else 0
        stable_to = groups[number + 1].start if number + 1 < len(groups) else len(new)
        after = new[group.end : min(group.end + _ANCHOR, stable_to)]
        if not group.is_short or end_of(new, group.start, after) != group.end:
            continue
        before = new[max(group.start - _ANCHOR, stable_from) : group.start]
        content = content_mark(new[group.start : group.end])
        history = _history(group, content)
        if history:
            places.append(Place(group.start - cut, before, after, history, content, content))
            cut += group.end - group.start
    return tuple(places)


def _history(group: _Group, content: int) -> int:
    history = 0
    for place in group.known:
        history |= place.history
    return followed(history, not group.is_as_before or content != group.known[0].last)
