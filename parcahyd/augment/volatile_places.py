"""Volatile places of a page that nobody marked, learned from its successive versions: what changed on most visits.

A clock, a token or a visitor counter makes no new version. A place is known by its offset in the page with all places cut
out, and by the stable bytes before and after it, so it is found in the next version without a search, and the version is
parted there as by markers. Two versions with the same skeleton are the same page. A place that stays as it is for a while is
volatile no more: what it then holds belongs to the page, and is a change if the stored version has something else there. So
nothing that lasts is overlooked, however it began.

How it is used: `visited`, with what was learned and the hash of the stored version's skeleton, says whether a version is the
same page. If not, `learn` (in `learning`) compares it with the stored version, and `skeleton_hash` gives the hash that is
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
    "Visit",
    "content_mark",
    "end_of",
    "followed",
    "learn",
    "ranges_of",
    "read_learned",
    "skeleton_hash",
    "split",
    "visited",
    "write_learned",
]

MAX_PLACES = 64
"""Places of a page; of one that changes in more, nothing is learned."""
MAX_CONTENT = 512
"""Bytes that a place holds; a longer change is one of the page."""
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
    """Stable bytes that end where the place begins; empty at the begin of a page."""
    after: bytes
    """Stable bytes that begin where the place ends; empty at the end of a page."""
    history: int
    """A bit for each remembered visit, the last one lowest: whether its content was another than on the visit before."""
    last: int
    """The content on the last visit, as `content_mark` has it."""
    stored: int
    """The content in the stored version, the same."""


class Learned(msgspec.Struct, frozen=True, array_like=True):
    """What is known of how one page changes."""

    places: tuple[Place, ...] = ()
    visits: int = 0
    """Visits after the first one, at most `WINDOW`."""
    form: int = _FORM

    def is_volatile(self, place: Place, least: int = LEAST_CHANGES) -> bool:
        """Whether the place changed on most visits, and at least so often."""
        changes = place.history.bit_count()
        return changes >= least and changes * 2 > self.visits


NOTHING_LEARNED = Learned()


class Visit(NamedTuple):
    """A visit that found the same page again: what is to be kept of it."""

    learned: Learned
    skeleton_hash: bytes
    """Another one than before where a place has become part of the skeleton."""


def write_learned(learned: Learned) -> bytes:
    """For the database: some 60 bytes for each place; empty where nothing is known."""
    return b"" if learned == NOTHING_LEARNED else msgspec.msgpack.encode(learned)


def read_learned(data: bytes) -> Learned:
    """What `write_learned` wrote; nothing where it is of another form, or damaged."""
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
    """A version parted at the volatile places; the skeleton is the whole where they are not all found. `merge` undoes it."""
    ranges = ranges_of(document, learned.places)
    return Parted(document) if ranges is None else _parted(document, learned, ranges, least)


def skeleton_hash(document: bytes, learned: Learned, least: int = LEAST_CHANGES) -> bytes:
    """SHA-256 of a version's skeleton; without places that of the version."""
    return sha256(split(document, learned, least).skeleton).digest()


def visited(learned: Learned, skeleton_hash: bytes, document: bytes, least: int = LEAST_CHANGES) -> Visit | None:
    """What is to be kept of a visit that found the same page again; None where the page has changed.

    `skeleton_hash` is that of the stored version. The page has also changed when a place that was volatile has settled on
    something that is not in the stored version.
    """
    ranges = ranges_of(document, learned.places)
    if ranges is None or sha256(_parted(document, learned, ranges, least).skeleton).digest() != skeleton_hash:
        return None
    known = Learned(_seen(learned.places, document, ranges), min(learned.visits + 1, WINDOW))
    is_as_before = True
    for before, place in zip(learned.places, known.places, strict=True):
        if learned.is_volatile(before, least) and not known.is_volatile(place, least):
            if place.last != place.stored:
                return None
            is_as_before = False
    # What has settled is in the document as in the stored version, so the skeletons are the same, also without that place.
    known_hash = skeleton_hash if is_as_before else sha256(_parted(document, known, ranges, least).skeleton).digest()
    return Visit(_forgotten(known, ranges), known_hash)


def ranges_of(document: bytes, places: Sequence[Place]) -> list[tuple[int, int]] | None:
    """Where the contents of the places begin and end in a version; None where one is not where it should be."""
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
    """Where a content ends that begins at `start`; -1 where it does not end in time."""
    if after:
        return document.find(after, start, start + MAX_CONTENT + len(after))
    return len(document) if start <= len(document) <= start + MAX_CONTENT else -1


def content_mark(content: bytes) -> int:
    """A content in eight bytes."""
    return int.from_bytes(blake2b(content, digest_size=8).digest())


def followed(history: int, is_change: bool) -> int:
    """A history with one visit more."""
    return (history << 1 | is_change) & _HISTORY


def _seen(places: Sequence[Place], document: bytes, ranges: list[tuple[int, int]]) -> tuple[Place, ...]:
    seen = []
    for place, (start, end) in zip(places, ranges, strict=True):
        mark = content_mark(document[start:end])
        seen.append(place._replace(history=followed(place.history, mark != place.last), last=mark))
    return tuple(seen)


def _parted(document: bytes, learned: Learned, ranges: list[tuple[int, int]], least: int) -> Parted:
    spans = [
        Span(str(number), start, end)
        for number, (place, (start, end)) in enumerate(zip(learned.places, ranges, strict=True), 1)
        if learned.is_volatile(place, least)
    ]
    return part_by_spans(document, spans)


def _forgotten(known: Learned, ranges: list[tuple[int, int]]) -> Learned:
    """Without places that changed on no remembered visit; those after them then stand further behind in what is left."""
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


# --- How volatile places are learned: a version is compared with the stored one, and what differs is joined with what is known.


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
