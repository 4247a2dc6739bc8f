"""Archives for tests: records of WARC files, sound and damaged, as bytes."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

from parcahyd.importing.archive_files import ArchiveFile
from parcahyd.importing.records import Limits, RawRecord

__all__ = ["DATE", "answer", "read", "record", "response"]

_LIMITS = Limits(10_000_000)
DATE = "2020-05-06T07:08:09Z"


def record(
    kind: str,
    block: bytes,
    url: str = "",
    *,
    length: int | str | None = None,
    date: str = DATE,
    number: str = "",
    digest: bool = False,
    **fields: Any,
) -> bytes:
    """A record; `length` is what it says, and its own length where that is None."""
    lines = [f"WARC-Type: {kind}", f"WARC-Record-ID: <urn:uuid:{number or hashlib.sha256(block).hexdigest()}>"]
    lines += [f"WARC-Date: {date}", *([f"WARC-Target-URI: {url}"] if url else [])]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    lines += [f"WARC-Block-Digest: sha256:{hashlib.sha256(block).hexdigest()}"] if digest else []
    head = "\r\n".join(["WARC/1.0", *lines, f"Content-Length: {len(block) if length is None else length}", "", ""])
    return head.encode() + block + b"\r\n\r\n"


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A message of HTTP; its length is named where no header does."""
    given = list(headers) or ["Content-Type: text/html"]
    if not any(header.lower().startswith(("content-length", "transfer-encoding")) for header in given):
        given.append(f"Content-Length: {len(body)}")
    return "\r\n".join([f"HTTP/1.1 {status}", *given, "", ""]).encode("latin-1") + body


def response(url: str, body: bytes, *headers: str, status: str = "200 OK", **fields: Any) -> bytes:
    """A record with an answer."""
    content_type = "application/http; msgtype=response"
    return record("response", answer(body, *headers, status=status), url, Content_Type=content_type, **fields)


def read(path: Path, data: bytes | list[bytes], limits: Limits = _LIMITS) -> tuple[list[RawRecord], list[tuple[int, str]]]:
    """The records of a file with these bytes, and what was told as damaged. A list is written as a gzip member each."""
    path.write_bytes(data if isinstance(data, bytes) else b"".join(map(gzip.compress, data)))
    damaged: list[tuple[int, str]] = []
    found = list(ArchiveFile(path).records(limits, lambda _file, at, what: damaged.append((at, what)), lambda _at: None))
    return [one for _, one in found], damaged
