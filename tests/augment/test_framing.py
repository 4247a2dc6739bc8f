"""First line, headers, body and end of any table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.framing import Frame, escaped, framed, is_reference, read_hash, read_number, unescaped
from parcahyd.augment.refusal import MAX_HEADERS, Consequence, Limits, Refusal, RefusalReason

TABLE = b"TOL/1\nName: value\n\none\n# a comment\ntwo\nend 2\n"


def _read(data: bytes, size: int = 1 << 30, limits: Limits | None = None) -> tuple[Frame, bytes]:
    frame = Frame("TOL", ["Name"], limits or Limits())
    body = b"".join([frame.feed(data[at : at + size]) for at in range(0, len(data), size)])
    frame.finish()
    return frame, body


def _fault(data: bytes, limits: Limits | None = None) -> RefusalReason | None:
    faults = set()
    for size in (1, 3, 1 << 30):
        frame, _ = _read(data, size, limits)
        faults.add(frame.refusal.reason if frame.refusal else None)
    (fault,) = faults
    return fault


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize("data", [TABLE, TABLE.replace(b"\n", b"\r\n")])
def test_a_table(data: bytes, size: int) -> None:
    frame, body = _read(data, size)
    assert frame.refusal is None
    assert (frame.headers, body, frame.lines, frame.has_ended) == ({"Name": "value"}, b"one\ntwo\n", 2, True)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", RefusalReason.NO_TABLE),
        (b"TOL/1", RefusalReason.NO_TABLE),
        (b"<!doctype html><title>Not found</title>", RefusalReason.NO_TABLE),
        (b"TVI/1\n\nend 0\n", RefusalReason.NO_TABLE),
        (b"\xef\xbb\xbfTOL/1\n\nend 0\n", RefusalReason.NO_TABLE),
        (b"tol/1\n\nend 0\n", RefusalReason.NO_TABLE),
        (b"TOL/2\n\nend 0\n", RefusalReason.VERSION),
        (b"TOL/10\n\nend 0\n", RefusalReason.VERSION),
        (b"TOL/1\n!Name: x\n\nend 0\n", RefusalReason.DEMAND),
        (b"TOL/1\nOther: x\nOther: y\n\nend 0\n", None),
        (b"TOL/1\nName: x\nName: y\n\nend 0\n", RefusalReason.HEADER),
        (b"TOL/1\nName:x\n\nend 0\n", RefusalReason.HEADER),
        (b"TOL/1\nName: \n\nend 0\n", RefusalReason.HEADER),
        (b"TOL/1\nName: x \n\nend 0\n", RefusalReason.HEADER),
        (b"TOL/1\nname\n\nend 0\n", RefusalReason.HEADER),
        (b"TOL/1\n" + b"Other: x\n" * (MAX_HEADERS + 1) + b"\nend 0\n", RefusalReason.HEADER),
        (b"TOL/1\nName: \xff\n\nend 0\n", RefusalReason.TEXT),
        (b"TOL/1\nName: a\tb\n\nend 0\n", RefusalReason.HEADER),
        (b"TOL/1\nName: " + b"x" * 70_000 + b"\n\nend 0\n", RefusalReason.TOO_LARGE),
        (b"TOL/1\nName: " + b"x" * 70_000, RefusalReason.TOO_LARGE),
        (b"TOL/1\n\na\0b\nend 1\n", RefusalReason.TEXT),
        (b"TOL/1\n\na\rb\nend 1\n", RefusalReason.TEXT),
        (b"TOL/1\n\na\r\nend 1\n", RefusalReason.TEXT),
        (b"TOL/1\r\n\r\na\nend 1\r\n", RefusalReason.TEXT),
        (b"TOL/1\n\n\xc3\nend 1\n", RefusalReason.TEXT),
        (b"TOL/1\n\na\n", RefusalReason.END),
        (b"TOL/1\n\na\nend 1", RefusalReason.END),
        (b"TOL/1\n\na\nend 2\n", RefusalReason.END),
        (b"TOL/1\n\na\nb\nend 1\n", RefusalReason.END),
    ],
)
def test_faults(data: bytes, fault: RefusalReason | None) -> None:
    assert _fault(data) == fault


def test_what_follows_is_kept_apart() -> None:
    frame, body = _read(TABLE + b"TOL/1\n...")
    assert (frame.rest, body, frame.has_ended) == (b"TOL/1\n...", b"one\ntwo\n", True)
    frame.feed(b"x")
    assert frame.refusal == Refusal(RefusalReason.END, "more follows")


def test_limits() -> None:
    assert _fault(TABLE, Limits(body_lines=2)) is None
    assert _fault(TABLE, Limits(body_lines=1)) == RefusalReason.TOO_MANY_LINES
    assert _fault(TABLE, Limits(table_bytes=len(TABLE))) is None
    assert _fault(TABLE, Limits(table_bytes=len(TABLE) - 1)) == RefusalReason.TOO_LARGE
    assert _fault(b"TOL/1\n\n" + b"x" * 1000, Limits(table_bytes=900)) == RefusalReason.TOO_LARGE


def test_what_comes_after_a_table_does_not_count_as_its_own() -> None:
    frame, _ = _read(TABLE + b"x" * 1000, limits=Limits(table_bytes=len(TABLE)))
    assert frame.refusal is None


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_in_any_chunks(noise: bytes, size: int) -> None:
    data = b"TOL/1\n" + noise
    whole, pieces = _read(data), _read(data, size)
    assert (whole[0].refusal is None) == (pieces[0].refusal is None)


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1).filter(lambda line: line[0] != "#")))
def test_what_is_framed_is_read(lines: list[str]) -> None:
    body = "".join([f"{line}\n" for line in lines if not line.startswith("end ")]).encode()
    table = framed("TOL", [("Name", "value")], body)
    assert isinstance(table, bytes)
    frame, read = _read(table)
    assert (frame.refusal, frame.headers, read) == (None, {"Name": "value"}, body)


@pytest.mark.parametrize("value", ["", " x", "x ", "a\nb", "a\x00b", "\ud800"])
def test_a_header_that_would_not_be_read_is_not_written(value: str) -> None:
    refusal = framed("TOL", [("Name", value)], b"")
    assert isinstance(refusal, Refusal)
    assert refusal.reason == RefusalReason.HEADER


def test_a_table_that_would_not_be_read_is_not_written() -> None:
    assert isinstance(framed("TOL", [], b"a\nb\n", Limits(body_lines=1)), Refusal)
    assert isinstance(framed("TOL", [], b"a\nb\n", Limits(table_bytes=10)), Refusal)


@pytest.mark.parametrize("text", ["", "-1", "+1", "01", "1.0", "1e3", "\uff11", "9" * 17, " 1"])
def test_no_numbers(text: str) -> None:
    assert read_number(text) is None


def test_numbers_hashes_and_references() -> None:
    assert (read_number("0"), read_number("357")) == (0, 357)
    assert read_hash("sha-256=" + "0f" * 32) == b"\x0f" * 32
    assert read_hash("sha-256=" + "0F" * 32) is None
    assert read_hash("sha-256=" + "0f" * 31) is None
    assert is_reference("a%20b?c")
    assert not any(map(is_reference, ("", "a b", "a#b", "é", "a\tb", "a" * 8193)))


def test_every_fault_has_words_and_a_consequence() -> None:
    assert len({fault.word for fault in RefusalReason}) == len(RefusalReason)
    assert {fault.consequence for fault in RefusalReason} == set(Consequence)
    assert str(Refusal(RefusalReason.END, "cut")) == "The last line is missing, counts wrongly, or is not the last. (cut)"


@given(st.binary())
def test_what_is_escaped_comes_back(content: bytes) -> None:
    text = escaped(content)
    assert unescaped(text) == content
    assert not any(byte < 0x20 or byte == 0x7F for byte in text)
    text.decode()


@given(st.binary())
def test_a_reader_takes_any_bytes(text: bytes) -> None:
    assert unescaped(text) is None or b"\n" not in text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"11.00 EUR", b"11.00 EUR"),
        (b"\\ \t \n \r", rb"\\ \t \n \r"),
        (b"\x00\x1b\x7f", rb"\x00\x1b\x7f"),
        (b"\xff\xe9", rb"\xff\xe9"),
        ("é\x85 😀".encode(), "é\x85 😀".encode()),
        (b"\xed\xa0\x80", rb"\xed\xa0\x80"),
    ],
)
def test_spellings(content: bytes, text: bytes) -> None:
    assert escaped(content) == text
    assert unescaped(text) == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (rb"\x41\x5cn", b"A\\n"),
        (rb"\\x41\\u0041\\101", rb"\x41\u0041\101"),
        (b"\xff\\n\xc3\xa9\\xe9", b"\xff\n\xc3\xa9\xe9"),
    ],
)
def test_each_escape_is_undone_once_and_nothing_else(text: bytes, content: bytes) -> None:
    assert unescaped(text) == content


@pytest.mark.parametrize("text", [b"\\", rb"\a", rb"\x4", rb"\xFF", rb"\x0A", rb"\N", b"\\\n", b"a\tb", b"\x00"])
def test_no_escapes(text: bytes) -> None:
    assert unescaped(text) is None
