"""PDF, read in a process of its own."""

from __future__ import annotations

import zlib

import pytest

from parcahyd.core.documents import Summary
from parcahyd.formats.pdf_process import read
from parcahyd.formats.pdf_summary import PdfSummarizer
from parcahyd.testing import check_summarizer

URL = "http://a.test/dir/file.pdf"


def _pdf(content: bytes, *, about: bytes = b"", annotations: bytes = b"[]", pages: int = 1, packed: bool = True) -> bytes:
    """A document whose pages all show the same content."""
    data = zlib.compress(content, 9) if packed else content
    coding = b"/Filter /FlateDecode " if packed else b""
    kids = b" ".join(b"%d 0 R" % (6 + n) for n in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< %s/Length %d >>\nstream\n%s\nendstream" % (coding, len(data), data),
        b"<< %s >>" % about,
    ]
    objects += [
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Annots %s"
        b" /Resources << /Font << /F1 3 0 R >> >> >>" % annotations
    ] * pages
    body, offsets = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer << /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table) + trailer


HELLO = b"BT /F1 12 Tf 50 200 Td (Hello kettle) Tj ET"
LINK = b"[<< /Type /Annot /Subtype /Link /A << /S /URI /URI (%s) >> >>]"


@pytest.fixture
def summarizer() -> PdfSummarizer:
    pytest.importorskip("pypdf", reason="pypdf is not installed: pip install '.[pdf]'")
    return PdfSummarizer()


def test_title_language_text_and_links(summarizer: PdfSummarizer) -> None:
    about = b"/Title (The Kettle) /Keywords (tea, steam)"
    body = _pdf(HELLO, about=about, annotations=LINK % b"../other.html")
    found = summarizer.summarize(body, "application/pdf", "", URL)
    assert found == Summary("The Kettle", "en-gb", "Hello kettle", ("tea", "steam"), ("http://a.test/other.html",))


def test_a_document_without_a_title_is_called_by_its_first_line(summarizer: PdfSummarizer) -> None:
    found = summarizer.summarize(_pdf(HELLO), "application/pdf", "", URL)
    assert found is not None
    assert found.title == "Hello kettle"


def test_a_broken_document_has_no_summary_or_what_can_be_read(summarizer: PdfSummarizer) -> None:
    body = _pdf(HELLO)
    assert summarizer.summarize(b"%PDF-1.4 nothing", "application/pdf", "", URL) is None
    assert summarizer.summarize(b"", "application/pdf", "", URL) is None
    found = summarizer.summarize(body[: body.rfind(b"xref\n0")], "application/pdf", "", URL)
    assert found is None or found.text == "Hello kettle"


@pytest.mark.parametrize(
    "content",
    [
        b"BT /F1 12 Tf " + b"(x) Tj 1 0 Td " * 500_000 + b"ET",
        b"[" * 100_000,
        b"(" * 1_000_000,
        b" " * 200_000_000,
    ],
    ids=["many operators", "deep arrays", "open strings", "bomb"],
)
def test_hostile_content_comes_to_an_end(content: bytes) -> None:
    pytest.importorskip("pypdf", reason="pypdf is not installed: pip install '.[pdf]'")
    found = PdfSummarizer(seconds=5).summarize(_pdf(content, pages=3), "application/pdf", "", URL)
    assert found is None or isinstance(found, Summary)


def test_what_the_process_tells_is_bounded() -> None:
    pytest.importorskip("pypdf")
    told = read(_pdf(b"", about=b"/Title (" + b"t" * 1_000_000 + b") /Keywords (" + b"k" * 1_000_000 + b")"), 1000)
    assert (len(told["title"]), len(told["keywords"])) == (10_000, 10_000)


def test_a_process_that_takes_too_long_is_ended() -> None:
    pytest.importorskip("pypdf", reason="pypdf is not installed: pip install '.[pdf]'")
    assert PdfSummarizer(seconds=0).summarize(_pdf(HELLO), "application/pdf", "", URL) is None


def test_it_conforms(summarizer: PdfSummarizer) -> None:
    check_summarizer(summarizer, {"application/pdf": _pdf(HELLO)})


def test_without_the_library_there_is_no_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parcahyd.formats.pdf_summary.find_spec", lambda _name: None)
    assert PdfSummarizer().summarize(_pdf(HELLO), "application/pdf", "", URL) is None
