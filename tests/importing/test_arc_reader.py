"""What is read of ARC files, sound and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.importing.arc_reader import begins_arc
from parcahyd.importing.records import Limits
from tests.importing.archives import answer, read

_FILE = b"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n"
_FILE_2 = (
    b"2 0 Somebody\nURL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n"
)


def _arc(url: str, block: bytes, length: int | str | None = None, *, time: str = "20050607080910", more: str = "") -> bytes:
    return f"{url} 192.0.2.1 {time} text/html{more} {len(block) if length is None else length}\n".encode() + block + b"\n"


_BEGIN = _arc("filedesc://x.arc", _FILE)
_ONE = _arc("http://a.example/1", answer(b"one"))
_TWO = _arc("http://a.example/2?q=a b c", answer(b"two"))
_THREE = _arc("http://a.example/3", answer(b"three"))


@pytest.mark.parametrize("is_packed", [False, True])
def test_records_with_time_address_and_url(tmp_path: Path, is_packed: bool) -> None:
    parts = [_BEGIN, _ONE, _TWO, _THREE]
    records, damaged = read(tmp_path / "a.arc", parts if is_packed else b"".join(parts))
    assert damaged == []
    assert [one.kind for one in records] == ["warcinfo", "response", "response", "response"]
    assert records[2].fields == {
        "warc-target-uri": "http://a.example/2?q=a b c",
        "warc-ip-address": "192.0.2.1",
        "warc-date": "20050607080910",
        "content-type": "text/html",
    }
    assert records[3].block == answer(b"three")


def test_the_second_version_has_more_words(tmp_path: Path) -> None:
    begin = _arc("filedesc://x.arc", _FILE_2)
    more = " 200 SUM - 1234 x.arc"
    records, damaged = read(tmp_path / "a.arc", begin + _arc("http://a.example/a b", answer(b"x"), more=more))
    assert damaged == []
    assert records[1].fields["warc-target-uri"] == "http://a.example/a b"
    assert records[1].fields["warc-date"] == "20050607080910"


@pytest.mark.parametrize(
    "spoilt",
    [
        _arc("http://a.example/2", answer(b"two"), 10**9),
        _arc("http://a.example/2", answer(b"two"), "x"),
        _arc("http://a.example/2", answer(b"two"), time="2005"),
        b"rubbish\n\n",
        b"\0" * 100_000 + b"\n",
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_damaged_record_is_named_and_the_others_are_read(tmp_path: Path, spoilt: bytes, is_packed: bool) -> None:
    parts = [_BEGIN, _ONE, spoilt, _THREE]
    records, damaged = read(tmp_path / "a.arc", parts if is_packed else b"".join(parts))
    assert [one.block for one in records[1:]] == [answer(b"one"), answer(b"three")]
    assert len(damaged) >= 1
    assert damaged[0][0] >= len(_BEGIN) // 4


def test_a_large_block_is_passed_over(tmp_path: Path) -> None:
    records, damaged = read(tmp_path / "a.arc", _BEGIN + _arc("http://a.example/2", b"x" * 5000) + _THREE, Limits(4000))
    assert [one.is_too_large for one in records] == [False, True, False]
    assert damaged == []


def test_how_such_a_file_begins() -> None:
    assert begins_arc(_BEGIN)
    assert not begins_arc(b"WARC/1.0\r\n")
