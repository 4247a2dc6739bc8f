"""TOL/1, the table of links: the links of one document, one a line, in its order.

Each line may be used as it arrives. A table without its last line holds hints: a link that is missing in it may still be in the
document. Lines are checked and kept in blocks; only `Tol.links` makes an object of each link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from parcahyd.augment.framing import ESCAPE, Frame, escaped, framed, hash_text, is_reference, read_hash, read_number, unescaped
from parcahyd.augment.refusal import DEFAULT_LIMITS, Limits, Refusal, RefusalReason
from parcahyd.rules.html.fingerprints import df_text

__all__ = [
    "EMBEDDED_KINDS",
    "FOLLOWED_KINDS",
    "KINDS",
    "Link",
    "Tol",
    "TolHead",
    "TolReader",
    "link_line",
    "read_tol",
    "write_tol",
]

FOLLOWED_KINDS = frozenset(("a", "area", "frame", "canonical", "alternate", "next"))
"""Kinds of links to other documents. `link` is not among them: only the document says what its purpose is."""
EMBEDDED_KINDS = frozenset(("img", "media", "script", "style"))
"""Kinds of links to parts of the document."""
KINDS = FOLLOWED_KINDS | EMBEDDED_KINDS | {"link", "form"}

_KNOWN = (
    "Document",
    "Hash",
    "Length",
    "DF",
    "Base-Hash",
    "TVI",
    "Base",
    "Robots",
    "ETag",
    "Last-Modified",
    "Generated",
)  # fmt: skip
_DF = re.compile(r"df64=[0-9a-f]{16}")

_URL = rb"(?![#\t\n])[!-\[\]-~]*+(?:" + ESCAPE + rb"[!-\[\]-~]*+)*+"
_TEXT = rb"[^\x00-\x1f\x7f\\]*+(?:" + ESCAPE + rb"[^\x00-\x1f\x7f\\]*+)*+"
_ATTRIBUTE = rb"\t[a-z][a-z0-9-]*+(?:=" + _TEXT + rb")?+"
_LINE = re.compile(_URL + rb"(?:" + _ATTRIBUTE + rb")*+\n")
_LINES = re.compile(rb"(?:" + _LINE.pattern + rb")*+")
_STRAY_BACKSLASH = re.compile(rb"(?:[^\\\n]++|" + ESCAPE + rb")*+\\")
_PARTS = re.compile(r"([^\t\n]++)([^\n]*+)\n")
_NOT_IN_URLS = re.compile("[^!-~]")


class Link(NamedTuple):
    """One line of a table."""

    reference: str
    """To be resolved against `Base`, else against the document's URL."""
    kind: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    """All but `k`, in their order: `rel`, `type`, `lang`, `len`, `mod`, `df`, `vol`, `text`, and unknown ones."""


class TolHead(msgspec.Struct, frozen=True):
    """What a table says about its document."""

    document: str
    """A URL reference, to be resolved against the URL of the table or bundle."""
    hash: bytes
    """SHA-256 of the document."""
    length: int | None = None
    df: int | None = None
    """The fingerprint of the skeleton, as in `Fingerprint.df`; not verified."""
    base_hash: bytes | None = None
    """SHA-256 of the skeleton."""
    tvi: str = ""
    base: str = ""
    """What the document's links resolve against, where it has a `base` element."""
    robots: str = ""
    """Directives for the whole page, as in X-Robots-Tag."""
    etag: str = ""
    last_modified: str = ""
    generated: str = ""


