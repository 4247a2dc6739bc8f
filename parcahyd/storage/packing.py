"""Packs documents: a zlib stream (RFC 1950) of the skeleton, and of each volatile region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from zlib_ng import zlib_ng

from parcahyd.augment.markers import Span
from parcahyd.augment.skeleton import part_by_spans
from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.records import PageRecord
from parcahyd.rules.html.fingerprints import NO_SIMILARITY, fingerprint, similarity
from parcahyd.rules.html.title_and_language import title_and_language
from parcahyd.rules.media_types.media_type import is_html
from parcahyd.storage.document_format import (
    PackedPage,
    PackedRegion,
    Parts,
    region_content,
    region_spans,
    stored_whole,
    unpack,
)

__all__ = [
    "Compress",
    "PageFacts",
    "compressor",
    "pack",
    "pack_all",
    "pack_regions",
    "page_facts",
    "parts_of",
]

Compress = Callable[[bytes], bytes]
"""Makes a zlib stream; releases the interpreter lock meanwhile."""


class PageFacts(NamedTuple):
    """What is read from a document when it is packed: title, language and a similarity fingerprint."""

    title: str = ""
    language: str = ""
    similarity: int | None = None


def page_facts(page: PageRecord, is_brief: bool, is_similar: bool) -> PageFacts:
    """The facts that the settings ask for. Title and language of a summary take precedence."""
    if not is_html(page.media_type) or page.redirect or page.reason:
        return PageFacts(page.title, page.language, NO_SIMILARITY)
    is_brief = is_brief and not page.summary
    if not is_brief and not is_similar:
        return PageFacts(page.title, page.language)
    title, language = title_and_language(page.body, page.charset) if is_brief else (page.title, page.language)
    return PageFacts(title, language, similarity(page.body) if is_similar else None)


def pack(
    page: PageRecord,
    compress: Compress,
    keep_links: bool,
    seen: PageFacts = PageFacts(),  # noqa: B008 (immutable)
    is_eager: bool = False,
) -> PackedPage:
    """Fingerprints and compresses a page; releases the interpreter lock for the most part, so call it in threads."""
    body = page.body
    bare = msgspec.structs.replace(page, body=b"", links=b"", summary=b"", regions=())
    if page.redirect or page.reason:
        return PackedPage(bare, 0, b"", 0, b"", b"")
    mark = fingerprint(body)
    # Tables are small and many: at level 2 one takes 30 µs instead of 13 and is a fifth smaller.
    table = zlib_ng.compress(page.links, 1) if keep_links and page.links else b""
    summary = compress(page.summary) if page.summary else b""
    packed = PackedPage(bare, mark.df, mark.sha256, len(body), compress(body), table, summary, *seen)
    return _in_parts(packed, page, body, compress, is_eager) if page.regions else packed


def _in_parts(packed: PackedPage, page: PageRecord, body: bytes, compress: Compress, is_eager: bool) -> PackedPage:
    """A page with regions: the whole page and where they are, or its skeleton and their contents."""
    parted = part_by_spans(body, [Span(*region) for region in page.regions])
    if is_eager:
        places = [PackedRegion(region.id, region.offset, len(region.content), b"") for region in parted.regions]
        return msgspec.structs.replace(packed, regions=tuple(places))
    mark = fingerprint(parted.skeleton)
    return msgspec.structs.replace(
        packed,
        df=mark.df,
        sha256=mark.sha256,
        length=len(parted.skeleton),
        packed=compress(parted.skeleton),
        regions=pack_regions(parted.regions, compress),
        whole=packed.version,
    )


def pack_regions(regions: Sequence[tuple[str, int, bytes]], compress: Compress) -> tuple[PackedRegion, ...]:
    """Regions with their contents: ID, offset in the skeleton, content."""
    return tuple([PackedRegion(name, offset, len(content), compress(content)) for name, offset, content in regions])


def pack_all(
    pages: list[PageRecord],
    compress: Compress,
    keep_links: bool,
    is_brief: bool = True,
    is_similar: bool = False,
    is_eager: bool = False,
) -> list[PackedPage]:
    """Packs pages in their order, and empties the list on the way: a page's own bytes are not needed afterwards.

    Work that holds the interpreter lock is done for all pages first: threads that take the lock from each other lose more time
    than they work.
    """
    seen = [page_facts(page, is_brief, is_similar) for page in pages]
    pages.reverse()
    return [pack(pages.pop(), compress, keep_links, one, is_eager) for one in seen]


def parts_of(packed: bytes, length: int, regions: Sequence[PackedRegion], compress: Compress) -> Parts:
    """The skeleton and the regions of a version; UnpackingFailure where they do not fit."""
    if not regions:
        return Parts(packed, length, ())
    if not stored_whole(regions):
        unpacked = [(region.id, region.offset, region_content(region, length)) for region in regions]
        return Parts(packed, length, tuple(unpacked))
    document = unpack(packed, length)
    pieces, found, done = [], [], 0
    for region, (begin, end) in zip(regions, region_spans(regions, length), strict=True):
        pieces.append(document[done:begin])
        found.append((region.id, region.offset, document[begin:end]))
        done = end
    skeleton = b"".join([*pieces, document[done:]])
    return Parts(compress(skeleton), len(skeleton), tuple(found))


def compressor(work: WorkConf) -> Compress:
    """The function for the settings Compressor and CompressionLevel; a UserError where its package is not installed."""
    if work.Compressor == "zlib-ng":
        return partial(_zlib_ng, work.CompressionLevel)
    try:
        from isal import isal_zlib  # an extra
    except ImportError:
        raise UserError(
            'Compressor = "isal" needs the isal package', "pip install 'parcahyd[isal]', or leave Compressor out"
        ) from None
    return partial(_isal, isal_zlib.compress)


def _zlib_ng(level: int, content: bytes) -> bytes:
    return zlib_ng.compress(content, level)


def _isal(compress: Callable[[bytes, int], bytes], content: bytes) -> bytes:
    return compress(content, 1)  # Its higher levels do not compress better.
