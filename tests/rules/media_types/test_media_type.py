"""What kind of document an answer is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.media_types.containers import entries
from parcahyd.rules.media_types.media_type import AcceptedTypes, is_html, recognise

HEADERS = {
    "text/html": ("text/html", ""),
    "text/html; charset=UTF-8": ("text/html", "utf-8"),
    'text/html;charset="utf-8"': ("text/html", "utf-8"),
    "TEXT/HTML ; Charset = 'Latin1' ": ("text/html", "latin1"),
    "text/html;;; x; charset=; charset=koi8-r; charset=utf-8": ("text/html", "koi8-r"),
    'text/html; x="a,b;charset=q"; charset=z': ("text/html", "z"),
    'text/html; charset="utf-8': ("text/html", "utf-8"),
    "text/html, text/html; charset=a": ("text/html", "a"),
    "text/html; charset=a, text/html": ("text/html", "a"),
    "text/html; charset=a, image/png": ("image/png", ""),
    "text/html; charset=a, junk": ("text/html", "a"),
    "application/xhtml+xml": ("application/xhtml+xml", ""),
    "image/svg+xml; charset=utf-8": ("image/svg+xml", "utf-8"),
    "application/x-odd.type": ("application/x-odd.type", ""),
}


@pytest.mark.parametrize(("header", "expected"), HEADERS.items())
def test_a_header_that_says_something_is_believed(header: str, expected: tuple[str, str]) -> None:
    assert recognise(header, b"anything") == expected


CONTENTS = {
    b"<!DOCTYPE html><p>": "text/html",
    b"\xef\xbb\xbf \n<HTML lang=en>": "text/html",
    b"<!-- <?xml --> <!-- --><body>": "text/html",
    b"<!-- only a comment": "text/html",
    b"<a href=x>": "text/html",
    b"<article>": "text/plain",
    b"<?xml version='1.0'?><catalogue>": "text/xml",
    b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>\n<html xmlns='http://www.w3.org/1999/xhtml'>": "application/xhtml+xml",
    b"%PDF-1.7": "application/pdf",
    b"%pdf-1.7": "text/plain",
    b"\x89PNG\r\n\x1a\n\x00": "image/png",
    b"\xff\xd8\xff\xe0": "image/jpeg",
    b"GIF89a\x00": "image/gif",
    b"RIFF\x00\x01\x02\x03WEBPVP8 ": "image/webp",
    b"PK\x03\x04\x14": "application/zip",
    b"\x1f\x8b\x08\x00": "application/gzip",
    b"hello\r\n\tw\xf6rld\x1b[0m\x0c": "text/plain",
    b"\xff\xfeh\x00i\x00": "text/plain",
    b"": "text/plain",
    b"\x00\x01": "application/octet-stream",
    b"text\x07": "application/octet-stream",
}


@pytest.mark.parametrize(("body", "expected"), CONTENTS.items())
@pytest.mark.parametrize(
    "header", ["", "junk", "text", "/html", "*/*", "application/octet-stream", "binary/octet-stream; charset=x"]
)
def test_a_header_that_says_nothing_leaves_it_to_the_bytes(header: str, body: bytes, expected: str) -> None:
    assert recognise(header, body) == (expected, "x" if "charset" in header else "")


def test_plain_text_is_never_raised_to_html() -> None:
    assert recognise("text/plain", b"<html>") == ("text/plain", "")
    assert recognise("text/plain", b"<html>\x00") == ("application/octet-stream", "")
    assert recognise("text/plain", b"%PDF-\x00") == ("application/pdf", "")
    assert recognise("text/plain; charset=UTF-16LE", b"h\x00i\x00") == ("text/plain", "utf-16le")
    assert recognise("text/plain", b"\xfe\xff\x00h") == ("text/plain", "")


def test_only_the_first_bytes_are_looked_at() -> None:
    assert recognise("text/plain", b"x" * 2000 + b"\x00") == ("text/plain", "")
    assert recognise("", b"<!--" + b"x" * 2000 + b"--><rss>") == ("text/html", "")


def test_which_types_are_read_for_links() -> None:
    assert is_html("text/html")
    assert is_html("application/xhtml+xml")
    assert not is_html("text/plain")
    assert not is_html("application/xml")


@pytest.mark.parametrize("header", ['"' * 5000, "text/html;" + '"\\' * 5000, "a/" * 5000, ";charset=" * 5000, "," * 5000])
def test_hostile_headers_are_read_to_the_end(header: str) -> None:
    media_type, charset = recognise(header, b"<html>")
    assert media_type == "text/html"
    assert charset == ""


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.text(max_size=60), st.text(alphabet="texhml/;,=\"\\' charset", max_size=60)), st.binary(max_size=60))
def test_no_answer_raises_and_types_are_lower_case(header: str, body: bytes) -> None:
    media_type, charset = recognise(header, body)
    assert "/" in media_type
    assert media_type == media_type.lower()
    assert charset == charset.lower()


# --- formats by content -------------------------------------------------------------------------------------------------

_OOXML = "application/vnd.openxmlformats-officedocument."
_ODT = "application/vnd.oasis.opendocument.text"


def _zip(*names: str, mimetype: str = "", before: bytes = b"") -> bytes:
    """What an office suite writes, as far as names go."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype, zipfile.ZIP_STORED)
        for name in names:
            archive.writestr(name, f"the content of {name}")
    return before + file.getvalue()


