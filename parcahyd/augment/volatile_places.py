"""Volatile places of a page without markers, learned from its successive versions: what changed on most visits.

A change of a clock, a token or a visitor counter is not a new version. A place is defined by its offset in the page with all
places cut out, and by the stable bytes before and after it. So it is found in the next version without a search, and the
version is split there as at markers. Two versions with the same skeleton are the same page. A place that stays the same for a
while is no longer volatile: its content then belongs to the page, and is a change if the stored version has another content
there. So no lasting change is missed.

How it is used: `visited`, with what was learned and the hash of the stored version's skeleton, decides whether a version is the
same page. If not, `learn` compares it with the stored version, and `skeleton_hash` gives the hash that is
kept with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b, sha256
from itertools import pairwise
from typing import NamedTuple

import msgspec

from parcahyd.augment.differences import Difference, differences
from parcahyd.augment.markers import Span
from parcahyd.augment.skeleton import Parted, part_by_spans

__all__ = [
    "LEAST_CHANGES",
    "MAX_CONTENT",
    "MAX_PLACES",
    "NOTHING_LEARNED",
    "WINDOW",
    "Learned",
    "Place",
    "UnchangedVisit",
    "content_digest",
    "end_of",
    "learn",
    "next_history",
    "ranges_of",
    "read_learned",
    "skeleton_hash",
    "split",
    "visited",
    "write_learned",
]

MAX_PLACES = 64
"""Places of a page, at most; from a page that changes in more places nothing is learned."""
MAX_CONTENT = 512
"""Bytes of a place, at most; a longer change is a change of the page."""
WINDOW = 8
"""Visits that are remembered; "most" means most of these."""
LEAST_CHANGES = 1
"""Changes after which a place can be volatile."""
_FORM = 1
_HISTORY = (1 << WINDOW) - 1


class Place(NamedTuple):
    """Where a page has changed."""

    offset: int
    """In bytes of the page with the contents of all places cut out; so it stays while the rest does."""
    before: bytes
    """The stable bytes before the place; empty at the begin of a page."""
    after: bytes
    """The stable bytes after the place; empty at the end of a page."""
    history: int
    """A bit for each remembered visit, the last one lowest: whether the content differed from the visit before."""
    last: int
    """`content_digest` of the content on the last visit."""
    stored: int
    """`content_digest` of the content in the stored version."""


class Learned(msgspec.Struct, frozen=True, array_like=True):
    """What was learned about the changes of one page."""

    places: tuple[Place, ...] = ()
    visits: int = 0
    """Visits after the first one, at most `WINDOW`."""
    form: int = _FORM

    def is_volatile(self, place: Place, least: int = LEAST_CHANGES) -> bool:
        """Whether the place changed on most visits, and at least `least` times."""
        changes = place.history.bit_count()
        return changes >= least and changes * 2 > self.visits


NOTHING_LEARNED = Learned()


class UnchangedVisit(NamedTuple):
    """What to store after a visit that found the same page again."""

    learned: Learned
    skeleton_hash: bytes
    """Differs from the one before where a place has become part of the skeleton."""


def write_learned(learned: Learned) -> bytes:
    """Bytes for the database, some 60 for each place; empty where nothing is known."""
    return b"" if learned == NOTHING_LEARNED else msgspec.msgpack.encode(learned)


def read_learned(data: bytes) -> Learned:
    """What `write_learned` wrote; `NOTHING_LEARNED` where the data have another form or are damaged."""
    if not data:
        return NOTHING_LEARNED
    try:
        learned = msgspec.msgpack.decode(data, type=Learned)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return NOTHING_LEARNED
    places = learned.places
    is_sound = (
        learned.form == _FORM
        and 0 <= learned.visits <= WINDOW
        and len(places) <= MAX_PLACES
        and all(len(place.before) <= place.offset and 0 <= place.history <= _HISTORY for place in places)
        and all(first.offset < second.offset for first, second in pairwise(places))
    )
    return learned if is_sound else NOTHING_LEARNED


def split(document: bytes, learned: Learned, least: int = LEAST_CHANGES) -> Parted:
    """A version split at the volatile places; the skeleton is the whole version unless all are found. `merge` undoes it."""
    ranges = ranges_of(document, learned.places)
    return Parted(document) if ranges is None else _parted(document, learned, ranges, least)


def skeleton_hash(document: bytes, learned: Learned, least: int = LEAST_CHANGES) -> bytes:
    """SHA-256 of a version's skeleton; without places it is that of the version."""
    return sha256(split(document, learned, least).skeleton).digest()


