"""Which records make up an answer, and which are counted and left out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from parcahyd.importing.captures import Capture, captures, time_of
from parcahyd.importing.http_answers import UnusableAnswer
from tests.importing.archives import answer, read, record, response

_NOW = 1_800_000_000.0


def _captures(path: Path, *records: bytes) -> tuple[list[Capture], Counter[str], list[str]]:
    raw, _ = read(path, b"".join(records))
    ignored: Counter[str] = Counter()
    damaged: list[str] = []

    def ignore(words: str) -> None:
        ignored[words] += 1

    given = (("a.warc", one) for one in raw)
    found = captures(given, 10**6, _NOW, Counter(), ignore, lambda _file, _at, what: damaged.append(what))
    return list(found), ignored, damaged


def _beside(kind: str, block: bytes, number: str) -> bytes:
    return record(kind, block, "http://a.example/", number=f"{kind}-{number}", WARC_Concurrent_To=f"<urn:uuid:{number}>")


_REQUEST = b"GET / HTTP/1.1\r\nHost: a.example\r\nCookie: secret=1\r\nAuthorization: Basic x\r\nUser-Agent: tea\r\n\r\n"


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_an_answer_with_its_request_and_its_way(tmp_path: Path, order: tuple[int, ...]) -> None:
    main = response("http://a.example/", b"tea", number="7", WARC_IP_Address="192.0.2.7")
    way = _beside("metadata", b"via: http://b.example/\r\nhops: 3\r\nredirects: 1\r\n", "7")
    parts = (main, _beside("request", _REQUEST, "7"), way)
    found, ignored, damaged = _captures(tmp_path / "a.warc", *(parts[number] for number in order))
    (one,) = found
    assert (one.method, one.request) == ("GET", b"User-Agent: tea\r\n")
    assert (one.depth, one.hops, one.via, one.address) == (3, 1, "http://b.example/", "192.0.2.7")
    assert (one.result.body, one.at) == (b"tea", 1588748889.0)
    assert (ignored, damaged) == (Counter(), [])


def test_what_belongs_to_another_answer_is_not_mixed(tmp_path: Path) -> None:
    one = response("http://a.example/1", b"one", number="1")
    two = response("http://a.example/2", b"two", number="2")
    found, ignored, _ = _captures(tmp_path / "a.warc", one, two, _beside("request", _REQUEST.replace(b"GET", b"POST"), "2"))
    assert [(capture.url[-1], capture.method) for capture in found] == [("1", ""), ("2", "POST")]
    _, ignored, _ = _captures(tmp_path / "a.warc", one, _beside("request", _REQUEST, "3"))
    assert ignored == {"requests without an answer that is taken": 1}


def test_the_way_as_heritrix_writes_it(tmp_path: Path) -> None:
    way = _beside("metadata", b"via: http://b.example/\r\nhopsFromSeed: LLRE\r\n", "1")
    (one,), _, _ = _captures(tmp_path / "a.warc", response("http://a.example/", b"x", number="1"), way)
    assert (one.depth, one.hops) == (3, 1)


def test_records_that_are_not_taken_are_counted(tmp_path: Path) -> None:
    _, ignored, damaged = _captures(
        tmp_path / "a.warc",
        record("continuation", b"x", "http://a.example/1"),
        record("conversion", b"x", "http://a.example/2", Content_Type="text/plain"),
        record("shopping-list", b"x", "http://a.example/3"),
        response("http://a.example/4", b"x", WARC_Segment_Number="1"),
    )
    assert ignored == {
        "continuation records": 1,
        "conversion records": 1,
        "records of an unknown type": 1,
        "answers in several segments": 1,
    }
    assert damaged == []


def test_a_conversion_of_our_own_is_a_document(tmp_path: Path) -> None:
    info = record("warcinfo", b"software: parcahyd/1.2.3\r\n")
    page = record("conversion", b"<p>x</p>", "http://a.example/", Content_Type="text/html")
    (one,), _, _ = _captures(tmp_path / "a.warc", info, page)
    assert one.is_conversion
    assert one.result.body == b"<p>x</p>"


def test_a_revisit_says_what_it_refers_to(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"WARC_Refers_To_Target_URI": "http://b.example/", "WARC_Refers_To_Date": "2019-01-01T00:00:00.5Z"}
    revisit = record("revisit", answer(b"", "Content-Length: 99"), "http://a.example/", WARC_Payload_Digest="sha1:X", **fields)
    (one,), _, _ = _captures(tmp_path / "a.warc", revisit)
    assert one.revisited is not None
    assert (one.revisited.url, one.revisited.at, one.revisited.digest) == ("http://b.example/", 1546300800.5, "sha1:X")
    assert one.result.status == 200


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2020-05-06T07:08:09Z", 1588748889.0),
        ("2020-05-06T07:08:09.123456Z", 1588748889.123456),
        ("20200506070809", 1588748889.0),
    ],
)
def test_times(text: str, at: float) -> None:
    assert time_of(text, _NOW) == pytest.approx(at, abs=1e-6)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2020-13-01T00:00:00Z", "0001-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "9" * 14]
)
def test_times_that_cannot_be_meant(text: str) -> None:
    with pytest.raises(UnusableAnswer):
        time_of(text, _NOW)