def _ole(*streams: str, sector: int = 9) -> bytes:
    """The header of a compound file, and its directory in the third sector."""
    header = bytearray(1 << sector)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    header[30:32] = sector.to_bytes(2, "little")
    header[48:52] = (2).to_bytes(4, "little")
    directory = b""
    for name in ("Root Entry", *streams):
        text = name.encode("utf-16-le") + b"\0\0"
        directory += text.ljust(64, b"\0") + len(text).to_bytes(2, "little") + bytes(62)
    return bytes(header) + bytes(2 << sector) + directory


def _tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return file.getvalue()


FORMATS = {
    "docx": (_zip("[Content_Types].xml", "_rels/.rels", "word/document.xml"), f"{_OOXML}wordprocessingml.document"),
    "xlsx": (_zip("[Content_Types].xml", "xl/workbook.xml"), f"{_OOXML}spreadsheetml.sheet"),
    "pptx": (_zip("[Content_Types].xml", "ppt/presentation.xml"), f"{_OOXML}presentationml.presentation"),
    "odt": (_zip("content.xml", mimetype=_ODT), _ODT),
    "epub": (_zip("META-INF/container.xml", mimetype="application/epub+zip"), "application/epub+zip"),
    "jar": (_zip("META-INF/MANIFEST.MF", "A.class"), "application/java-archive"),
    "apk": (_zip("META-INF/MANIFEST.MF", "AndroidManifest.xml"), "application/vnd.android.package-archive"),
    "zip": (_zip("word/notes.txt"), "application/zip"),
    "zip that claims to be HTML": (_zip("a", mimetype="application/xhtml+xml"), "application/zip"),
    "empty zip": (_zip(), "application/zip"),
    "cut zip": (_zip("[Content_Types].xml", "word/document.xml")[:60], "application/zip"),
    "doc": (_ole("1Table", "WordDocument"), "application/msword"),
    "xls": (_ole("Workbook"), "application/vnd.ms-excel"),
    "old xls": (_ole("Book"), "application/vnd.ms-excel"),
    "ppt": (_ole("Current User", "PowerPoint Document", sector=12), "application/vnd.ms-powerpoint"),
    "msg": (_ole("__properties_version1.0"), "application/vnd.ms-outlook"),
    "ole": (_ole("Something"), "application/x-ole-storage"),
    "cut ole": (_ole("WordDocument")[:20], "application/x-ole-storage"),
    "rtf": (b"{\\rtf1\\ansi Hello}", "application/rtf"),
    "ps": (b"%!PS-Adobe-3.0\n", "application/postscript"),
    "djvu": (b"AT&TFORM\x00\x00\x01\x00DJVUINFO", "image/vnd.djvu"),
    "tar": (_tar(), "application/x-tar"),
    "bzip2": (bz2.compress(b"a"), "application/x-bzip2"),
    "empty bzip2": (bz2.compress(b""), "application/x-bzip2"),
    "xz": (lzma.compress(b"a"), "application/x-xz"),
    "gzip": (gzip.compress(b"a", mtime=0), "application/gzip"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00", "application/zstd"),
    "7z": (b"7z\xbc\xaf\x27\x1c\x00\x04", "application/x-7z-compressed"),
    "rss": (b"<?xml version='1.0'?>\n<!-- news --><rss version='2.0'>", "application/rss+xml"),
    "rss without a declaration": (b"\n<rss version='2.0'>", "application/rss+xml"),
    "atom": (b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>", "application/atom+xml"),
    "atom with a prefix": (b"<a:feed xmlns:a='http://www.w3.org/2005/Atom'>", "application/atom+xml"),
    "another feed": (b"<?xml version='1.0'?><feed xmlns='urn:cattle'>", "text/xml"),
    "rss 1": (
        b"<?xml version='1.0'?><rdf:RDF xmlns='urn:rss' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>",
        "application/rdf+xml",
    ),
    "svg": (
        b"<?xml version='1.0'?><!DOCTYPE svg PUBLIC 'x' 'y' [<!ENTITY a 'b>c'>]><svg xmlns='http://www.w3.org/2000/svg'>",
        "image/svg+xml",
    ),
    "xhtml": (b"<?xml version='1.0'?><?pi?><!DOCTYPE html><html>", "application/xhtml+xml"),
}


@pytest.mark.parametrize(("body", "expected"), FORMATS.values(), ids=FORMATS)
def test_formats_are_known_by_their_content(body: bytes, expected: str) -> None:
    assert recognise("application/octet-stream", body) == (expected, "")


PDF = b"%PDF-1.7\n"
PNG = b"\x89PNG\r\n\x1a\n\x00"
HTML = b"\n<!DOCTYPE html><title>Not found</title>"
CONTRADICTED = [
    ("text/html; charset=utf-8", PDF, "application/pdf"),
    ("text/plain", PDF, "application/pdf"),
    ("application/xhtml+xml", PNG, "image/png"),
    ("text/css", FORMATS["docx"][0], f"{_OOXML}wordprocessingml.document"),
    ("text/html", gzip.compress(b"<p>", mtime=0), "application/gzip"),
    ("text/plain", _tar(), "application/x-tar"),
    ("application/pdf", HTML, "text/html"),
    ("image/png", HTML, "text/html"),
    ("application/vnd.ms-excel", b"<html><table>", "text/html"),
    ("application/msword", FORMATS["docx"][0], f"{_OOXML}wordprocessingml.document"),
    ("application/zip", FORMATS["odt"][0], _ODT),
    ("application/x-zip-compressed", FORMATS["jar"][0], "application/java-archive"),
    ("image/png", b"\xff\xd8\xff\xe0", "image/jpeg"),
    ("image/png", FORMATS["zip"][0], "application/zip"),
    ("application/pdf", FORMATS["ole"][0], "application/x-ole-storage"),
    ("text/xml", FORMATS["rss"][0], "application/rss+xml"),
    ("application/xml", FORMATS["xhtml"][0], "application/xhtml+xml"),
]
BELIEVED = [
    ("text/html", b"PDFs are %PDF-"),
    ("text/html", b""),
    ("text/plain", HTML),
    ("text/plain", FORMATS["rss"][0]),
    ("text/plain", b"{\\rtf1}"),
    ("application/pdf", b"garbage"),
    ("application/pdf", b""),
    ("application/vnd.oasis.opendocument.chart", FORMATS["zip"][0]),
    ("application/vnd.ms-project", FORMATS["ole"][0]),
    ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'>"),
    ("image/x-canon-cr2", b"II*\x00"),
    ("audio/mp4", b"\x00\x00\x00\x18ftypM4A "),
    ("application/json", b"{}"),
    ("application/x-odd.type", PDF),
    ("application/xml", b"<catalogue>"),
    ("text/html", FORMATS["rss"][0]),
]


@pytest.mark.parametrize(("header", "body", "expected"), CONTRADICTED)
def test_a_header_that_the_content_contradicts(header: str, body: bytes, expected: str) -> None:
    assert recognise(header, body)[0] == expected


@pytest.mark.parametrize(("header", "body"), BELIEVED)
def test_a_header_that_the_content_does_not_contradict(header: str, body: bytes) -> None:
    assert recognise(header, body)[0] == header


def test_an_archive_behind_a_program_keeps_its_directory() -> None:
    names = [entry.name for entry in entries(_zip("a/b", "c", before=b"MZ" * 500))]
    assert names == ["a/b", "c"]


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([body for body, _ in FORMATS.values()]), st.data())
def test_damaged_formats_never_raise(body: bytes, data: st.DataObject) -> None:
    broken = bytearray(body[: data.draw(st.integers(0, len(body)))])
    for _ in range(data.draw(st.integers(0, 6))):
        if broken:
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    for header in ("", "text/html", "text/plain", "application/xml", "application/zip"):
        assert "/" in recognise(header, bytes(broken))[0]


@pytest.mark.parametrize(
    ("wanted", "media_type", "admitted"),
    [
        ((), "", True),
        ((), "image/png", True),
        (("*",), "image/png", True),
        (("*/*",), "", True),
        (("text/html",), "text/html", True),
        (("TEXT/HTML",), "Text/html; charset=utf-8", True),
        (("text/html; q=1",), "text/html", True),
        (("text/html",), "text/plain", False),
        (("text/html",), "", False),
        (("text/*", "image/png"), "text/x-odd", True),
        (("text/*",), "texture/x", False),
        (("text/*",), "text", False),
    ],
)
def test_types(wanted: tuple[str, ...], media_type: str, admitted: bool) -> None:
    assert AcceptedTypes(wanted).admits(media_type) is admitted