class Tol(msgspec.Struct, frozen=True):
    """A table of links, or the beginning of one."""

    head: TolHead
    body: bytes
    """The lines, each ended by LF, with escapes, without comments; every line is valid."""
    is_complete: bool = True

    @property
    def references(self) -> list[str]:
        """All links, in order."""
        return [_reference(url) for url, _ in _PARTS.findall(self.body.decode())]

    @property
    def follow(self) -> list[str]:
        """Links to other documents, without those marked `nofollow`."""
        return self._of(FOLLOWED_KINDS)

    @property
    def embedded(self) -> list[str]:
        """Links to parts of the document."""
        return self._of(EMBEDDED_KINDS)

    def _of(self, kinds: frozenset[str]) -> list[str]:
        is_wanted = _KindFilter(kinds)
        return [_reference(url) for url, attributes in _PARTS.findall(self.body.decode()) if is_wanted[attributes]]

    def links(self) -> Iterator[Link]:
        """All links with their kinds and attributes."""
        return map(_link, self.body.decode().split("\n")[:-1])


class TolReader:
    """Reads one table from chunks."""

    __slots__ = ("_blocks", "_frame", "_limits", "head")

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.head: TolHead | None = None
        """Set as soon as the headers are read."""
        self._frame = Frame("TOL", _KNOWN, limits)
        self._limits = limits
        self._blocks: list[bytes] = []

    @property
    def refusal(self) -> Refusal | None:
        return self._frame.refusal

    @property
    def rest(self) -> bytes:
        """The bytes after the last line in its chunk: in a bundle, the next table."""
        return self._frame.rest

    @property
    def has_ended(self) -> bool:
        return self._frame.has_ended

    @property
    def lines(self) -> int:
        return self._frame.lines

    def feed(self, chunk: bytes) -> bytes:
        """The valid lines that this chunk completes, each ended by LF; none after a refusal."""
        frame = self._frame
        block = frame.feed(chunk)
        if self.head is None and frame.has_headers and not isinstance(head := _head(frame.headers, self._limits), Refusal):
            self.head = head
        if self.head is None and frame.has_headers:
            frame.refuse(RefusalReason.HEADER, "Document, Hash or another is missing or wrong")
        if frame.refusal is not None or not block:
            return b""
        error = _error_in(block, self._limits)
        if error is not None:
            frame.refuse(error)
            return b""
        self._blocks.append(block)
        return block

    def finish(self) -> Tol | Refusal:
        """The table, with `is_complete` false where it is cut; a refusal where it has an error."""
        if self._frame.has_ended and self.rest:
            return Refusal(RefusalReason.END, "more follows")
        return self.so_far()

    def so_far(self) -> Tol | Refusal:
        """The table as far as it was read, or the refusal."""
        refusal = self._frame.refusal
        if refusal is None and self.head is not None:
            return Tol(self.head, b"".join(self._blocks), self._frame.has_ended)
        return refusal or self._frame.finish() or Refusal(RefusalReason.HEADER)


