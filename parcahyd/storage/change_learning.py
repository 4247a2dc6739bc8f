"""Judges a stored page that comes with other bytes: the same page with another clock, or a new version.

What was learned from a page's versions (`augment.volatile_places`) is in the table `learned`, with the newest version. The same
page is not stored again. A new version is stored in parts where that needs less space: once the skeleton that it shares with
the version before, and for each version what it has besides. Reading puts the bytes together again.

A page that is stored for the first time, or whose regions are marked, is not judged.
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
from parcahyd.storage.documents import LearnedRow, PriorVersion, VersionRows
from parcahyd.storage.packing import Compress, PackedPage, PackedRegion, UnpackingFailure, pack_regions, whole_of

__all__ = ["BATCH_BYTES", "PAGE_BYTES", "ChangeLearning", "Judgement", "is_learnable"]

PAGE_BYTES = 256 * 1024
"""Nothing is learned from a larger page."""
BATCH_BYTES = 4 * 1024 * 1024
"""Bytes of pages that one transaction compares with their stored versions; pages beyond are stored without comparison."""

_NOTHING = LearnedRow(b"", b"")


class Judgement(NamedTuple):
    """How a page with other bytes than before is stored."""

    is_same: bool
    """It is the page that is stored."""
    learned: LearnedRow
    """What is known from now on, for the version that is the newest from now on."""
    page: PackedPage
    """The page as it is stored, perhaps in parts."""
    before: tuple[PackedRegion, ...] | None = None
    """The regions of the version before, where both versions share a skeleton from now on."""


def is_learnable(page: PackedPage, version: PriorVersion) -> bool:
    """Whether something can be learned from the page and from its version before."""
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
        """What is known after a visit that received the stored bytes."""
        return _seen(version.skeleton_sha256, version.learned, page.document.unpack())

    def confirmed(self, fetches: Sequence[int]) -> None:
        """Stores the same for pages that the server confirmed without sending them."""
        rows = {}
        for fetch, document, _, skeleton, learned in self._versions.learned(fetches):
            rows[fetch] = _NOTHING
            try:
                rows[fetch] = _seen(skeleton, learned, self._whole(fetch, document)[0])
            except UnpackingFailure:  # `verify` reports it; what was learned is dropped
                continue
        self._versions.set_learned(rows)

    def same(self, page: PackedPage, version: PriorVersion) -> Judgement | None:
        """The judgement for the page that is stored already; None for a new version."""
        if not version.learned:
            return None
        learned = read_learned(version.learned)
        visit = visited(learned, bytes(version.skeleton_sha256 or b""), page.document.unpack())
        if visit is None:
            return None
        return Judgement(is_same=True, learned=_row(visit.learned, visit.skeleton_hash), page=page)

    def new(self, page: PackedPage, version: PriorVersion, checks: int, compress: Compress, *, in_parts: bool) -> Judgement:
        """The judgement for a new version; `checks` is how often the page was found before."""
        unchanged = Judgement(is_same=False, learned=_NOTHING, page=page)
        if version.document_id is None:
            return unchanged
        new = page.document.unpack()
        try:
            old, skeleton, regions = self._whole(version.id, version.document_id)
        except UnpackingFailure:
            return unchanged
        before = read_learned(version.learned) if version.learned else Learned(visits=min(max(checks - 1, 0), WINDOW))
        learned = learn(before, old, new)
        judgement = unchanged._replace(learned=_row(learned, skeleton_hash(new, learned)))
        if not in_parts or any(region.id for region in regions):
            return judgement
        if regions:
            return _on_skeleton(judgement, skeleton, new, compress)
        return _with_skeleton(judgement, old, new, compress) if self._versions.is_alone(version.document_id) else judgement

    def _whole(self, fetch: int, document: int) -> tuple[bytes, bytes, list[PackedRegion]]:
        """The bytes of a stored version, its unpacked document, and its regions."""
        stored = self._versions.packed(document)
        regions = self._versions.regions(fetch)
        return whole_of(stored, regions), stored.unpack(), regions


def _seen(skeleton_sha256: bytes | None, learned: bytes | None, stored: bytes) -> LearnedRow:
    visit = visited(read_learned(bytes(learned or b"")), bytes(skeleton_sha256 or b""), stored)
    return _NOTHING if visit is None else _row(visit.learned, visit.skeleton_hash)


def _row(learned: Learned, skeleton_sha256: bytes) -> LearnedRow:
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
    """Packs regions without names: no author marked them."""
    return pack_regions([("", region.offset, region.content) for region in regions if region.content], compress)


def _in_parts(page: PackedPage, skeleton: bytes, packed: bytes, regions: tuple[PackedRegion, ...]) -> PackedPage:
    mark = fingerprint(skeleton)
    return msgspec.structs.replace(
        page,
        df=mark.df,
        sha256=mark.sha256,
        length=len(skeleton),
        packed=packed,
        coding="",
        regions=regions,
        whole=page.version,
    )
