"""An odd server is crawled twice for an archive: what goes into the WARC file is, byte for byte, what the server sent.

`_NOT_AS_SENT` names the exceptions, and a test for each says why it is one.
"""

from __future__ import annotations

import json
import re
import zlib
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from tests.support.crawl import CrawlFactory
from tests.support.odd_site import DOCUMENTS, NOT_HERE, OddSite, crawl_twice, export_warc, joined, parts_of, received_of
from tests.support.site_server import SiteServer
from tests.support.warc import Block, blocks, by_fastwarc, by_warcio

_NOT_AS_SENT = {
    "/folded": "",  # libcurl hands over a folded header as one line.
    "/lines": "line-ends",
    "/twice": "content-coding content-length",
    "/gzip-in-chunks": "transfer-coding",
    "/br-in-chunks": "transfer-coding",
}


@pytest.fixture
def odd() -> OddSite:
    return OddSite()


def _answers(records: list[Block], url: str) -> list[Block]:
    return [record for record in records if record.url == url and record.kind in ("response", "revisit")]


def test_every_answer_goes_out_as_it_was_sent(server: SiteServer, crawl_on: CrawlFactory, odd: OddSite, tmp_path: Path) -> None:
    running, listener = crawl_twice(server, crawl_on, odd)
    running.verify()
    records = blocks(export_warc(running, tmp_path / "out"))
    assert len([record for record in records if record.kind in ("response", "revisit")]) == len(odd.sent)
    wholes = {record.fields["warc-payload-digest"] for record in records if record.kind == "response"}
    for path in ("/robots.txt", "/", *odd.paths):
        found, sent = _answers(records, listener.url(path)), [joined(message) for message in odd.sent_for(path)]
        assert len(found) == len(sent) == (1 if sent[0][9:12] in (b"404", b"410") or path == "/robots.txt" else 2), path
        if path in _NOT_AS_SENT:
            assert {record.reconstructed for record in found} == {_NOT_AS_SENT[path]}, path
            continue
        assert {record.reconstructed for record in found} == {"trailers" if path == "/trailers" else ""}, path
        for record, message in zip(found, sent, strict=True):
            head, body = _parted(message)
            assert record.block == (message if record.kind == "response" else head), path
            assert record.kind == "response" or path != "/br", "fastwarc cannot decode the empty body of a revisit"
            if record.kind == "revisit":
                assert record.fields["warc-payload-digest"] in wholes
                profile = "server-not-modified" if message[9:12] == b"304" else "identical-payload-digest"
                assert record.fields["warc-profile"].endswith(profile), path
                assert profile == "server-not-modified" or record.fields["warc-payload-digest"] == _digest(body)
    protocols = {
        record.url.removeprefix(listener.url("")): record.fields["warc-protocol"]
        for record in records
        if record.kind == "response"
    }
    assert (protocols["/old"], protocols["/gzip"]) == ("http/1.0", "http/1.1")


def _parted(message: bytes) -> tuple[bytes, bytes]:
    head, blank, body = message.partition(b"\r\n\r\n")
    return head + blank, body


def _digest(body: bytes) -> str:
    return f"sha256:{sha256(body).hexdigest()}"


def test_requests_go_out_as_they_were_sent(server: SiteServer, crawl: CrawlFactory, odd: OddSite, tmp_path: Path) -> None:
    """The validators of a conditional request are not stored with it: they are told by the answers before."""
    running, listener = crawl_twice(server, crawl, odd)
    records = [record for record in blocks(export_warc(running, tmp_path / "out")) if record.kind == "request"]
    conditional = 0
    for path in ("/robots.txt", "/", *odd.paths):
        found = [record for record in records if record.url == listener.url(path)]
        sent = [request for request in odd.requests if request.target == path]
        for record, request in zip(found, sent, strict=True):
            first, *lines = record.block.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
            assert first == f"GET {path} HTTP/1.1"
            pairs = [line.partition(": ") for line in lines]
            assert [(name.lower(), value) for name, _, value in pairs] == list(request.headers.items()), path
            is_conditional = bool({"if-none-match", "if-modified-since"} & request.headers.keys())
            assert record.reconstructed == ("validators" if is_conditional else ""), path
            conditional += is_conditional
    assert conditional == len(odd.validated)


