from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.export import warc_records
from parcahyd.export.exchanges import Exchange, Kind
from parcahyd.export.warc_records import WarcRecords, safe_url
from tests.export.samples import exchange
from tests.support.warc import Seen, by_fastwarc, by_warcio

A = "http://a.example/"
B = "http://b.example/"


def _read(tmp_path: Path, *exchanges: Exchange) -> list[Seen]:
    """The records of exchanges, which both readers see alike."""
    records = WarcRecords()
    file = tmp_path / "x.warc.gz"
    made = [records.warcinfo("x.warc.gz", 0.0), *(record for one in exchanges for record in records.of(one))]
    file.write_bytes(b"".join(record.data for record in made))
    seen = by_fastwarc(file)
    assert [(one.kind, one.url, one.body) for one in seen] == [(one.kind, one.url, one.body) for one in by_warcio(file)]
    assert [one.kind for one in seen] == [record.kind for record in made]
    return seen


def test_an_answer_with_its_request_and_its_way(tmp_path: Path) -> None:
    request = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
    made = exchange(
        request=request, protocol="h2", via=B, reconstructed=("status-line",), headers=b"X: a\r\nx: b\r\nContent-Length: 12\r\n"
    )
    info, response, asked, metadata = _read(tmp_path, made)
    assert info.fields["warc-filename"] == "x.warc.gz"
    assert b"reconstructed" in info.body
    assert (response.kind, response.url, response.body) == ("response", A, b"<p>hello</p>")
    assert response.status_line == "HTTP/1.1 200 OK"
    assert response.headers == [("X", "a"), ("x", "b"), ("Content-Length", "12")]
    assert response.fields["warc-date"] == "2026-03-04T05:06:07.250000Z"
    assert response.fields["warc-ip-address"] == "192.0.2.1"
    assert response.fields["warc-protocol"] == "h2"
    assert response.fields["parcahyd-reconstructed"] == "status-line"
    assert (asked.kind, asked.fields["warc-concurrent-to"]) == ("request", response.fields["warc-record-id"])
    assert metadata.kind == "metadata"
    assert metadata.body == b"via: http://b.example/\r\nhops: 2\r\nredirects: 0\r\n"
    assert metadata.fields["warc-concurrent-to"] == response.fields["warc-record-id"]
    ids = [record.fields["warc-record-id"] for record in (info, response, asked, metadata)]
    assert len(set(ids)) == 4


def test_what_is_not_known_is_not_said(tmp_path: Path) -> None:
    _, response, metadata = _read(tmp_path, exchange(address="a proxy"))
    assert not {"warc-ip-address", "warc-protocol", "parcahyd-reconstructed"} & set(response.fields)
    assert metadata.body == b"hops: 2\r\nredirects: 0\r\n"


def test_the_same_bytes_are_written_once(tmp_path: Path) -> None:
    headers = b"X: second\r\n"
    _, first, _, second, _ = _read(tmp_path, exchange(A), exchange(B, headers=headers))
    assert (first.kind, second.kind) == ("response", "revisit")
    assert second.headers == [("X", "second")]
    assert second.fields["warc-profile"].endswith("/identical-payload-digest")
    assert second.fields["warc-refers-to-target-uri"] == A
    assert second.fields["warc-refers-to-date"] == first.fields["warc-date"]
    assert second.fields["warc-payload-digest"] == first.fields["warc-payload-digest"]


def test_what_has_to_be_decoded_from_some_byte_is_written_each_time(tmp_path: Path) -> None:
    made = [exchange(url, b"packed", coding="br") for url in (A, B)]
    assert [record.kind for record in _read(tmp_path, *made)] == ["warcinfo", "response", "metadata", "response", "metadata"]


def test_validators_of_a_request_are_reconstructed(tmp_path: Path) -> None:
    request = b"GET / HTTP/1.1\r\n\r\n"
    requests = [exchange(A, request=request), exchange(A, request=request, is_request_reconstructed=True)]
    records = [record for record in _read(tmp_path, *requests) if record.kind == "request"]
    assert [record.fields.get("parcahyd-reconstructed") for record in records] == [None, "validators"]


def test_empty_bodies_are_no_twins(tmp_path: Path) -> None:
    kinds = [record.kind for record in _read(tmp_path, exchange(A, b""), exchange(B, b""))]
    assert kinds == ["warcinfo", "response", "metadata", "response", "metadata"]


def test_a_payload_that_was_forgotten_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_records, "REMEMBERED", 1)
    made = [exchange(A, b"one"), exchange(A, b"two"), exchange(B, b"one"), exchange(B, b"one")]
    mains = [record for record in _read(tmp_path, *made) if record.kind in ("response", "revisit")]
    assert [(record.kind, record.body) for record in mains] == [
        ("response", b"one"),
        ("response", b"two"),
        ("response", b"one"),
        ("revisit", b""),
    ]


def test_a_confirmed_answer_refers_to_its_bytes_or_stands_alone(tmp_path: Path) -> None:
    confirmed = exchange(
        body=b"", kind=Kind.NOT_MODIFIED, status_line=b"HTTP/1.1 304 Not Modified", payload_sha256=exchange().payload_sha256
    )
    _, alone, *_ = _read(tmp_path, confirmed)
    assert (alone.kind, alone.status_line) == ("response", "HTTP/1.1 304 Not Modified")
    _, _, _, revisit, _ = _read(tmp_path, exchange(), confirmed)
    assert (revisit.kind, revisit.fields["warc-profile"].rpartition("/")[2]) == ("revisit", "server-not-modified")


@pytest.mark.parametrize(("kind", "name"), [(Kind.RESOURCE, "resource"), (Kind.CONVERSION, "conversion")])
def test_what_is_no_answer_has_no_head(tmp_path: Path, kind: Kind, name: str) -> None:
    _, record, _ = _read(tmp_path, exchange(kind=kind, media_type="text/plain"))
    assert (record.kind, record.body, record.fields["content-type"]) == (name, b"<p>hello</p>", "text/plain")


def test_no_value_ends_a_field(tmp_path: Path) -> None:
    hostile = "http://a.example/\r\nWARC-Type: warcinfo\r\n\r\né\udcff"
    made = exchange(hostile, kind=Kind.RESOURCE, media_type="text/html\r\nX: y", address="1.2.3.4\r\nX: y", via=hostile)
    _, record, metadata = _read(tmp_path, made)
    assert record.kind == "resource"
    assert record.url == "http://a.example/%0D%0AWARC-Type:%20warcinfo%0D%0A%0D%0A%C3%A9%ED%B3%BF"
    assert record.fields["content-type"] == "application/octet-stream"
    assert not {"x", "warc-ip-address"} & set(record.fields)
    assert metadata.body.count(b"\r\n") == 3
    assert safe_url("http://a.example/%C3%A9?a=b") == "http://a.example/%C3%A9?a=b"
