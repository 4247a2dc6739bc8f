"""A page that was stored before and comes with other bytes: the same page with another clock, or a new version?

What a page's versions taught (`augment.learned`) lies in `learned`, with the version that is stored. Of a page that is the
same nothing is stored again. A new version is kept in parts where that needs less space: the skeleton that it has in common
with the version before, once, and what each of them has besides. Its bytes are put together again when they are read.

Nothing of this is asked where a page is stored for the first time, nor where its regions are marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from parcahyd.augment.skeleton import is_smaller, share_skeleton
from parcahyd.augment.tvi import Region
from parcahyd.augment.volatile_places import WINDOW, Learned, learn, read_learned, skeleton_hash, visited, write_learned
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.storage.document_format import PackedPage, PackedRegion, UnpackingFailure, unpack, whole_of
from parcahyd.storage.packing import Compress, pack_regions
from parcahyd.storage.versions import LearnedRow, PriorVersion, VersionRows

__all__ = ["BATCH_BYTES", "PAGE_BYTES", "ChangeLearning", "Judgement", "is_learnable"]

PAGE_BYTES = 256 * 1024
"""Of a larger page nothing is learned."""
BATCH_BYTES = 4 * 1024 * 1024
"""Of pages that are compared with their stored versions in one transaction; what is beyond is stored without a comparison."""

_NOTHING = LearnedRow(b"", b"")


class Judgement(NamedTuple):
    """What becomes of a page with other bytes than before."""

    is_same: bool
    """It is the page that is stored."""
    lesson: LearnedRow
    """What is known from now on: with the stored version where that stays, else with the new one."""
    page: PackedPage
    """To be stored, perhaps in parts."""
    before: tuple[PackedRegion, ...] | None = None
    """The regions of the version before, where it is to have its skeleton in common with the new one."""


def is_learnable(page: PackedPage, version: PriorVersion) -> bool:
    """Whether it is a page of which something can be learned, and so was its version before."""
    kind = page.page.media_type
    return (
        bool(page.sha256)
        and version.document_id is not None
        and page.length <= PAGE_BYTES
        and (version.length or 0) <= PAGE_BYTES
        and not page.regions
        and page.page.table is None
        and version.tvi is None
        and (is_html(kind) or kind.startswith("text/"))
    )


class ChangeLearning:
    """Judges pages; used inside a transaction of the writer."""

    def __init__(self, versions: VersionRows) -> None:
        self._versions = versions

    def seen_again(self, page: PackedPage, version: PriorVersion) -> LearnedRow:
        """What is known after a visit that brought the bytes that are stored."""
        return _seen(version.skeleton_sha256, version.learned, unpack(page.packed, page.length))

    def confirmed(self, fetches: Sequence[int]) -> None:
        """The same for pages that the server did not send again."""
        lessons = {}
        for fetch, document, _, skeleton, learned in self._versions.learned(fetches):
            lessons[fetch] = _NOTHING
            try:
                lessons[fetch] = _seen(skeleton, learned, self._whole(fetch, document)[0])
            except UnpackingFailure:  # `verify` says what; nothing is known of it any more
                continue
        self._versions.set_learned(lessons)

    def same(self, page: PackedPage, version: PriorVersion) -> Judgement | None:
        """The judgement that it is the page that is stored; None where it is a new version."""
        if not version.learned:
            return None
        learned = read_learned(version.learned)
        visit = visited(learned, bytes(version.skeleton_sha256 or b""), unpack(page.packed, page.length))
        if visit is None:
            return None
        return Judgement(is_same=True, lesson=_lesson(visit.learned, visit.skeleton_hash), page=page)

    def new(self, page: PackedPage, version: PriorVersion, checks: int, compress: Compress, *, in_parts: bool) -> Judgement:
        """The judgement of a new version; `checks` says how often the page was found before."""
        unchanged = Judgement(is_same=False, lesson=_NOTHING, page=page)
        if version.document_id is None:
            return unchanged
        new = unpack(page.packed, page.length)
        try:
            old, skeleton, regions = self._whole(version.id, version.document_id)
        except UnpackingFailure:
            return unchanged
        before = read_learned(version.learned) if version.learned else Learned(visits=min(max(checks - 1, 0), WINDOW))
        learned = learn(before, old, new)
        judgement = unchanged._replace(lesson=_lesson(learned, skeleton_hash(new, learned)))
        if not in_parts or any(region.id for region in regions):
            return judgement
        if regions:
            return _on_skeleton(judgement, skeleton, new, compress)
        return _with_skeleton(judgement, old, new, compress) if self._versions.is_alone(version.document_id) else judgement

    def _whole(self, fetch: int, document: int) -> tuple[bytes, bytes, list[PackedRegion]]:
        """A stored version, its document, and its regions."""
        packed, length = self._versions.packed(document)
        regions = self._versions.regions(fetch)
        return whole_of(packed, length, regions), unpack(packed, length), regions


def _seen(skeleton_sha256: bytes | None, learned: bytes | None, stored: bytes) -> LearnedRow:
    visit = visited(read_learned(bytes(learned or b"")), bytes(skeleton_sha256 or b""), stored)
    return _NOTHING if visit is None else _lesson(visit.learned, visit.skeleton_hash)


def _lesson(learned: Learned, skeleton_sha256: bytes) -> LearnedRow:
    return LearnedRow(skeleton_sha256, write_learned(learned)) if learned.places else _NOTHING


def _with_skeleton(judgement: Judgement, old: bytes, new: bytes, compress: Compress) -> Judgement:
    """Both versions on the skeleton that they have in common, where that is smaller."""
    shared = share_skeleton(old, new)
    if shared is None:
        return judgement
    olds, news = (_packed(parted.regions, compress) for parted in shared)
    skeleton = compress(shared[0].skeleton)
    whole = (len(compress(old)), len(judgement.page.packed))
    if not is_smaller(len(skeleton), [len(region.packed) for region in (*olds, *news)], whole):
        return judgement
    return judgement._replace(page=_in_parts(judgement.page, shared[0].skeleton, skeleton, news), before=olds)


def _on_skeleton(judgement: Judgement, skeleton: bytes, new: bytes, compress: Compress) -> Judgement:
    """The new version on the skeleton that versions before have in common, where it has all of it and that is smaller."""
    shared = share_skeleton(skeleton, new)
    if shared is None or shared[0].skeleton != skeleton:
        return judgement
    news = _packed(shared[1].regions, compress)
    if not is_smaller(0, [len(region.packed) for region in news], [len(judgement.page.packed)]):
        return judgement
    return judgement._replace(page=_in_parts(judgement.page, skeleton, compress(skeleton), news))


def _packed(regions: Sequence[Region], compress: Compress) -> tuple[PackedRegion, ...]:
    """Without names: nobody gave them any."""
    return pack_regions([("", region.offset, region.content) for region in regions if region.content], compress)


def _in_parts(page: PackedPage, skeleton: bytes, packed: bytes, regions: tuple[PackedRegion, ...]) -> PackedPage:
    mark = fingerprint(skeleton)
    return msgspec.structs.replace(
        page, df=mark.df, sha256=mark.sha256, length=len(skeleton), packed=packed, regions=regions, whole=page.version
    )
