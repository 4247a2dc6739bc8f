"""Puts the records of archives together: an answer, the request that it belongs to, and what is said of the way to it.

The records of one exchange stand beside each other and name each other (WARC-Concurrent-To), in any order. An answer waits
until a record comes that belongs to another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.ports import DownloadResult
from parcahyd.importing.http_answers import UnusableAnswer, answer_of, document_answer, split_head
from parcahyd.importing.records import RawRecord

__all__ = ["Capture", "Ignored", "Revisited", "captures", "time_of"]

_SECRET = re.compile(
    rb"(?i)^(?:authorization|proxy-authorization|cookie2?|host|if-none-match|if-modified-since|x-api-key)[ \t]*:"
)
_MOST_REQUEST = 4096
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
_DIGITS = re.compile(r"\d{14}", re.ASCII).fullmatch
_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(?:Z|\+00:?00)").fullmatch
_DAY = 86_400.0
_MOST_BESIDE = 10
"""Requests and metadata that are held for one answer."""
_CUT = ExchangeMark.BODY_CUT
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(?:;[\w =\"'.+-]{1,200})?", re.ASCII).fullmatch

Ignored = Callable[[str], None]
"""Is told each record that is not taken, by the words that the summary has for it."""


class Revisited(msgspec.Struct, frozen=True, gc=False):
    """What a `revisit` record refers to, as far as it says."""

    url: str
    at: float | None
    record: str
    digest: str


class Capture(msgspec.Struct, gc=False):
    """An answer from an archive."""

    label: str
    """The name of the file."""
    offset: int
    url: str
    """As it is written there."""
    at: float
    result: DownloadResult
    address: str = ""
    request: bytes = b""
    method: str = ""
    depth: int = 0
    hops: int = 0
    via: str = ""
    record: str = ""
    """Its WARC-Record-ID."""
    digest: str = ""
    """Of its payload, as it is written there."""
    revisited: Revisited | None = None
    """Where the body is that of another record."""
    is_conversion: bool = False


class _Pending:
    """The exchange whose records are being read."""

    def __init__(self) -> None:
        self.capture: Capture | None = None
        self.names: set[str] = set()
        """Record IDs that belong to it."""
        self.requests: list[RawRecord] = []
        self.ways: list[RawRecord] = []


def captures(
    records: Iterable[tuple[str, RawRecord]],
    max_bytes: int,
    now: float,
    seen: Counter[str],
    count: Ignored,
    damaged: Callable[[str, int, str], None],
) -> Iterator[Capture]:
    """The answers in some records, which are counted by their kinds in `seen`. What is not taken is told."""
    reader = _CaptureReader(max_bytes, now, count, damaged)
    for label, record in records:
        seen[record.kind if record.kind in _KINDS else "unknown"] += 1
        yield from reader.add(label, record)
    yield from reader.finish()


class _CaptureReader:
    def __init__(self, max_bytes: int, now: float, count: Ignored, damaged: Callable[[str, int, str], None]) -> None:
        self._max_bytes = max_bytes
        self._now = now
        self._count = count
        self._damaged = damaged
        self._pending = _Pending()
        self._is_ours = False
        """The file was written by this program."""

    def add(self, label: str, record: RawRecord) -> Iterator[Capture]:
        """Takes a record; gives the exchange before it, if that is complete."""
        kind = record.kind
        if kind == "warcinfo":
            yield from self.finish()
            self._is_ours = b"software: parcahyd/" in record.block
            return
        names = {record.fields.get("warc-record-id", ""), record.fields.get("warc-concurrent-to", "")} - {""}
        is_main = kind not in ("request", "metadata")
        pending = self._pending
        is_full = pending.capture is not None if is_main else len(pending.requests) + len(pending.ways) >= _MOST_BESIDE
        if is_full or not names & pending.names:
            yield from self.finish()
            pending = self._pending
        pending.names |= names
        if kind == "request":
            pending.requests.append(record)
        elif kind == "metadata":
            pending.ways.append(record)
        else:
            pending.capture = self._capture(label, record)

    def finish(self) -> Iterator[Capture]:
        """The exchange that is being read, without waiting for more of it."""
        pending, self._pending = self._pending, _Pending()
        if pending.capture is None:
            for records, words in ((pending.requests, "requests"), (pending.ways, "metadata")):
                for _ in records:
                    self._count(f"{words} without an answer that is taken")
            return
        for record in pending.requests:
            _add_request(pending.capture, record)
        for record in pending.ways:
            _add_way(pending.capture, record)
        yield pending.capture

    def _capture(self, label: str, record: RawRecord) -> Capture | None:
        kind, fields = record.kind, record.fields
        if kind not in ("response", "resource", "revisit", "conversion") or (kind == "conversion" and not self._is_ours):
            self._count(f"{kind} records" if kind in _KINDS else "records of an unknown type")
            return None
        if record.is_too_large:
            self._count("answers larger than MaxBytes")
            return None
        if "warc-segment-number" in fields:
            self._count("answers in several segments")
            return None
        url = fields.get("warc-target-uri", "").strip().removeprefix("<").removesuffix(">")
        try:
            at = time_of(fields.get("warc-date", ""), self._now)
            result = self._result(kind, record)
        except UnusableAnswer as error:
            self._damaged(label, record.offset, f"{error}" + (f" ({url[:200]})" if url else ""))
            return None
        capture = Capture(label, record.offset, url, at, result)
        capture.address = fields.get("warc-ip-address", "").strip()[:45]
        capture.record, capture.digest = fields.get("warc-record-id", ""), fields.get("warc-payload-digest", "").strip()
        capture.is_conversion = kind == "conversion"
        if kind == "revisit":
            capture.revisited = self._revisited(fields, url)
        return capture

    def _result(self, kind: str, record: RawRecord) -> DownloadResult:
        fields, block = record.fields, record.block
        is_cut = bool(fields.get("warc-truncated", "").strip())
        is_http = fields.get("content-type", "").replace(" ", "").lower().startswith("application/http")
        if kind == "revisit" and not block.strip():
            return DownloadResult()
        if kind == "revisit" or (kind == "response" and (is_http or block.startswith(b"HTTP/"))):
            head = split_head(block)[0] if kind == "revisit" else block
            protocol = _protocol(fields)
            return (
                _head_only(head, protocol) if kind == "revisit" else answer_of(head, protocol, self._max_bytes, is_cut=is_cut)
            )
        media_type = fields.get("content-type", "").strip()
        return document_answer(block, media_type if _MEDIA_TYPE(media_type) else "application/octet-stream")

    def _revisited(self, fields: dict[str, str], url: str) -> Revisited:
        try:
            at = time_of(fields.get("warc-refers-to-date", ""), self._now)
        except UnusableAnswer:
            at = None
        target = fields.get("warc-refers-to-target-uri", "").strip().removeprefix("<").removesuffix(">")
        record, digest = fields.get("warc-refers-to", "").strip(), fields.get("warc-payload-digest", "").strip()
        return Revisited(target or url, at, record, digest)


_KINDS = frozenset(("warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"))


def _head_only(head: bytes, protocol: str) -> DownloadResult:
    """The answer of a revisit, whose head describes a body that is not in the record."""
    result = answer_of(head, protocol, 0)
    result.marks &= ~_CUT
    return result


def _protocol(fields: dict[str, str]) -> str:
    return fields.get("warc-protocol", "").strip()


def time_of(text: str, now: float) -> float:
    """Seconds since the epoch, of a WARC-Date or of 14 digits; UnusableAnswer where it is none, or lies in the future."""
    written = text.strip()
    try:
        if _DIGITS(written):
            at = datetime.strptime(f"{written}+0000", "%Y%m%d%H%M%S%z").timestamp()
        elif (date := _DATE(written)) is not None:
            at = datetime.fromisoformat(f"{date[1]}+00:00").timestamp() + float(f"0{date[2] or '.0'}")
        else:
            raise UnusableAnswer("it has no usable date")
    except ValueError:
        raise UnusableAnswer("it has no usable date") from None
    if at < _EARLIEST:
        raise UnusableAnswer("its date is before the web")
    if at > now + _DAY:
        raise UnusableAnswer("its date lies in the future")
    return min(at, now)


def _add_request(capture: Capture, record: RawRecord) -> None:
    head = record.block[:_MOST_REQUEST]
    line, _, lines = head.partition(b"\n")
    capture.method = line.partition(b" ")[0].decode("latin-1").upper()
    if len(record.block) <= _MOST_REQUEST:
        kept = [part for part in lines.replace(b"\r\n", b"\n").split(b"\n") if b":" in part and not _SECRET.match(part)]
        capture.request = b"".join([part + b"\r\n" for part in kept])


def _add_way(capture: Capture, record: RawRecord) -> None:
    """How a URL was found, as this program writes it (`hops`, `redirects`) and as Heritrix does (`hopsFromSeed`)."""
    fields: dict[str, str] = {}
    for line in record.block[:_MOST_REQUEST].decode("utf-8", "replace").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip().lower(), value.strip())
    capture.via = fields.get("via", "")
    path = fields.get("hopsfromseed", "")
    capture.depth = _number(fields.get("hops", "")) or len(path.replace("R", "")) % 1000
    capture.hops = _number(fields.get("redirects", "")) or path.count("R") % 1000


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 5 else 0
