"""Everything that reads what others wrote: damaged in any way, it gives a result or its own refusal, the same each time.

Each reader has its samples, most of them from files that stand in this repository. They are cut, doubled, mixed and littered.
The tests of each reader say what it makes of good input; this one says that no input is too bad.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import os
import tarfile
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parcahyd.augment.bundle import read_bundle, write_bundle
from parcahyd.augment.line_changes import compare_lines
from parcahyd.augment.tol import TolHead, link_line, read_tol, write_tol
from parcahyd.augment.tvi import Region, Tvi, read_tvi, write_tvi
from parcahyd.config.loading import load
from parcahyd.config.remembered import GIVEN, read_record, recorded, take_over
from parcahyd.config.remembered import given as given_settings
from parcahyd.config.schema import Configuration, HostRule, MapConf, WorkConf
from parcahyd.core.documents import Member
from parcahyd.core.errors import ConfigurationError, UserError
from parcahyd.core.messages import FromWorkerToCoordinator, Notice, RequestProcessed, Watched, WatchStep
from parcahyd.core.records import DueUrl, Pause
from parcahyd.export.heads import agreeing_head
from parcahyd.export.offline_pages import offline_page
from parcahyd.export.page_text import page_line
from parcahyd.formats.archives import ArchiveExpander
from parcahyd.formats.html_summary import HtmlSummarizer
from parcahyd.formats.office_summary import OfficeSummarizer
from parcahyd.formats.summaries import TextSummarizer
from parcahyd.formats.xml_summary import XmlSummarizer
from parcahyd.importing.archive_files import ArchiveFile
from parcahyd.importing.captures import captures
from parcahyd.importing.http_answers import UnusableAnswer, answer_of
from parcahyd.importing.records import Limits
from parcahyd.net.cookie_jar import read_set_cookie
from parcahyd.net.http_heads import headers_of
from parcahyd.partition.locations.delegated import read_delegations
from parcahyd.partition.locations.hierarchy import build_hierarchy
from parcahyd.partition.locations.hierarchy_file import decode_hierarchy, encode_hierarchy
from parcahyd.partition.locations.knowledge import Knowledge
from parcahyd.rules.html.link_header import read_link_headers
from parcahyd.rules.html.links import read_links, read_tree
from parcahyd.rules.html.xml_links import read_xml_links
from parcahyd.rules.listings.ftp_listing import ftp_references
from parcahyd.rules.listings.gopher_menu import gopher_references
from parcahyd.rules.media_types.containers import entries, ole_kind, zip_kind
from parcahyd.rules.media_types.media_type import recognise
from parcahyd.rules.politeness.backoff import retry_after
from parcahyd.rules.robots.robots_file import Robots
from parcahyd.rules.sitemaps.reader import read_sitemap
from parcahyd.rules.urls.canonical_url import canonical
from parcahyd.runtime.channel import Channel, socket_pair
from parcahyd.topics.linear import train_linear
from parcahyd.topics.model import read_model
from parcahyd.topics.words import html_words
from tests.export.samples import exchange
from tests.importing.archives import answer, response
from tests.topics.small_corpus import corpus

_ROOT = Path(__file__).resolve().parents[2]
_SITE = _ROOT / "parcahyd" / "sample" / "site"
_SITEMAPS = _ROOT / "tests" / "conformance" / "sitemaps"
_URL = "http://site.example/a/b.html"
_EXAMPLES = 2000 if os.environ.get("PARCAHYD_TORTURE") else 60
_LITTER = (
    b"\x00",
    b"\xff\xfe",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"&#x110000;",
    b"\r\n\r\n",
    b"PK\x03\x04",
    b"%00",
    b"\xf0\x9f",
    b'"',
)


def _zip(names: Sequence[str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, f'<?xml version="1.0"?><w xmlns:w="x"><w:t>{name}</w:t></w>' * 5)
    return made.getvalue()


def _ole() -> bytes:
    """A header that says where the directory is, and a directory of one stream."""
    name = "WordDocument".encode("utf-16-le") + b"\0\0"
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(30, b"\0") + (9).to_bytes(2, "little")
    return header.ljust(512, b"\0") + name.ljust(64, b"\0") + len(name).to_bytes(2, "little") + bytes(500)


def _tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name in ("a.html", "b/c.txt"):
            member = tarfile.TarInfo(name)
            member.size = 300
            archive.addfile(member, io.BytesIO(b"x" * 300))
    return made.getvalue()


def _table() -> bytes:
    lines = [link_line("news/1.html", "a", (("text", "First"),)), link_line("img/kettle.png", "img")]
    table = write_tol(TolHead("kettle.html", bytes(32), 357, 1), b"".join(lines))
    assert isinstance(table, bytes)
    return table


def _bundle() -> bytes:
    bundle = write_bundle([_table(), _table()])
    assert isinstance(bundle, bytes)
    return bundle


def _tables() -> list[bytes]:
    regions = (Region("price", 151, b"11.00 EUR"), Region("stock", 193, b"104"))
    table = write_tvi(Tvi("kettle.html", bytes(32), 296, bytes(32), 308, regions))
    assert isinstance(table, bytes)
    return [table, _table()]


def _files(*paths: Path) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes()[:20_000] for path in paths]


def _text(body: bytes) -> str:
    return body.decode("latin-1")


def _expanded(body: bytes) -> list[tuple[str, int]]:
    found = ArchiveExpander(WorkConf(MaxBytes=100_000)).expand(body, "application/zip", _URL)
    return [(member.name, len(member.body)) for member in found if isinstance(member, Member)]


def _robots(body: bytes) -> tuple[list[bool], list[str]]:
    rules = Robots.parse(body, "parcahyd")
    return [rules.allows(url) for url in (_URL, "http://site.example/private/x")], list(rules.sitemaps)


def _settings_files(body: bytes) -> str:
    folder = Path(os.environ["PARCAHYD_TEST_FOLDER"])
    (folder / "WorkConf.toml").write_bytes(body)
    try:
        return repr(load(folder).work)
    except ConfigurationError as error:
        return error.message


def _settings_of_a_run(body: bytes) -> str:
    try:
        agreed = take_over(Configuration(MapConf(), WorkConf()), read_record(body.decode("utf-8", "surrogateescape")))
        return repr((agreed.configuration.work, agreed.told))
    except UserError as error:
        return str(error)


def _runs() -> list[bytes]:
    works = [
        WorkConf(HostDelay=5.0, Exclude=("*/private/*", "re:[?&]x="), Scope="any", RevisitMin=5.0),
        WorkConf(Order="a.dotted:path", Cookies=True, Host=(HostRule(Pattern="a.example", Headers={"Accept": "b"}),)),
    ]
    made = [Configuration(MapConf(AllowAddresses=("10.0.0.0/8",) * (len(work.Host))), work) for work in works]
    return [msgspec.json.encode({**recorded(one), GIVEN: given_settings(one)}) for one in made]


def _archive(body: bytes) -> list[Any]:
    file = Path(os.environ["PARCAHYD_TEST_FOLDER"]) / "archive"
    file.write_bytes(body)
    told: list[Any] = []

    def damaged(_file: str, at: int, sentence: str) -> None:
        told.append((at, sentence))

    try:
        records = ArchiveFile(file).records(Limits(10_000), damaged, lambda _: None)
        found = [(one.url, one.at) for one in captures(records, 10_000, 1.8e9, Counter(), told.append, damaged)]
    except UserError as error:
        return [error.message]
    return [*told, *found]


def _archives() -> list[bytes]:
    plain = [response(f"http://a.example/{number}", b"tea" * number) for number in (1, 20)]
    arc = (
        b"filedesc://a 0.0.0.0 20200101000000 text/plain 9\n1 0 tea\na\n\n"
        b"http://a.example/ 192.0.2.1 20200101000000 text/html 3\ntea\n"
    )
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as made:
        made.writestr(zipfile.ZipInfo("archive/a.warc.gz"), b"".join([gzip.compress(one, mtime=0) for one in plain]))
    return [
        b"".join(plain),
        b"".join([gzip.compress(one, mtime=0) for one in plain]),
        arc,
        gzip.compress(arc, mtime=0),
        package.getvalue(),
    ]


def _answer_in_archive(body: bytes) -> Any:
    try:
        result = answer_of(body, "", 10_000)
    except UnusableAnswer as error:
        return str(error)
    return result.status, result.headers, result.body


def _topic(body: bytes) -> Any:
    try:
        return read_model(body, "m").head
    except UserError as error:
        return str(error)


_HTML = _files(*sorted(_SITE.rglob("*.html")))
_XML = _files(*sorted(_SITEMAPS.rglob("*.xml")), _SITE / "img" / "plan.svg")
_OFFICE = ["word/document.xml", "docProps/core.xml", "word/_rels/document.xml.rels", "[Content_Types].xml"]

_LOCATIONS = _ROOT / "tests" / "partition" / "locations"
_RANGES = (_LOCATIONS / "ipv4-2018.tsv", _LOCATIONS / "delegated-made-extended-latest")


def _ranges(body: bytes) -> Any:
    try:
        return build_hierarchy(read_delegations(io.BytesIO(body), "file"))
    except UserError as refusal:
        return str(refusal)


def _hierarchy(body: bytes) -> Any:
    """As if whoever damaged the file had made its checksum anew."""
    try:
        return decode_hierarchy(body[:-32] + sha256(body[:-32]).digest(), "file")
    except UserError as refusal:
        return str(refusal)


def _hierarchies() -> list[bytes]:
    return [encode_hierarchy(_ranges(sample)) for sample in _files(*_RANGES)()]


def _measurements(body: bytes) -> Any:
    try:
        return Knowledge.decode(body, b"").encode()
    except ValueError as refusal:
        return str(refusal)


def _knowledge() -> list[bytes]:
    found = Knowledge(b"")
    for number in range(20):
        found.landmarks.note(number * 1000, number % 3, 0.01 * number)
        found.others.note(number * 1001, number % 5, 0.02 * number)
    return [found.encode()]


# By name: the reader, and its samples.
_CHANGED = b"<!doctype html>\n<title>Kettles</title>\n" + b"<p>warm</p>" * 100
_READERS: dict[str, tuple[Callable[[bytes], Any], Callable[[], list[bytes]]]] = {
    "robots.txt": (_robots, _files(_SITE / "robots.txt", _ROOT / "tests/conformance/robots_spec/groups.textproto")),
    "sitemap": (read_sitemap, _files(*sorted(_SITEMAPS.rglob("*.*")))),
    "links of html": (lambda body: read_links(body, "").lines, _HTML),
    "links of a tree": (lambda body: read_tree(body, "").lines, _HTML),
    "page to browse offline": (lambda body: offline_page(body, "", _URL, "site.example/a/b.html", lambda _: "x/y.html"), _HTML),
    "words of html": (html_words, _HTML),
    "model of topics": (_topic, lambda: [train_linear(corpus(2), language).encode() for language in ("en", "de")]),
    "changed lines": (lambda body: compare_lines(_CHANGED, body, is_markup=True), _HTML),
    "page to search": (lambda body: page_line(exchange(_URL, body), ""), _HTML),
    "head to export": (
        lambda body: agreeing_head(body, 7),
        lambda: [b"Content-Encoding: gzip\r\nX: a\r\nContent-Length: 9\r\n"],
    ),
    "records of an archive": (_archive, _archives),
    "answer in an archive": (
        _answer_in_archive,
        lambda: [
            answer(b"3\r\ntea\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
            answer(gzip.compress(b"tea", mtime=0), "Content-Encoding: gzip"),
        ],
    ),
    "links of xml": (lambda body: read_xml_links(body, "").lines, _XML),
    "listing of an ftp folder": (
        ftp_references,
        lambda: [b"total 2\r\ndrwxr-xr-x 2 a b 4096 Nov 18 12:00 pub\r\n11-18-26  12:00PM  <DIR>  x\r\n"],
    ),
    "menu of a gopher server": (
        gopher_references,
        lambda: [b"iwelcome\t\tx\t1\r\n1menu\t/a b\thole.test\t70\r\nhweb\tURL:http://x.test/\thole.test\t70\r\n.\r\n"],
    ),
    "Link header": (
        lambda body: read_link_headers([_text(body)], _URL).lines,
        lambda: [
            b"<a.html>; rel=\"next\"; title*=UTF-8''x, </b>; rel=canonical",
            b"<https://x.example/>;rel=alternate;hreflang=de",
        ],
    ),
    "table of links": (read_tol, lambda: [_table()]),
    "table of variable information": (read_tvi, _tables),
    "bundle": (read_bundle, lambda: [_bundle()]),
    "header block": (
        headers_of,
        lambda: [b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n folded\r\nA: b\r\n\r\n"],
    ),
    "media type": (lambda body: recognise(_text(body[:60]), body), lambda: [*_HTML()[:2], _zip(_OFFICE), _tar(), b"%PDF-1.7"]),
    "Set-Cookie": (
        lambda body: repr(read_set_cookie(_text(body), 0.0)),
        lambda: [b"a=b; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Max-Age=60; Secure; SameSite=Lax; Domain=.x.example"],
    ),
    "Retry-After": (lambda body: retry_after(_text(body), 0.0), lambda: [b"120", b"Wed, 21 Oct 2026 07:28:00 GMT", b"1.5"]),
    "URL": (
        lambda body: canonical(_text(body)),
        lambda: [b"https://user:x@Example.ORG:443/a/../b?x=%20#y", b"http://[::1]:80/", b"ftp://x/;type=i"],
    ),
    "zip": (lambda body: [zip_kind(body), *map(repr, entries(body))], lambda: [_zip(_OFFICE), _zip(["a.html", "mimetype"])]),
    "ole": (ole_kind, lambda: [_ole()]),
    "archive": (_expanded, lambda: [_zip(["a.html", "b/c.txt"]), _tar(), gzip.compress(b"x" * 500)]),
    "summary of html": (lambda body: HtmlSummarizer().summarize(body, "text/html", "", _URL), _HTML),
    "summary of xml": (lambda body: XmlSummarizer().summarize(body, "application/xml", "", _URL), _XML),
    "summary of text": (lambda body: TextSummarizer().summarize(body, "text/plain", "", _URL), _files(_ROOT / "README.md")),
    "summary of an office document": (
        lambda body: OfficeSummarizer().summarize(
            body, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "", _URL
        ),
        lambda: [_zip(_OFFICE)],
    ),
    "ranges of addresses": (_ranges, _files(*_RANGES)),
    "file of the registries": (_hierarchy, _hierarchies),
    "measurements of a pipeline": (_measurements, _knowledge),
    "settings of a run": (_settings_of_a_run, _runs),
    "settings": (_settings_files, _files(_ROOT / "conf" / "WorkConf.toml", _ROOT / "conf" / "MapConf.toml")),
}


@cache
def _samples(name: str) -> list[bytes]:
    return [sample for sample in _READERS[name][1]() if sample]


@st.composite
def _damaged(draw: st.DrawFn, samples: Sequence[bytes]) -> bytes:
    """A sample with a few damages."""
    body = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 4))):
        begin, end = sorted((draw(st.integers(0, len(body))), draw(st.integers(0, len(body)))))
        match draw(st.sampled_from(("cut", "drop", "double", "litter", "flip", "mix"))):
            case "cut":
                body = body[:end]
            case "drop":
                body = body[:begin] + body[end:]
            case "double":
                body = body[:end] + body[begin : begin + 5000] + body[end:]
            case "litter":
                body = body[:begin] + draw(st.sampled_from(_LITTER) | st.binary(max_size=20)) + body[begin:]
            case "flip":
                body = body[:begin] + bytes(255 - value for value in body[begin : begin + 3]) + body[begin + 3 :]
            case _:
                body = body[:begin] + draw(st.sampled_from(samples))[begin:]
    return body


@pytest.mark.parametrize("name", _READERS)
def test_no_damage_is_too_much(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARCAHYD_TEST_FOLDER", str(tmp_path))
    read = _READERS[name][0]

    @settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(_damaged(_samples(name)))
    def check(body: bytes) -> None:
        assert repr(read(body)) == repr(read(body))

    check()


@pytest.mark.parametrize("name", _READERS)
def test_the_samples_are_good(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage to what means nothing shows nothing: different samples give different results, none of them empty."""
    monkeypatch.setenv("PARCAHYD_TEST_FOLDER", str(tmp_path))
    read, samples = _READERS[name][0], _samples(name)
    assert any(read(sample) for sample in samples)
    assert len({repr(read(sample)) for sample in (*samples, b"")}) > 1


