"""The frame that both kinds of table share: a first line, `Name: value` headers, an empty line, body lines, and `end N`.

Lines end with LF, or all of them with CRLF. Tables arrive in chunks; a `Frame` buffers an incomplete line and returns body
lines in blocks. The time is linear in the bytes, however they are cut into chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from parcahyd.augment.refusal import DEFAULT_LIMITS, MAX_HEADER_BYTES, MAX_HEADERS, Limits, Refusal, RefusalReason

__all__ = [
    "ESCAPE",
    "Frame",
    "escaped",
    "framed",
    "hash_text",
    "is_reference",
    "read_hash",
    "read_number",
    "unescaped",
]

_FIRST_LINE = re.compile(rb"([A-Z]{1,16})/([0-9]{1,9})")
_LONGEST_FIRST_LINE = 32
_FIRST, _HEADERS, _BODY, _ENDED = range(4)
_HEADER = re.compile(r"(!?[A-Za-z][A-Za-z0-9-]*+): ([^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]*+(?<! ))?+)")
_END = re.compile(rb"^end (0|[1-9][0-9]{0,8})\r?+\n", re.MULTILINE)
_COMMENT = re.compile(rb"^#[^\n]*+\n", re.MULTILINE)
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")
_REFERENCE = re.compile(r"[!-~]++")
_HASH = re.compile(r"sha-256=[0-9a-f]{64}")


class Frame:
    """Reads the frame of one table from chunks. After a refusal it accepts no more input; lines returned before stay valid."""

    __slots__ = (
        "_buffer",
        "_crlf",
        "_header_lines",
        "_known",
        "_limits",
        "_magic",
        "_size",
        "_stage",
        "headers",
        "lines",
        "refusal",
        "rest",
    )

    def __init__(self, magic: str, known: Iterable[str], limits: Limits = DEFAULT_LIMITS) -> None:
        self.headers: dict[str, str] = {}
        """Headers of the known names; complete once `has_headers` is true."""
        self.lines = 0
        """Body lines so far, comments not counted."""
        self.refusal: Refusal | None = None
        self.rest = b""
        """What followed the last line in its chunk."""
        self._magic = magic.encode()
        self._known = frozenset(known)
        self._limits = limits
        self._buffer = bytearray()
        self._size = 0
        self._stage = _FIRST
        self._crlf = False
        self._header_lines = 0

    @property
    def has_headers(self) -> bool:
        return self._stage >= _BODY

    @property
    def has_ended(self) -> bool:
        """Whether the last line was read and its count is right."""
        return self._stage == _ENDED and self.refusal is None

    def feed(self, chunk: bytes) -> bytes:
        """The body lines that this chunk completes, each ended by LF, without comments."""
        if self.refusal is not None or not chunk:
            return b""
        self._buffer += chunk
        if self._stage == _ENDED or b"\n" in chunk:
            return _STEPS[self._stage](self)
        return self._refuse(*self._excess()) if self._has_excess() else b""

    def finish(self) -> Refusal | None:
        """Ends the input. Returns why the table is not complete, or None. The caller checks `rest`."""
        if self.refusal is None and not self.has_ended:
            self._refuse(RefusalReason.END if self._size else RefusalReason.NO_TABLE, "cut")
        return self.refusal

    def refuse(self, reason: RefusalReason, detail: str = "") -> None:
        """Refuses the table because of an error in its body lines, which the caller reads."""
        self._refuse(reason, detail)

    def _refuse(self, reason: RefusalReason, detail: str = "") -> bytes:
        if self.refusal is None:
            self.refusal = Refusal(reason, detail)
        self._buffer.clear()
        return b""

    def _has_excess(self) -> bool:
        """Whether the buffered incomplete line already exceeds a limit."""
        waiting = len(self._buffer)
        if self._stage == _FIRST:
            return waiting >= _LONGEST_FIRST_LINE
        if self.has_headers:
            return self._size + waiting > self._limits.table_bytes
        return self._size + waiting > min(MAX_HEADER_BYTES, self._limits.table_bytes)

    def _excess(self) -> tuple[RefusalReason, str]:
        if self._stage == _FIRST:
            return RefusalReason.NO_TABLE, ""
        return RefusalReason.TOO_LARGE, "" if self.has_headers else "headers"

    def _take(self, end: int) -> bytes:
        """Removes the first `end` bytes of the buffer."""
        taken = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._size += end
        return taken

    def _plain(self, lines: bytes) -> bytes:
        """The lines with LF as their end; empty, after a refusal, where they are not valid text."""
        if self._crlf:
            if lines.count(b"\r\n") != lines.count(b"\n"):
                return self._refuse(RefusalReason.TEXT, "line ends")
            lines = lines.replace(b"\r\n", b"\n")
        if _NO_TEXT.search(lines):
            return self._refuse(RefusalReason.TEXT, "control bytes")
        try:
            lines.decode()
        except UnicodeDecodeError:
            return self._refuse(RefusalReason.TEXT, "not UTF-8")
        return lines

    def _read_first_line(self) -> bytes:
        end = self._buffer.find(b"\n", 0, _LONGEST_FIRST_LINE) + 1
        if not end:
            return self._refuse(RefusalReason.NO_TABLE) if self._has_excess() else b""
        line = self._take(end)[:-1]
        self._crlf = line.endswith(b"\r")
        first = _FIRST_LINE.fullmatch(line.removesuffix(b"\r"))
        if first is None or first[1] != self._magic:
            return self._refuse(RefusalReason.NO_TABLE)
        if first[2] != b"1":
            return self._refuse(RefusalReason.VERSION)
        self._stage = _HEADERS
        return self._read_headers()

    def _read_headers(self) -> bytes:
        """Reads line by line, so that a file that is not a table is refused as early as possible."""
        while end := self._buffer.find(b"\n") + 1:
            if self._size + end > min(MAX_HEADER_BYTES, self._limits.table_bytes):
                return self._refuse(RefusalReason.TOO_LARGE, "headers")
            line = self._plain(self._take(end))
            if line == b"\n":
                self._stage = _BODY
                return self._read_body()
            if self.refusal is not None or not self._set_header(line[:-1].decode()):
                return b""
        return self._refuse(*self._excess()) if self._has_excess() else b""

    def _set_header(self, line: str) -> bool:
        self._header_lines += 1
        header = _HEADER.fullmatch(line)
        if header is None or self._header_lines > MAX_HEADERS or header[1] in self.headers:
            self._refuse(RefusalReason.HEADER, f"line {self._header_lines + 1}")
        elif header[1] in self._known:
            self.headers[header[1]] = header[2]
        elif header[1].startswith("!"):
            self._refuse(RefusalReason.DEMAND, f"line {self._header_lines + 1}")
        return self.refusal is None

    def _read_body(self) -> bytes:
        last = _END.search(self._buffer)
        end = last.end() if last else self._buffer.rfind(b"\n") + 1
        if self._size + (end if last else len(self._buffer)) > self._limits.table_bytes:
            return self._refuse(RefusalReason.TOO_LARGE)
        announced = int(last[1]) if last else -1
        block = self._plain(self._take(end))
        if block.startswith(b"#") or b"\n#" in block:
            block = _COMMENT.sub(b"", block)
        if self.refusal is None and announced >= 0:
            block = block[: block.rindex(b"end ")]
        self.lines += block.count(b"\n")
        if self.lines > self._limits.body_lines:
            return self._refuse(RefusalReason.TOO_MANY_LINES)
        if self.refusal is None and announced >= 0:
            self._end(announced)
        return block

    def _end(self, announced: int) -> None:
        self.rest = bytes(self._buffer)
        self._buffer.clear()
        self._stage = _ENDED
        if announced != self.lines:
            self._refuse(RefusalReason.END, "count")

    def _read_nothing(self) -> bytes:
        return self._refuse(RefusalReason.END, "more follows")


_STEPS = (Frame._read_first_line, Frame._read_headers, Frame._read_body, Frame._read_nothing)


def framed(magic: str, headers: Iterable[tuple[str, str]], body: bytes, limits: Limits = DEFAULT_LIMITS) -> bytes | Refusal:
    """A complete table with these body lines, each ended by LF; refused where a reader with these limits would refuse it."""
    lines = [f"{name}: {value}" for name, value in headers]
    for line in lines:
        if _HEADER.fullmatch(line) is None or not _is_utf8(line):
            return Refusal(RefusalReason.HEADER, line.partition(":")[0])
    head = "\n".join([f"{magic}/1", *lines, "", ""]).encode()
    count = body.count(b"\n")
    if count > limits.body_lines:
        return Refusal(RefusalReason.TOO_MANY_LINES, f"{count:,}")
    table = b"%b%bend %d\n" % (head, body, count)
    if len(table) > limits.table_bytes or len(head) > MAX_HEADER_BYTES:
        return Refusal(RefusalReason.TOO_LARGE, f"{len(table):,} bytes")
    return table


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def hash_text(sha256: bytes) -> str:
    """A hash as headers have it."""
    return f"sha-256={sha256.hex()}"


def read_hash(value: str) -> bytes | None:
    """The 32 bytes of a hash; None where the value is not a hash."""
    return bytes.fromhex(value[8:]) if _HASH.fullmatch(value) else None


def read_number(value: str) -> int | None:
    """A length or an offset, without sign and leading zeros; None where the value is not one."""
    return int(value) if _NUMBER.fullmatch(value) else None


def is_reference(value: str, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether a header names another URL: printable ASCII without a fragment, within the length limit."""
    return len(value) <= limits.reference and "#" not in value and _REFERENCE.fullmatch(value) is not None


