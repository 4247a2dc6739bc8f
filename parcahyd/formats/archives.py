"""The built-in Expander: ZIP and JAR, TAR, GZIP, BZIP2 and XZ, and a TAR within one of the last three.

It goes by content, whatever the archive was called. Members come one at a time, each unpacked when it is asked for, and
archives within archives stay members. Of two members with one name the first counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from parcahyd.core.documents import Member, Skipped
from parcahyd.formats.tar_reading import Found, is_tar, tar_members
from parcahyd.formats.unpacking import Budget, Source, source_of, unzipped
from parcahyd.rules.media_types.containers import entries
from parcahyd.rules.media_types.media_type import ZIP
from parcahyd.rules.urls.canonical_url import clean_name

if TYPE_CHECKING:
    from parcahyd.config.schema import WorkConf

__all__ = ["ArchiveExpander"]

_ENDINGS = {".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg", ".gz": "", ".bz2": "", ".xz": ""}
_NAMED, _WITH_EXTRA = 0x08, 0x04
_LAST_WORDS = frozenset((Skipped.BYTES, Skipped.RATIO))


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
        skipped = source.trouble or (Skipped.SIZE if len(content) > self._member_bytes else "")
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
            if skipped in _LAST_WORDS:
                yield Member(name, skipped=skipped)
                return
            if not skipped and (not name or name in seen):
                skipped = Skipped.DUPLICATE if name else Skipped.NAME
            seen.add(name)
            yield Member(name, b"" if skipped else content, skipped)


def _own_name(body: bytes, url: str) -> str:
    """What the only file within is called: by the header of GZIP (RFC 1952, section 2.3.1), else by the URL."""
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