def test_two_readers_decode_every_answer(server: SiteServer, crawl: CrawlFactory, odd: OddSite, tmp_path: Path) -> None:
    running, listener = crawl_twice(server, crawl, odd)
    file = export_warc(running, tmp_path / "out")
    decoded, also = by_fastwarc(file), by_warcio(file)
    assert len(decoded) == len(also) == len(blocks(file))
    assert [(one.kind, one.url, one.body) for one in decoded] == [(one.kind, one.url, one.body) for one in also]
    bodies = {record.url: record.body for record in decoded if record.kind == "response"}
    found = {path: bodies.get(listener.url(path)) for path in DOCUMENTS}
    assert len([path for path in ("/twin", "/twin-too") if found[path] is None]) == 1
    assert all(body in (document, None) for body, document in zip(found.values(), DOCUMENTS.values(), strict=True))
    assert list(found.values()).count(None) == 1


def test_no_revisit_dangles_in_a_part(server: SiteServer, crawl: CrawlFactory, odd: OddSite, tmp_path: Path) -> None:
    running, listener = crawl_twice(server, crawl, odd)
    everything = blocks(export_warc(running, tmp_path / "all"))
    answers = {path: _answers(everything, listener.url(path)) for path in odd.paths}
    second_run = min(found[1].fields["warc-date"] for found in answers.values() if len(found) > 1)
    records = blocks(export_warc(running, tmp_path / "part", "--since", second_run))
    written = {_target(one, "target-uri", "date") for one in records if one.kind == "response"}
    revisits = [record for record in records if record.kind == "revisit"]
    assert all(_target(record, "refers-to-target-uri", "refers-to-date") in written for record in revisits)
    # What is confirmed goes along; what came whole again is whole.
    confirmations = {record.url for record in revisits if record.fields["warc-profile"].endswith("server-not-modified")}
    assert confirmations == {listener.url(path) for path in odd.validated}
    assert _answers(records, listener.url("/robots.txt")) == []
    assert {record.url for record in records if record.kind == "response"} >= {listener.url(path) for path in ("/gzip", "/old")}
    assert len([record for record in revisits if record.url.removeprefix(listener.url("")) in ("/twin", "/twin-too")]) == 1


def _target(record: Block, url: str, date: str) -> tuple[str, str, str]:
    return record.fields[f"warc-{url}"], record.fields[f"warc-{date}"], record.fields["warc-payload-digest"]


