"""What is read of WARC files that are damaged: everything but the damaged record, which is named with its place."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.importing.records import Limits, states_its_digest
from parcahyd.importing.warc_reader import require_fastwarc
from tests.importing.archives import read, record

_ONE = record("resource", b"one" * 10, "http://a.example/1")
_TWO = record("resource", b"two" * 10, "http://a.example/2")
_THREE = record("resource", b"three" * 10, "http://a.example/3")


def _urls(path: Path, data: bytes | list[bytes]) -> tuple[str, list[tuple[int, str]]]:
    records, damaged = read(path, data)
    return "".join(one.fields["warc-target-uri"][-1] for one in records), damaged


@pytest.mark.parametrize("is_packed", [False, True])
def test_records_in_their_order_with_their_places(tmp_path: Path, is_packed: bool) -> None:
    parts = [_ONE, _TWO, _THREE]
    records, damaged = read(tmp_path / "a.warc", parts if is_packed else b"".join(parts))
    sizes = [len(gzip.compress(part)) if is_packed else len(part) for part in parts]
    assert [one.offset for one in records] == [0, sizes[0], sizes[0] + sizes[1]]
    assert [one.block for one in records] == [b"one" * 10, b"two" * 10, b"three" * 10]
    assert damaged == []


def test_several_records_in_one_member_and_one_record_in_several(tmp_path: Path) -> None:
    assert _urls(tmp_path / "a.warc.gz", [_ONE + _TWO, _THREE]) == ("123", [])
    assert _urls(tmp_path / "b.warc.gz", [_ONE, _TWO[:40], _TWO[40:90], _TWO[90:], _THREE]) == ("123", [])


@pytest.mark.parametrize(
    ("length", "sentence"),
    [
        (5, "its Content-Length is not the length of its block"),
        (45, "its Content-Length is not the length of its block"),
        (10**9, "it says that it has 1000000000 bytes"),
        ("many", "its header has no usable Content-Length"),
        (-1, "its header has no usable Content-Length"),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_length_that_lies_hides_no_other_record(tmp_path: Path, length: int | str, sentence: str, is_packed: bool) -> None:
    lying = record("resource", b"two" * 10, "http://a.example/2", length=length)
    parts = [_ONE, lying, _THREE]
    urls, damaged = _urls(tmp_path / "a.warc", parts if is_packed else b"".join(parts))
    assert urls == "13"
    assert damaged[0][0] == len(gzip.compress(_ONE) if is_packed else _ONE)
    assert sentence in damaged[0][1] or (is_packed and length == 45)
    assert len(damaged) == 1


def test_what_is_between_records_is_named_and_passed_over(tmp_path: Path) -> None:
    urls, damaged = _urls(tmp_path / "a.warc", _ONE + b"rubbish\nand more\n" + _TWO + _THREE)
    assert urls == "123"
    ((at, sentence),) = damaged
    assert abs(at - len(_ONE)) <= 4
    assert "no record can be read here" in sentence


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_damaged_member_takes_nothing_else_with_it(tmp_path: Path, is_cut: bool) -> None:
    members = [gzip.compress(part) for part in (_ONE, _TWO, _THREE)]
    spoilt = bytearray(members[1])
    spoilt[len(spoilt) // 2] ^= 0xFF
    members[1] = members[1][:-20] if is_cut else bytes(spoilt)
    urls, damaged = _urls(tmp_path / "a.warc.gz", b"".join(members))
    assert urls == "13"
    assert damaged[0][0] == len(members[0])


def test_a_member_whose_checksum_is_wrong_is_not_taken(tmp_path: Path) -> None:
    member = bytearray(gzip.compress(_TWO))
    member[-6] ^= 1
    urls, damaged = _urls(tmp_path / "a.warc.gz", gzip.compress(_ONE) + bytes(member) + gzip.compress(_THREE))
    assert urls == "13"
    assert len(damaged) == 1


def test_a_file_that_was_cut(tmp_path: Path) -> None:
    urls, damaged = _urls(tmp_path / "a.warc", (_ONE + _TWO + _THREE)[: -len(_THREE) // 3])
    assert (urls, len(damaged)) == ("12", 1)
    urls, damaged = _urls(tmp_path / "b.warc.gz", b"".join(map(gzip.compress, (_ONE, _TWO, _THREE)))[:-30])
    assert (urls, len(damaged)) == ("12", 1)


def test_bytes_that_do_not_have_their_digest(tmp_path: Path) -> None:
    good = record("resource", b"fine", "http://a.example/1", digest=True)
    bad = record("resource", b"old", "http://a.example/2", digest=True).replace(b"\r\n\r\nold", b"\r\n\r\nnew")
    records, damaged = read(tmp_path / "a.warc", good + bad + _THREE)
    assert [one.block for one in records] == [b"fine", b"three" * 10]
    assert damaged == [(len(good), "its bytes do not have the digest that it states")]
    records, damaged = read(tmp_path / "a.warc", good + bad + _THREE, Limits(1000, ignores_digests=True))
    assert ([one.block for one in records], damaged) == ([b"fine", b"new", b"three" * 10], [])


def test_a_block_that_is_too_large_is_passed_over(tmp_path: Path) -> None:
    large = record("resource", b"x" * 5000, "http://a.example/2")
    records, damaged = read(tmp_path / "a.warc.gz", [_ONE, large, _THREE], Limits(4999))
    assert [(one.is_too_large, len(one.block)) for one in records] == [(False, 30), (True, 0), (False, 50)]
    assert damaged == []


def test_a_bomb_is_given_up_and_the_next_record_is_read(tmp_path: Path) -> None:
    head = record("resource", b"", "http://a.example/2", length=10**10)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packer.compress(head) + b"".join(packer.compress(bytes(1 << 20)) for _ in range(300)) + packer.flush()
    urls, damaged = _urls(tmp_path / "a.warc.gz", gzip.compress(_ONE) + bomb + gzip.compress(_THREE))
    assert urls == "13"
    assert damaged == [(len(gzip.compress(_ONE)), "it unpacks to more than 200 times its size")]


def test_so_many_damages_that_the_rest_is_not_read(tmp_path: Path) -> None:
    bad = record("resource", b"x", "http://a.example/2", length="none")
    urls, damaged = _urls(tmp_path / "a.warc", _ONE + bad * 1500 + _THREE)
    assert urls == "1"
    assert damaged[-1][1].endswith("places in it are damaged, and the rest is not read")


def test_a_header_without_an_end_is_bounded(tmp_path: Path) -> None:
    urls, damaged = _urls(tmp_path / "a.warc", _ONE + b"WARC/1.0\r\nX: " + b"y" * 300_000 + b"\r\n\r\n" + _THREE)
    assert urls == "13"
    assert len(damaged) == 1


def test_digests_of_all_forms() -> None:
    assert states_its_digest("sha1:VGCO5FWAAMO5EPCZGWJ2SEVLAKCSMSO5", b"x") is False
    assert states_its_digest("sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=", b"") is None
    assert states_its_digest("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", b"") is True
    assert states_its_digest("sha-256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", b"") is True
    assert states_its_digest("md5:d41d8cd98f00b204e9800998ecf8427e", b"") is True
    assert states_its_digest("crc:1234", b"") is None


def test_without_fastwarc_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastwarc", None)
    with pytest.raises(UserError, match=r"pip install 'parcahyd\[archives\]'"):
        require_fastwarc()