# --- Bytes within a line of text: `\\`, `\t`, `\n`, `\r`, and `\xhh` for other control bytes and for bytes that are not UTF-8.


ESCAPE = rb"\\(?:[\\tnr]|x[0-9a-f]{2})"
"""The pattern of one escape."""

_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}

_WRITTEN_OUT = re.compile("[\x00-\x1f\x7f\\\\\udc80-\udcff]")
_ALL = re.compile(rb"[^\\\x00-\x1f\x7f]*+(?:" + ESCAPE + rb"[^\\\x00-\x1f\x7f]*+)*+")


def escaped(content: bytes) -> bytes:
    """Any bytes as UTF-8 text without control bytes; text without control bytes and backslashes is unchanged."""
    # "surrogateescape" turns each byte that is not UTF-8 into a character from U+DC80, 0xDC00 above the byte.
    return _WRITTEN_OUT.sub(_escape, content.decode("utf-8", "surrogateescape")).encode()


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return _SHORT.get(character) or f"\\x{ord(character) & 0xFF:02x}"


def unescaped(text: bytes) -> bytes | None:
    """The bytes of an escaped field; None where a backslash begins no escape or the field has a control byte."""
    if not _ALL.fullmatch(text):
        return None
    # The codec knows more escapes than the format; the pattern has refused those. The codec reads bytes as Latin-1.
    return text.decode("unicode_escape").encode("latin-1") if b"\\" in text else text