_MESSAGES: tuple[FromWorkerToCoordinator, ...] = (
    Notice("a sentence"),
    RequestProcessed(7, 3, 4, (Pause("host a.example", 12.5),)),
    Watched(7, 3, 1, WatchStep.SENT, DueUrl(1, "/x", is_suspect=True)),
    Watched(7, 3, 1, WatchStep.OVER),
)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(st.lists(st.sampled_from(_MESSAGES), min_size=1, max_size=12), st.lists(st.integers(0, 2000), max_size=6))
def test_messages_arrive_whole_however_their_frames_are_cut(messages: list[FromWorkerToCoordinator], cuts: list[int]) -> None:
    loop = asyncio.new_event_loop()
    here, there = socket_pair()
    heard: list[Any] = []
    channel = Channel(here, loop, FromWorkerToCoordinator, loop.stop)
    for kind in (Notice, RequestProcessed, Watched):
        channel.on(kind, heard.append)
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in map(msgspec.msgpack.encode, messages))
    places = sorted({0, len(stream), *[cut % len(stream) for cut in cuts]})
    pieces = deque(stream[begin:end] for begin, end in pairwise(places))

    def send() -> None:
        if pieces:
            there.sendall(pieces.popleft())
            loop.call_soon(send)
        else:
            there.close()

    loop.call_soon(send)
    loop.run_forever()
    loop.close()
    assert heard == messages
