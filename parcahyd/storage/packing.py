"""How a document is stored, how it is packed for that, and how it is read.

| MergeMode | `documents` has | a row of `volatile` has |
|---|---|---|
| lazy | the skeleton | the region's content |
| eager | the whole version | where the region is, and no content: the skeleton is what is left without the regions |

Each version shows which of the two it is, so the setting may change between runs.

A document that came with a content coding is stored as it was transferred, and its row names the coding. Every other one, and
every skeleton, is a zlib stream of ours. Fingerprints and lengths are those of the bytes without any coding.

Tested in tests/storage/test_packing.py and tests/storage/test_regions.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import sha256
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
from parcahyd.rules.media_types.content_codings import undo_one
from parcahyd.rules.media_types.media_type import is_html

__all__ = [
    "Compress",
    "PackedPage",
    "PackedRegion",
    "PageFacts",
    "Parts",
    "StoredBytes",
    "UnpackingFailure",
    "compressor",
    "document_of",
    "pack",
    "pack_all",
    "pack_regions",
    "page_facts",
    "parts_of",
    "rebuild",
    "region_content",
    "region_spans",
    "stored_whole",
    "unpack",
    "whole_of",
]


class UnpackingFailure(Exception):
    """Bytes in the database that differ from what was stored."""


class StoredBytes(NamedTuple):
    """The bytes of a document as a row of the database has them."""

    packed: bytes
    length: int
    """Of the document."""
    coding: str = ""
    """A content coding, or empty: a zlib stream of ours."""

    def unpack(self) -> bytes:
        """The document, or UnpackingFailure."""
        return unpack(*self)


class PackedRegion(NamedTuple):
    """A volatile region of a version, as a row of the database has it."""

    id: str
    offset: int
    """In the skeleton."""
    length: int | None
    packed: bytes
    """Empty where the document is the whole version and holds the content."""


class PackedPage(msgspec.Struct, frozen=True, gc=False):
    """A page with its fingerprint and compressed bytes. It is made once, even if its batch is written several times."""

    page: PageRecord
    """Without its body, links, summary and regions."""
    # Of the document: the skeleton, or the whole page where that is what is stored.
    df: int
    sha256: bytes
    """Empty where there is no document: for a redirect, and for a page with noindex or noarchive."""
    length: int
    packed: bytes
    packed_links: bytes
    """Empty where links are not kept, or where there are none."""
    packed_summary: bytes = b""
    title: str = ""
    language: str = ""
    similarity: int | None = None
    """The similarity fingerprint of its text; None where it was not taken."""
    regions: tuple[PackedRegion, ...] = ()
    whole: tuple[bytes, int] | None = None
    """SHA-256 and length of the page, where the document is only its skeleton."""
    coding: str = ""
    """The content coding of `packed`; empty: a zlib stream of ours."""
    coded_sha256: bytes = b""
    """Of the page as it was transferred; empty where it came without a coding, or with several."""
    own_body: StoredBytes | None = None
    """The body of a redirect, where it is kept."""

    @property
    def document(self) -> StoredBytes:
        return StoredBytes(self.packed, self.length, self.coding)

    @property
    def version(self) -> tuple[bytes, int]:
        """SHA-256 and length of what the fetch brought."""
        return self.whole or (self.sha256, self.length)


def unpack(packed: bytes, length: int | None = None, coding: str = "") -> bytes:
    """The bytes of a zlib stream, or of a content coding; UnpackingFailure if it is none, does not end, or has another length.

    No more than the expected length is ever unpacked, so a damaged database cannot fill the memory.
    """
    if coding:
        return _decoded(packed, length or 0, coding)
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(packed, 0 if length is None else length + 1)
    except zlib.error as error:
        raise UnpackingFailure(f"it cannot be decompressed: {error}") from None
    _check_length(content, length)
    if not stream.eof:
        raise UnpackingFailure("its compressed bytes end too early")
    return content


def _decoded(coded: bytes, length: int, coding: str) -> bytes:
    content, problem = undo_one(coded, coding, length)
    if problem:
        remedy = "; install the package brotli" if coding == "br" and not content else ""
        raise UnpackingFailure(f"it cannot be decompressed: {problem}{remedy}")
    _check_length(content, length)
    return content


def _check_length(content: bytes, length: int | None) -> None:
    if length is not None and len(content) != length:
        raise UnpackingFailure(f"it has {'more' if len(content) > length else 'fewer'} than the recorded {length} bytes")


def rebuild(skeleton: bytes, regions: Iterable[tuple[int, bytes]]) -> bytes:
    """The whole document: each region's content put back at its offset in the skeleton, in the given order."""
    pieces: list[bytes] = []
    done = 0
    for offset, content in regions:
        pieces += (skeleton[done:offset], content)
        done = offset
    pieces.append(skeleton[done:])
    return b"".join(pieces)


# --- versions in parts --------------------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """A version in parts, for a refresh by fragment."""

    packed: bytes
    """The skeleton, a zlib stream."""
    length: int
    """Of the skeleton."""
    regions: tuple[tuple[str, int, bytes], ...]
    """ID, offset in the skeleton, and content, ascending."""


def stored_whole(regions: Sequence[PackedRegion]) -> bool:
    """Whether the document of a version with these regions is the whole version."""
    return not any(region.packed for region in regions)