def test_received_is_what_the_server_sent(server: SiteServer, crawl: CrawlFactory, odd: OddSite) -> None:
    """By run: heads and bodies as they were transferred. What codings and conditional requests saved is told beside it."""
    listener = server.listen()
    server.put("", odd.site())
    running = crawl({"Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01})
    received = 0
    for number in range(2):
        odd.sent.clear()
        finished = running.command("run", "--conf", str(running.conf), "--archive", listener.url())
        summary = json.loads(finished.out.splitlines()[-1])
        on_wire = sum(received_of(message) for _, message in odd.sent)
        received += on_wire
        assert summary["received"] == on_wire
        coded = [(path, parts_of(message)) for path, message in odd.sent if b"content-encoding:" in message.lower()]
        saved = sum(len(DOCUMENTS.get(path, NOT_HERE)) - len(parts.body) for path, parts in coded if parts.body)
        confirmed = sum(len(DOCUMENTS[path]) for path, message in odd.sent if message[9:12] == b"304")
        assert summary["saved"] == ({"coding": saved, "conditional": confirmed} if number else {"coding": saved})
        status = running.status()
        counts = status["last_run"]["counts"]
        assert (counts["received"], counts["saved_by_coding"], counts.get("saved_by_conditional", 0)) == (
            on_wire,
            saved,
            confirmed,
        )
        assert [one["received"] for one in status["top_sites"]] == [received]


# --- what does not go out as it was sent ---------------------------------------------------------------------------------


def test_libcurl_joins_folded_headers(server: SiteServer, crawl: CrawlFactory, odd: OddSite, tmp_path: Path) -> None:
    """RFC 9112, section 5.2, has a client put blanks in place of a fold. libcurl tells no callback of the lines before that."""
    running, listener = crawl_twice(server, crawl, odd)
    found, _ = _answers(blocks(export_warc(running, tmp_path / "out")), listener.url("/folded"))
    sent = odd.sent_for("/folded")[0]
    assert found.block in (sent, re.sub(rb"\r\n[ \t]+", b" ", sent))  # Older ones hand over each line.


def test_line_ends_are_those_of_http(server: SiteServer, crawl: CrawlFactory, odd: OddSite, tmp_path: Path) -> None:
    running, listener = crawl_twice(server, crawl, odd)
    found, _ = _answers(blocks(export_warc(running, tmp_path / "out")), listener.url("/lines"))
    head, _, body = odd.sent_for("/lines")[0].partition(b"\n\n")
    assert found.block == head.replace(b"\n", b"\r\n") + b"\r\n\r\n" + body
    archive = BytesIO(_warc(odd.sent_for("/lines")[0]))
    (as_sent,) = [record.reader.read() for record in ArchiveIterator(archive, auto_decode="all")]
    assert as_sent != body, "fastwarc reads it, so such heads can go out as they came"


def test_trailers_stop_readers(odd: OddSite) -> None:
    """So they are left out: an answer that was sent with trailers ends with its chunk."""
    message = odd.messages["/trailers"]
    one = b"%x\r\n%s\r\n0\r\nX-Sum: 1\r\n\r\n" % (len(DOCUMENTS["/trailers"]), DOCUMENTS["/trailers"])
    archive = BytesIO(_warc(_parted(message)[0] + one) * 2)
    with pytest.raises(OSError, match="Invalid chunk header"):  # noqa: PT012 (each record has to be read)
        for record in ArchiveIterator(archive, auto_decode="all"):
            record.reader.read()
    assert joined(message).endswith(b"\r\n0\r\n\r\n")


@pytest.mark.parametrize("path", ["/gzip-in-chunks", "/br-in-chunks"])
def test_fastwarc_loses_its_place_behind_a_coded_body_in_chunks(odd: OddSite, path: str) -> None:
    """So such a body goes out without its chunks. When this fails, it can go out as it came.

    Two decoders, one in the other, take the file's reader from the iterator, whatever the bytes are. The iterator then ends as
    if the file did. A record whose digest is checked is read into memory before, and does no harm.
    """
    archive = _warc(joined(odd.messages[path])) * 3
    bodies = [record.reader.read() for record in ArchiveIterator(BytesIO(archive), auto_decode="all")]
    assert bodies == [DOCUMENTS[path]]
    checked = ArchiveIterator(BytesIO(archive), auto_decode="all", verify_digests=True)
    assert [record.reader.read() for record in checked] == [DOCUMENTS[path]] * 3


def _warc(block: bytes) -> bytes:
    """A record as a WARC file has it, as a gzip member."""
    fields = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:6a1c0f0e-0000-4000-8000-000000000000>\r\n"
        b"WARC-Date: 2026-03-04T05:06:07Z\r\nWARC-Target-URI: http://a.example/\r\nWARC-Block-Digest: sha256:%s\r\n"
        b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
    ) % (sha256(block).hexdigest().encode(), len(block))
    return zlib.compress(fields + block + b"\r\n\r\n", 1, 31)
