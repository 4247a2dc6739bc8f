"""Archives become members, within bounds, whatever their authors had in mind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import Member, Skipped
from parcahyd.formats.archives import ArchiveExpander
from parcahyd.rules.urls.canonical_url import clean_name
from parcahyd.testing import check_expander

URL = "http://a.test/files/archive"
Content = Iterable[tuple[str, bytes]]
FILES = (("index.html", b"<a href=b.html>b</a>"), ("docs/b.html", b"<p>b"), ("docs/empty.txt", b""))


def _zip(files: Content, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return file.getvalue()


def _tar(files: Content, form: int = tarfile.PAX_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, content in files:
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return file.getvalue()


def _expand(body: bytes, url: str = URL, **settings: int) -> list[Member]:
    return list(ArchiveExpander(WorkConf(**settings)).expand(body, "application/zip", url))  # type: ignore[arg-type]  # numbers


PACKERS: dict[str, Callable[[Content], bytes]] = {
    "zip": _zip,
    "stored zip": lambda files: _zip(files, zipfile.ZIP_STORED),
    "zip behind a program": lambda files: b"PK" + b"program" * 100 + _zip(files),
    "tar": _tar,
    "gnu tar": lambda files: _tar(files, tarfile.GNU_FORMAT),
    "ustar": lambda files: _tar(files, tarfile.USTAR_FORMAT),
    "tar.gz": lambda files: gzip.compress(_tar(files)),
    "tar.gz in two streams": lambda files: gzip.compress(_tar(files)[:700]) + gzip.compress(_tar(files)[700:]),
    "tar.gz with a tail": lambda files: gzip.compress(_tar(files)) + b"\0" * 100,
    "tar.bz2": lambda files: bz2.compress(_tar(files)),
    "tar.xz": lambda files: lzma.compress(_tar(files)),
}


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_members_come_in_order_with_their_bytes(pack: Callable[[Content], bytes]) -> None:
    assert _expand(pack(FILES)) == [Member(name, content) for name, content in FILES]


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_it_conforms(pack: Callable[[Content], bytes]) -> None:
    check_expander(ArchiveExpander, {"application/zip": pack(FILES)}, [name for name, _ in FILES])


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_long_and_foreign_names(pack: Callable[[Content], bytes]) -> None:
    long = "/".join(["x" * 60] * 3) + "/ä.txt"
    assert [member.name for member in _expand(pack([(long, b"1"), ("ü/ß", b"2")]))] == [long, "ü/ß"]


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_names_cannot_leave_the_archive_and_count_once(pack: Callable[[Content], bytes]) -> None:
    names = ["../../etc/passwd", "/abs", "a/./b//c", "abs", "..", "C:\\dir\\f.txt"]
    assert [(member.name, member.skipped) for member in _expand(pack([(name, b"x") for name in names]))] == [
        ("etc/passwd", ""),
        ("abs", ""),
        ("a/b/c", ""),
        ("abs", Skipped.DUPLICATE),
        ("", Skipped.NAME),
        ("dir/f.txt", ""),
    ]


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_the_bounds(pack: Callable[[Content], bytes]) -> None:
    noise = random.Random(1).randbytes(1000)
    body = pack([("a", noise), ("b", noise * 3), ("c", noise)])
    assert [(m.name, len(m.body), m.skipped) for m in _expand(body, MaxBytes=2000)] == [
        ("a", 1000, ""),
        ("b", 0, Skipped.SIZE),
        ("c", 1000, ""),
    ]
    few = _expand(body, ExpandMembers=1)
    assert sum(bool(member.body) for member in few) <= 1
    assert few[-1].skipped == Skipped.MEMBERS
    little = _expand(body, ExpandBytes=2500)
    assert little[-1].skipped == Skipped.BYTES
    assert sum(len(member.body) for member in little) <= 2500


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_archives_within_stay_members(pack: Callable[[Content], bytes]) -> None:
    inner = _zip(FILES)
    assert _expand(pack([("inner.zip", inner)])) == [Member("inner.zip", inner)]


BOMB = bytes(50_000_000)
BOMBS: dict[str, Callable[[], bytes]] = {
    "zip": lambda: _zip([("a", BOMB)]),
    "gzip": lambda: gzip.compress(BOMB),
    "bzip2": lambda: bz2.compress(BOMB),
    "xz": lambda: lzma.compress(BOMB, preset=0),
    "tar.gz": lambda: gzip.compress(_tar([("a", BOMB)])),
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS)
def test_bombs_do_not_go_off(make: Callable[[], bytes]) -> None:
    (member,) = _expand(make(), MaxBytes=100_000_000, ExpandBytes=1_000_000_000)
    assert (member.body, member.skipped) == (b"", Skipped.RATIO)


def test_members_that_lie_over_each_other_are_counted_each_time() -> None:
    """One body of compressed data, and a directory that names it a thousand times."""
    content = random.Random(2).randbytes(1000) * 1000
    archive = bytearray(_zip([("a", content)]))
    end = archive.rfind(b"PK\x05\x06")
    start = archive.find(b"PK\x01\x02")
    entry = bytes(archive[start:end])
    directory = b"".join(entry[:46] + bytes([97 + i % 26]) + entry[47:] for i in range(1000))
    ending = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1000, 1000, len(directory), start, 0)
    forged = bytes(archive[:start]) + directory + ending
    members = _expand(forged, ExpandBytes=3_500_000)
    assert [len(member.body) for member in members] == [1_000_000] * 3 + [0]
    assert members[-1].skipped in (Skipped.BYTES, Skipped.RATIO)


def test_damaged_members_that_lie_over_each_other_are_counted_each_time() -> None:
    """What came out before the damage was unpacked all the same."""
    content = random.Random(2).randbytes(1000) * 1000
    packing = zlib.compressobj(wbits=-15)
    cut = packing.compress(content) + packing.flush(zlib.Z_SYNC_FLUSH)
    start = b"PK\x03\x04" + struct.pack("<5H3L2H", 20, 0, 8, 0, 0, 0, len(cut), len(content), 1, 0) + b"a" + cut
    sizes = (len(cut), len(content), 1, 0, 0, 0, 0, 0, 0)
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, zlib.crc32(content), *sizes) + b"a"
    ending = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1000, 1000, 1000 * len(entry), len(start), 0)
    members = _expand(start + 1000 * entry + ending, ExpandBytes=3_500_000)
    assert [member.skipped for member in members] == [Skipped.DAMAGED] * 3 + [Skipped.BYTES]


def test_a_directory_of_many_folders_is_not_read_to_its_end() -> None:
    assert _expand(_zip([(f"{i}/", b"") for i in range(50)]), ExpandMembers=10) == [Member("", skipped=Skipped.MEMBERS)]


def test_encrypted_and_oddly_packed_members_are_skipped() -> None:
    body = bytearray(_zip([("secret", b"x"), ("plain", b"y")], zipfile.ZIP_STORED))
    body[body.find(b"PK\x01\x02") + 8] |= 1
    assert [(m.name, m.skipped) for m in _expand(bytes(body))] == [("secret", Skipped.ENCRYPTED), ("plain", "")]
    assert [m.skipped for m in _expand(_zip([("a", b"x" * 1000)], zipfile.ZIP_BZIP2))] == [Skipped.METHOD]


def test_links_and_devices_are_skipped() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            about = tarfile.TarInfo(f"kind{kind.decode()}")
            about.type, about.linkname = kind, "/etc/passwd"
            archive.addfile(about)
        archive.addfile(tarfile.TarInfo("file"))
    assert [(m.name, m.skipped) for m in _expand(file.getvalue())] == [
        ("kind2", Skipped.NOT_A_FILE),
        ("kind1", Skipped.NOT_A_FILE),
        ("kind3", Skipped.NOT_A_FILE),
        ("file", ""),
    ]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        about_link = zipfile.ZipInfo("link")
        about_link.create_system, about_link.external_attr = 3, 0o120777 << 16
        zipped.writestr(about_link, "/etc/passwd")
    assert [m.skipped for m in _expand(file.getvalue())] == [Skipped.NOT_A_FILE]


def test_damage_is_told() -> None:
    body = bytearray(_zip([("a", b"hello"), ("b", b"world")], zipfile.ZIP_STORED))
    body[body.find(b"hello")] ^= 1
    assert [m.skipped for m in _expand(bytes(body))] == [Skipped.DAMAGED, ""]
    whole = gzip.compress(_tar([("a", random.Random(3).randbytes(3000)), ("b", b"y")]))
    assert [m.skipped for m in _expand(whole[:1500])] == [Skipped.DAMAGED, Skipped.DAMAGED]
    assert [m.skipped for m in _expand(gzip.compress(b"x" * 100)[:-4])] == [Skipped.DAMAGED]
    damaged = bytearray(_tar(FILES))
    damaged[0] ^= 1
    assert _expand(bytes(damaged)) == [Member("", skipped=Skipped.DAMAGED)]


def test_what_is_no_archive_has_no_members() -> None:
    for body in (b"", b"PK", b"hello", b"\x1f", b"PK\x05\x06" + bytes(18)):
        assert _expand(body) == []


def test_a_single_compressed_file_is_named_by_its_header_or_by_the_url() -> None:
    file = io.BytesIO()
    with gzip.GzipFile("inside.txt", "wb", fileobj=file) as zipped:
        zipped.write(b"x")
    assert _expand(file.getvalue()) == [Member("inside.txt", b"x")]
    for url, name in {
        "http://a.test/d/list.txt.gz?x=1": "list.txt",
        "http://a.test/list%20of.TXT.GZ": "list of.TXT",
        "http://a.test/drawing.svgz": "drawing.svg",
        "http://a.test/": "content",
        "http://a.test/.gz": ".gz",
    }.items():
        assert _expand(gzip.compress(b"x"), url) == [Member(name, b"x")]
    assert _expand(bz2.compress(b"x"), "http://a.test/a.bz2") == [Member("a", b"x")]


def test_an_archive_that_says_its_sizes_in_wide_fields() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("a", "w", force_zip64=True) as member:
        member.write(b"wide")
    assert _expand(file.getvalue()) == [Member("a", b"wide")]


def test_many_small_streams_end_soon() -> None:
    (member,) = _expand(gzip.compress(b"x") * 5000)
    assert len(member.body) <= 5000


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([pack(FILES) for pack in PACKERS.values()]), st.data())
def test_damaged_archives_never_raise_and_keep_to_the_contract(body: bytes, data: st.DataObject) -> None:
    broken = bytearray(body[: data.draw(st.integers(0, len(body)))])
    for _ in range(data.draw(st.integers(0, 8))):
        if broken:
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    members = _expand(bytes(broken), ExpandMembers=10, ExpandBytes=10_000)
    names = [member.name for member in members if not member.skipped]
    assert len(names) == len(set(names))
    assert all(name and clean_name(name) == name for name in names)
    assert sum(len(member.body) for member in members) <= 10_000
    assert all(not member.body for member in members if member.skipped)