def whole_of(stored: StoredBytes, regions: Sequence[PackedRegion]) -> bytes:
    """The version that a document and regions make up; UnpackingFailure where they do not fit."""
    document = stored.unpack()
    if stored_whole(regions):
        region_spans(regions, stored.length)
        return document
    return rebuild(document, [(region.offset, region_content(region, stored.length)) for region in regions])


def region_content(region: PackedRegion, length: int) -> bytes:
    """What a region holds; `length` is that of the skeleton."""
    if not region.packed or not 0 <= region.offset <= length:
        raise UnpackingFailure("a region is not where its document has room for it")
    return unpack(region.packed, region.length)


def region_spans(regions: Sequence[PackedRegion], length: int) -> list[tuple[int, int]]:
    """Where the regions begin and end in a whole version."""
    spans = []
    shift = done = 0
    for region in regions:
        begin = region.offset + shift
        end = begin + (region.length or 0)
        if begin < done or end > length:
            raise UnpackingFailure("a region is not where its document has room for it")
        spans.append((begin, end))
        shift += end - begin
        done = end
    return spans


# --- Packs documents: a zlib stream (RFC 1950) of the skeleton, and of each volatile region -----------------------------


_TOGETHER = 4 * 1024 * 1024
"""Bytes of documents that a packing thread holds at a time, beside those of the buffer."""

Compress = Callable[[bytes], bytes]
"""Makes a zlib stream; releases the interpreter lock meanwhile."""


class PageFacts(NamedTuple):
    """What is read from a document when it is packed: title, language and a similarity fingerprint."""

    title: str = ""
    language: str = ""
    similarity: int | None = None


def document_of(page: PageRecord) -> bytes:
    """The document of a record: its body, without the coding that this may have."""
    return page.body if page.decoded_length is None else unpack(page.body, page.decoded_length, page.coding)


def page_facts(page: PageRecord, document: bytes, is_brief: bool, is_similar: bool) -> PageFacts:
    """The facts that the settings ask for. Title and language of a summary take precedence."""
    if not is_html(page.media_type) or page.redirect or page.reason:
        return PageFacts(page.title, page.language, NO_SIMILARITY)
    is_brief = is_brief and not page.summary
    if not is_brief and not is_similar:
        return PageFacts(page.title, page.language)
    title, language = title_and_language(document, page.charset) if is_brief else (page.title, page.language)
    return PageFacts(title, language, similarity(document) if is_similar else None)


def pack(
    page: PageRecord,
    compress: Compress,
    keep_links: bool,
    seen: PageFacts = PageFacts(),  # noqa: B008 (immutable)
    is_eager: bool = False,
    document: bytes | None = None,
) -> PackedPage:
    """Fingerprints and compresses a page; releases the interpreter lock for the most part, so call it in threads.

    `document` is that of the page, where it is at hand without its coding.
    """
    body = document_of(page) if document is None else document
    bare = msgspec.structs.replace(page, body=b"", links=b"", summary=b"", regions=())
    if page.redirect or page.reason:
        return PackedPage(bare, 0, b"", 0, b"", b"", own_body=_own_body(page, compress) if page.redirect else None)
    mark = fingerprint(body)
    # Tables are small and many: at level 2 one takes 30 µs instead of 13 and is a fifth smaller.
    table = zlib_ng.compress(page.links, 1) if keep_links and page.links else b""
    summary = compress(page.summary) if page.summary else b""
    is_coded = page.decoded_length is not None
    packed = PackedPage(
        bare,
        mark.df,
        mark.sha256,
        len(body),
        page.body if is_coded else compress(body),
        table,
        summary,
        *seen,
        coding=page.coding if is_coded else "",
        coded_sha256=sha256(page.body).digest() if is_coded else b"",
    )
    return _in_parts(packed, page, body, compress, is_eager) if page.regions else packed


def _own_body(page: PageRecord, compress: Compress) -> StoredBytes | None:
    if not page.body:
        return None
    if page.decoded_length is not None:
        return StoredBytes(page.body, page.decoded_length, page.coding)
    return StoredBytes(compress(page.body), len(page.body))


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
        coding="",
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

    Work that holds the interpreter lock is done for many pages first: threads that take the lock from each other lose more time
    than they work.
    """
    pages.reverse()
    packed: list[PackedPage] = []
    while pages:
        some = _take_some(pages)
        seen = [page_facts(page, document, is_brief, is_similar) for page, document in some]
        some.reverse()
        for one in seen:
            page, document = some.pop()
            packed.append(pack(page, compress, keep_links, one, is_eager, document))
    return packed


def _take_some(pages: list[PageRecord]) -> list[tuple[PageRecord, bytes]]:
    """Takes pages from the end of the list, with their documents, which have at most _TOGETHER bytes unless it is one alone.

    Small coded bodies can hold much larger documents, and the buffer is charged for the bodies only.
    """
    some: list[tuple[PageRecord, bytes]] = []
    size = 0
    while pages:
        page = pages[-1]
        size += len(page.body) if page.decoded_length is None else page.decoded_length
        if some and size > _TOGETHER:
            break
        some.append((pages.pop(), document_of(page)))
    return some


def parts_of(stored: StoredBytes, regions: Sequence[PackedRegion], compress: Compress) -> Parts:
    """The skeleton and the regions of a version; UnpackingFailure where they do not fit."""
    length = stored.length
    if not regions or not stored_whole(regions):
        unpacked = [(region.id, region.offset, region_content(region, length)) for region in regions]
        return Parts(compress(stored.unpack()) if stored.coding else stored.packed, length, tuple(unpacked))
    document = stored.unpack()
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
