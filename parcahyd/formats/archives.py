"""The built-in Expander: ZIP and JAR, TAR, GZIP, BZIP2 and XZ, and a TAR within one of the last three.

The format is found by content, not by name. Members are unpacked one at a time, when the caller requests the next. Archives
within archives are members like others. Of two members with the same name the first counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from parcahyd.core.documents import Member, Skipped
from parcahyd.formats.unpacking import Budget, Source, source_of, unzipped
from parcahyd.rules.media_types.containers import entries
from parcahyd.rules.media_types.media_type import ZIP
from parcahyd.rules.urls.canonical_url import clean_name

if TYPE_CHECKING:
    from parcahyd.config.schema import WorkConf

__all__ = [
    "ArchiveExpander",
    "is_tar",
    "tar_members",
]

_ENDINGS = {".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg", ".gz": "", ".bz2": "", ".xz": ""}
_NAMED, _WITH_EXTRA = 0x08, 0x04
_ENDS_ARCHIVE = frozenset((Skipped.BYTES, Skipped.RATIO))


class ArchiveExpander:
    """Archives of the formats that the standard library unpacks."""

    media_types = frozenset(
        (
            ZIP,
            "application/x-zip-compressed",
            "application/java-archive",
            "application/x-tar",
            "application/gzip",
            "application/x-gzip",
            "application/x-gtar",
            "application/x-compressed-tar",
            "application/x-bzip2",
            "application/x-xz",
        )
    )

    def __init__(self, conf: WorkConf) -> None:
        self._members = conf.ExpandMembers
        self._member_bytes = conf.MaxBytes
        self._bytes = conf.ExpandBytes

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:  # noqa: ARG002  the port's
        budget = Budget(len(body), self._bytes)
        if body.startswith(b"PK"):
            return self._checked(self._zipped(body, budget))
        source, is_compressed = source_of(body, budget)
        if is_tar(source.peek(512)):
            return self._checked(tar_members(source, self._member_bytes))
        return self._checked(self._single(source, _own_name(body, url)) if is_compressed else iter(()))

    def _zipped(self, body: bytes, budget: Budget) -> Iterator[Found | None]:
        for entry in entries(body):
            if entry.name.endswith(("/", "\\")):
                yield None
            else:
                yield entry.name, *unzipped(body, entry, self._member_bytes, budget)

    def _single(self, source: Source, name: str) -> Iterator[Found | None]:
        content = source.read(self._member_bytes + 1)
        skipped = source.skip_reason or (Skipped.SIZE if len(content) > self._member_bytes else "")
        yield name, b"" if skipped else content, skipped

    def _checked(self, found: Iterator[Found | None]) -> Iterator[Member]:
        """Members with clean names, each name once, until a bound is reached."""
        seen: set[str] = set()
        for number, one in enumerate(found):
            if number >= self._members:
                yield Member("", skipped=Skipped.MEMBERS)
                return
            if one is None:
                continue
            raw, content, skipped = one
            name = clean_name(raw)
            if skipped in _ENDS_ARCHIVE:
                yield Member(name, skipped=skipped)
                return
            if not skipped and (not name or name in seen):
                skipped = Skipped.DUPLICATE if name else Skipped.NAME
            seen.add(name)
            yield Member(name, b"" if skipped else content, skipped)


def _own_name(body: bytes, url: str) -> str:
    """The name of the only member: from the header of GZIP (RFC 1952, section 2.3.1), else from the URL."""
    if body.startswith(b"\x1f\x8b\x08") and body[3:4] and body[3] & _NAMED:
        start = 10 + (2 + int.from_bytes(body[10:12], "little") if body[3] & _WITH_EXTRA else 0)
        name = clean_name(body[start : start + 500].partition(b"\0")[0].decode("utf-8", "replace"))
        if name:
            return name
    name = clean_name(unquote(url.partition("?")[0].rpartition("/")[2]))
    for ending, instead in _ENDINGS.items():
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)] + instead
    return name or "content"


# --- The members of a TAR archive, one after the other, from a stream (POSIX.1-2017, pax; with GNU's long names) --------
# `tarfile` reads the headers of an archive with expressions that take quadratic time on made-up ones in some supported
# versions of Python, and reads as much into memory as a header claims. This reader supports what archives on the Web
# have: files and long names.


_BLOCK = 512
_LONGEST_HEADER = 64 * 1024
_FILES = (b"0", b"\0", b"7")
_WITHOUT_CONTENT = (b"1", b"2", b"3", b"4", b"6")
_FOLDER = b"5"
_ABOUT_THE_NEXT = (b"x", b"L")
_IGNORED = (b"g", b"K", b"X")

Found = tuple[str, bytes, str]
"""Raw name, content, reason to skip it."""


def is_tar(start: bytes) -> bool:
    return len(start) >= _BLOCK and start[257:262] == b"ustar"


def tar_members(source: Source, most: int) -> Iterator[Found | None]:
    """The members; None for other entries, such as folders. After a damaged header the last one has no name, only a reason."""
    about: dict[str, str] = {}
    while len(head := source.read(_BLOCK)) == _BLOCK and head.strip(b"\0"):
        size = _number(head[124:136])
        if not _is_sound(head) or size < 0:
            yield "", b"", Skipped.DAMAGED
            return
        kind = head[156:157]
        if kind in _ABOUT_THE_NEXT and size <= _LONGEST_HEADER:
            about |= _header(kind, _content(source, size))
            yield None
            continue
        if kind == _FOLDER or kind in _IGNORED or kind in _ABOUT_THE_NEXT:
            source.skip(_padded(size))
            yield None
        elif kind in _FILES:
            yield _file(source, about.get("path") or _name(head), _size(about, size), most)
        else:
            source.skip(0 if kind in _WITHOUT_CONTENT else _padded(size))
            yield about.get("path") or _name(head), b"", Skipped.NOT_A_FILE
        about = {}
    if source.skip_reason:
        yield "", b"", source.skip_reason


def _file(source: Source, name: str, size: int, most: int) -> Found:
    if size > most:
        source.skip(_padded(size))
        return name, b"", Skipped.SIZE
    content = _content(source, size)
    return (name, content, "") if len(content) == size else (name, b"", source.skip_reason or Skipped.DAMAGED)


def _content(source: Source, size: int) -> bytes:
    content = source.read(size)
    source.skip(_padded(size) - size)
    return content


def _padded(size: int) -> int:
    return size + -size % _BLOCK


def _is_sound(head: bytes) -> bool:
    """The checksum counts its own field as spaces."""
    return _number(head[148:156]) == sum(head) - sum(head[148:156]) + 8 * 0x20


def _number(field: bytes) -> int:
    """Octal digits, or (GNU) a big-endian number behind a first bit; -1 for anything else."""
    if field[0] & 0x80:
        return int.from_bytes(bytes((field[0] & 0x7F,)) + field[1:], "big") if field[0] == 0x80 else -1
    digits = field.partition(b"\0")[0].strip()
    if not digits:
        return 0
    return int(digits, 8) if digits.isdigit() and not digits.strip(b"01234567") else -1


def _name(head: bytes) -> str:
    name = head[:100].partition(b"\0")[0]
    if head[257:263] == b"ustar\0" and head[345]:
        name = head[345:500].partition(b"\0")[0] + b"/" + name
    return name.decode("utf-8", "replace")


def _header(kind: bytes, content: bytes) -> dict[str, str]:
    """The values of an extended header for the next member."""
    if kind == b"L":
        return {"path": content.partition(b"\0")[0].decode("utf-8", "replace")}
    found: dict[str, str] = {}
    at = 0
    while at < len(content):
        digits = content[at : at + 8].partition(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        if length < 5:
            break
        key, _, value = content[at + len(digits) + 1 : at + length - 1].partition(b"=")
        if key in (b"path", b"size"):
            found[key.decode()] = value.decode("utf-8", "replace")
        at += length
    return found


def _size(about: dict[str, str], size: int) -> int:
    """The size from an extended header, where there is one."""
    stated = about.get("size", "")
    return int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 20 else size