def visited(learned: Learned, skeleton_hash: bytes, document: bytes, least: int = LEAST_CHANGES) -> UnchangedVisit | None:
    """What to store after a visit that found the same page again; None where the page has changed.

    `skeleton_hash` is that of the stored version. The page has also changed when a place is no longer volatile and its
    content is not that of the stored version.
    """
    ranges = ranges_of(document, learned.places)
    if ranges is None or sha256(_parted(document, learned, ranges, least).skeleton).digest() != skeleton_hash:
        return None
    known = Learned(_updated(learned.places, document, ranges), min(learned.visits + 1, WINDOW))
    is_as_before = True
    for before, place in zip(learned.places, known.places, strict=True):
        if learned.is_volatile(before, least) and not known.is_volatile(place, least):
            if place.last != place.stored:
                return None
            is_as_before = False
    # A place that is no longer volatile has the content of the stored version, so both versions still have the same skeleton.
    known_hash = skeleton_hash if is_as_before else sha256(_parted(document, known, ranges, least).skeleton).digest()
    return UnchangedVisit(_without_unchanged(known, ranges), known_hash)


def ranges_of(document: bytes, places: Sequence[Place]) -> list[tuple[int, int]] | None:
    """Where the contents of the places begin and end in a version; None where one is not found at its offset."""
    ranges = []
    shift = 0
    for place in places:
        start = place.offset + shift
        if not document.startswith(place.before, start - len(place.before)):
            return None
        end = end_of(document, start, place.after)
        if end < 0:
            return None
        ranges.append((start, end))
        shift += end - start
    return ranges


def end_of(document: bytes, start: int, after: bytes) -> int:
    """Where a content that begins at `start` ends; -1 where it is longer than `MAX_CONTENT`."""
    if after:
        return document.find(after, start, start + MAX_CONTENT + len(after))
    return len(document) if start <= len(document) <= start + MAX_CONTENT else -1


def content_digest(content: bytes) -> int:
    """A digest of eight bytes."""
    return int.from_bytes(blake2b(content, digest_size=8).digest())


def next_history(history: int, is_change: bool) -> int:
    """The history after one more visit."""
    return (history << 1 | is_change) & _HISTORY


def _updated(places: Sequence[Place], document: bytes, ranges: list[tuple[int, int]]) -> tuple[Place, ...]:
    seen = []
    for place, (start, end) in zip(places, ranges, strict=True):
        digest = content_digest(document[start:end])
        seen.append(place._replace(history=next_history(place.history, digest != place.last), last=digest))
    return tuple(seen)


def _parted(document: bytes, learned: Learned, ranges: list[tuple[int, int]], least: int) -> Parted:
    spans = [
        Span(str(number), start, end)
        for number, (place, (start, end)) in enumerate(zip(learned.places, ranges, strict=True), 1)
        if learned.is_volatile(place, least)
    ]
    return part_by_spans(document, spans)


def _without_unchanged(known: Learned, ranges: list[tuple[int, int]]) -> Learned:
    """Removes places that changed on no remembered visit; the offsets of later places grow by the removed contents."""
    if all(place.history for place in known.places):
        return known
    kept = []
    shift = 0
    for place, (start, end) in zip(known.places, ranges, strict=True):
        if place.history:
            kept.append(place._replace(offset=place.offset + shift))
        else:
            shift += end - start
    return Learned(tuple(kept), known.visits)


# --- How volatile places are learned: a version is compared with the stored one, and differences are joined with known places.


_ANCHOR = 16
"""Stable bytes before and after a place that are stored, at most."""
_LEAST_ANCHOR = 8
"""Places with fewer bytes between them are one: so few bytes may be equal by chance, such as an escape in two tokens."""


def learn(learned: Learned, old: bytes, new: bytes) -> Learned:
    """What is known after a visit that brought `new`, which will be stored; `old` is the version that is stored now.

    Places are moved to their offsets in the newer version, by the equal bytes around them. For a page that was visited before
    without a change, begin with `Learned(visits=...)`: one change in many visits makes nothing volatile.
    """
    visits = min(learned.visits + 1, WINDOW)
    ranges = ranges_of(old, learned.places)
    known = [] if ranges is None else list(zip(ranges, learned.places, strict=True))
    groups = _groups(known, differences(old, new, whole_words=True))
    places = _places(new, groups)
    if len(groups) > MAX_PLACES or sum([group.end - group.start for group in groups]) * 2 > len(new):
        places = ()  # Most of the page changed: these are not volatile places.
    return Learned(places, visits)


class _Group(NamedTuple):
    """Known places and differences that overlap or nearly touch; they become one place."""

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
    """Groups of parts; between two groups there are enough stable bytes."""
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
    """The groups as places of the newer version, without those whose end could not be found again."""
    places = []
    cut = 0
    for number, group in enumerate(groups):
        stable_from = groups[number - 1].end if number else 0
        stable_to = groups[number + 1].start if number + 1 < len(groups) else len(new)
        after = new[group.end : min(group.end + _ANCHOR, stable_to)]
        if not group.is_short or end_of(new, group.start, after) != group.end:
            continue
        before = new[max(group.start - _ANCHOR, stable_from) : group.start]
        content = content_digest(new[group.start : group.end])
        history = _history(group, content)
        if history:
            places.append(Place(group.start - cut, before, after, history, content, content))
            cut += group.end - group.start
    return tuple(places)


def _history(group: _Group, content: int) -> int:
    history = 0
    for place in group.known:
        history |= place.history
    return next_history(history, not group.is_as_before or content != group.known[0].last)