def read_tol(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Tol | Refusal:
    """The table in these bytes, perhaps not complete, or the refusal."""
    reader = TolReader(limits)
    reader.feed(data)
    return reader.finish()


def write_tol(head: TolHead, body: bytes, limits: Limits = DEFAULT_LIMITS) -> bytes | Refusal:
    """A complete table of lines made by `link_line`; refused where `read_tol` would not read the same table."""
    headers = [(name, value) for name, value in _header_texts(head) if value]
    if isinstance(refusal := _head(dict(headers), limits), Refusal):
        return refusal
    error = _error_in(body, limits)
    return framed("TOL", headers, body, limits) if error is None else Refusal(error)


def link_line(reference: str, kind: str, attributes: Iterable[tuple[str, str]] = ()) -> bytes:
    """One line of a table's body.

    In the reference, only characters that no URL can have are percent-encoded, so that its target is unchanged. A name of an
    attribute is a lower-case word.
    """
    if not reference.isascii() or not reference.isprintable() or " " in reference:
        reference = _NOT_IN_URLS.sub(_percent_encoded, reference)
    rest = "".join([f"\t{name}={escaped(text.encode('utf-8', 'replace')).decode()}" for name, text in attributes])
    url = reference.replace("\\", "\\\\") if "\\" in reference else reference
    return f"{url}\tk={kind}{rest}\n".encode()


def _percent_encoded(character: re.Match[str]) -> str:
    return "".join([f"%{byte:02X}" for byte in character[0].encode("utf-8", "replace")])


def _header_texts(head: TolHead) -> Iterator[tuple[str, str]]:
    yield "Document", head.document
    yield "Hash", hash_text(head.hash)
    yield "Length", "" if head.length is None else str(head.length)
    yield "DF", "" if head.df is None else df_text(head.df)
    yield "Base-Hash", "" if head.base_hash is None else hash_text(head.base_hash)
    yield "TVI", head.tvi
    yield "Base", head.base
    yield "Robots", head.robots
    yield "ETag", head.etag
    yield "Last-Modified", head.last_modified
    yield "Generated", head.generated


def _head(headers: dict[str, str], limits: Limits) -> TolHead | Refusal:
    """Reads the headers. Only the required ones must be present; all that are present must be valid."""
    digest = read_hash(headers.get("Hash", ""))
    base_hash = read_hash(headers["Base-Hash"]) if "Base-Hash" in headers else None
    length = read_number(headers["Length"]) if "Length" in headers else None
    df = headers.get("DF")
    for name in ("Document", "TVI", "Base"):
        if (name in headers or name == "Document") and not is_reference(headers.get(name, ""), limits):
            return Refusal(RefusalReason.HEADER, name)
    if digest is None or (base_hash is None and "Base-Hash" in headers):
        return Refusal(RefusalReason.HEADER, "Hash")
    if (length is None and "Length" in headers) or (df is not None and not _DF.fullmatch(df)):
        return Refusal(RefusalReason.HEADER, "Length or DF")
    return TolHead(
        headers["Document"],
        digest,
        length,
        None if df is None else int.from_bytes(bytes.fromhex(df[5:]), "big", signed=True),
        base_hash,
        *[headers.get(name, "") for name in ("TVI", "Base", "Robots", "ETag", "Last-Modified", "Generated")],
    )


def _error_in(block: bytes, limits: Limits) -> RefusalReason | None:
    """The error in a block of body lines, or None. One match checks all lines."""
    if not _LINES.fullmatch(block):
        return RefusalReason.ESCAPE if any(map(_STRAY_BACKSLASH.match, block.split(b"\n"))) else RefusalReason.FIELD
    if len(block) > limits.reference and _too_long(limits.reference).search(block):
        return RefusalReason.TOO_LARGE
    return None


@lru_cache(maxsize=8)
def _too_long(limit: int) -> re.Pattern[bytes]:
    return re.compile(rb"^[^\t\n]{%d}" % (limit + 1), re.MULTILINE)


class _KindFilter(dict[str, bool]):
    """Whether a link with these attributes is of one of the kinds. Answers are cached: few texts of attributes differ."""

    def __init__(self, kinds: frozenset[str]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, attributes: str) -> bool:
        attributes_of_line = dict(reversed(_attributes(attributes)))
        wanted = self[attributes] = (
            attributes_of_line.get("k", "") in self._kinds
            and "nofollow" not in attributes_of_line.get("rel", "").lower().split()
        )
        return wanted


def _reference(url: str) -> str:
    return _unescaped_text(url) if "\\" in url else url


def _unescaped_text(text: str) -> str:
    return (unescaped(text.encode()) or b"").decode("utf-8", "replace")


def _attributes(text: str) -> list[tuple[str, str]]:
    pairs = [field.partition("=") for field in text.split("\t")[1:]]
    return [(name, _unescaped_text(value) if "\\" in value else value) for name, _, value in pairs]


def _link(line: str) -> Link:
    url, tab, rest = line.partition("\t")
    attributes_of_line = _attributes(tab + rest)
    kind = next((value for name, value in attributes_of_line if name == "k"), "")
    return Link(_reference(url), kind, tuple([(name, value) for name, value in attributes_of_line if name != "k"]))
