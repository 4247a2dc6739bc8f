"""Recognizers of strangers add to the rule."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.core.documents import (
    MAX_HEADINGS,
    MAX_KEYWORDS,
    MAX_LINKS,
    MAX_TEXT,
    MAX_TITLE,
    Member,
    Skipped,
    Summarizer,
    Summary,
)
from parcahyd.formats.format_plugins import Expanders, Summarizers, recognizer_of
from parcahyd.formats.html_summary import HtmlSummarizer
from parcahyd.formats.office_summary import OfficeSummarizer
from parcahyd.formats.summaries import TextSummarizer, frequent_words, language_of
from parcahyd.formats.xml_summary import XmlSummarizer
from parcahyd.rules.media_types.media_type import recognise
from parcahyd.testing import check_summarizer


class _Fixed:
    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def recognize(self, content_type: str, body: bytes, media_type: str) -> str | None:  # noqa: ARG002  the port's
        self.asked.append(media_type)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # some are wrong on purpose


def test_without_plugins_it_is_the_rule_itself() -> None:
    assert recognizer_of({}, print) is recognise


def test_plugins_are_asked_in_order_about_what_is_not_html() -> None:
    silent, first, second = _Fixed(None), _Fixed("application/x-first"), _Fixed("application/x-second")
    recognize = recognizer_of({"c": second, "b": first, "a": silent}, print)
    assert recognize("text/html; charset=utf-8", b"<p>") == ("text/html", "utf-8")
    assert silent.asked == []
    assert recognize("text/plain; charset=x", b"") == ("application/x-first", "x")
    assert (silent.asked, second.asked) == (["text/plain"], [])


def test_mistakes_are_told_once_and_the_rule_counts() -> None:
    told: list[str] = []
    recognize = recognizer_of({"bad": _Fixed(KeyError("x")), "odd": _Fixed("Not A Type")}, told.append)
    for _ in range(3):
        assert recognize("application/pdf", b"%PDF-") == ("application/pdf", "")
    assert told == ["recognizer \"bad\" raised KeyError: 'x'", "recognizer \"odd\" gave 'Not A Type', not a media type"]


URL = "http://a.test/dir/page"


def _summary(summarizer: Summarizer, body: bytes, media_type: str = "", charset: str = "") -> Summary:
    found = summarizer.summarize(body, media_type, charset, URL)
    assert found is not None
    return found


# --- HTML ---------------------------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en-GB"><head><title>Kettles &amp; tea</title>
<meta name="Keywords" content="kettle, tea; steam,kettle"><base href="/base/"><style>p { color: red }</style></head>
<body><h1>All about <em>kettles</em></h1><p>One<b>word</b> here.<p>Two.<script>hidden()</script>
<svg><title>icon</title></svg><template>inert</template><ul><li>a<li>b</ul><h2>More</h2>
<a href="x.html">x</a><a href="https://other.test/">o</a><a href="mailto:a@b">m</a></body></html>"""


def test_html() -> None:
    found = _summary(HtmlSummarizer(), PAGE.encode(), "text/html", "utf-8")
    assert found.title == "Kettles & tea"
    assert found.language == "en-gb"
    assert found.text.split("\n") == ["All about kettles", "Oneword here.", "Two.", "a", "b", "More", "xom"]
    assert found.keywords == ("kettle", "tea", "steam")
    assert found.headings == ("All about kettles", "More")
    assert found.links == ("http://a.test/base/x.html", "https://other.test/")


def test_html_without_declarations() -> None:
    text = "<p>Der Kessel und die Kanne sind in der Küche. Der Kessel ist nicht in dem Schrank, und die Kanne auch nicht."
    found = _summary(HtmlSummarizer(), text.encode("cp1252"), "text/html", "windows-1252")
    assert (found.title, found.language) == ("", "de")
    assert set(found.keywords) == {"kessel", "kanne"}
    assert "Küche" in found.text
    assert _summary(HtmlSummarizer(), "<p>Grüße".encode(), "text/html", "no-such-charset").text == "Grüße"


@pytest.mark.parametrize(
    "unit", ["<div>", "<b>", "<table><tr><td>", "<ul><li>x", "<h1>x", "<title>", "<a href=x>", "<svg><title>x", "<p>x"]
)
def test_hostile_html_is_bounded(unit: str) -> None:
    found = _summary(HtmlSummarizer(), (unit * 50_000).encode(), "text/html", "utf-8")
    assert len(found.text) <= MAX_TEXT
    assert len(found.headings) <= MAX_HEADINGS
    assert len(found.title) <= MAX_TITLE


# --- text and XML -------------------------------------------------------------------------------------------------------


def test_headings_within_headings_cost_no_more_than_the_document() -> None:
    body = b"<h1><div>" * MAX_HEADINGS + b"x" * 1_000_000
    tracemalloc.start()
    try:
        assert len(_summary(HtmlSummarizer(), body).headings) == MAX_HEADINGS
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_text() -> None:
    found = _summary(TextSummarizer(), b"\n\n  The  title \r\n\r\nhttp://x.test/ is shown\tas text\x00.\n", "text/plain", "")
    assert (found.title, found.links) == ("The title", ())
    assert found.text == "The title\nhttp://x.test/ is shown as text ."
    assert _summary(TextSummarizer(), b"a,b\n1,2", "text/csv").title == ""
    assert len(_summary(TextSummarizer(), b"word " * 1_000_000, "text/plain").text) <= MAX_TEXT


FEED = """<?xml version="1.0" encoding="iso-8859-1"?><rss version="2.0"><channel><title>Néws</title>
<link>http://b.test/</link><language>fr-FR</language><item><title>One</title><link>/one</link>
<description>Text &amp; more</description><enclosure url="http://c.test/a.mp3"/></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="sv"><title>Flöde</title><link href="x"/>
<entry><title>Ett</title><summary>Text</summary></entry></feed>"""


def test_feeds() -> None:
    found = _summary(XmlSummarizer(), FEED.encode("latin-1"), "application/rss+xml")
    assert (found.title, found.language, found.headings) == ("Néws", "fr-fr", ("One",))
    assert found.links == ("http://b.test/", "http://a.test/one", "http://c.test/a.mp3")
    assert found.text == "Néws\nOne\nText & more"
    found = _summary(XmlSummarizer(), ATOM.encode(), "application/atom+xml")
    assert (found.title, found.language, found.links) == ("Flöde", "sv", ("http://a.test/dir/x",))


def test_half_an_xml_document_has_half_a_text() -> None:
    assert _summary(XmlSummarizer(), b"<a><title>T</title><p>one</p><p>two</q>").text == "T\none"
    assert XmlSummarizer().summarize(b"no xml at all", "text/xml", "", URL) is None


LAUGHS = "<!DOCTYPE l [<!ENTITY a 'lol'>" + "".join(
    f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "body",
    [
        (LAUGHS + "]><l><title>x</title>&i;</l>").encode(),
        b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        b"<a>" * 500_000,
        b"<a " + b" ".join(b"a%d=''" % i for i in range(100_000)) + b"/>",
        b"<title>" + b"x" * 3_000_000 + b"</title>",
        b"<a>" + b"<link>x</link>" * 100_000,
    ],
)
def test_hostile_xml_is_bounded(body: bytes) -> None:
    found = XmlSummarizer().summarize(body, "text/xml", "", URL)
    if found is not None:
        assert len(found.text) <= MAX_TEXT
        assert len(found.links) <= MAX_LINKS
        assert "lollol" not in found.text
        assert "root:" not in found.text


# --- office documents ---------------------------------------------------------------------------------------------------


def _zip(parts: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


_DC = "xmlns:dc='http://purl.org/dc/elements/1.1/'"
_CORE = f"<c {_DC}><dc:title>Report</dc:title><dc:language>en-US</dc:language><keywords>tea, steam</keywords></c>"
_RELATION = (
    "<Relationships><Relationship Id='1' Target='http://x.test/a' TargetMode='External' Type='urn:x/hyperlink'/>"
    "<Relationship Id='2' Target='styles.xml' Type='urn:x/styles'/></Relationships>"
)


def test_docx() -> None:
    document = "<w:d xmlns:w='w'><w:p><w:r><w:t>Hel</w:t></w:r><w:r><w:t>lo</w:t></w:r></w:p><w:p><w:t>World</w:t></w:p></w:d>"
    parts = {
        "[Content_Types].xml": "<Types/>",
        "docProps/core.xml": _CORE,
        "word/document.xml": document,
        "word/_rels/document.xml.rels": _RELATION,
    }
    found = _summary(OfficeSummarizer(), _zip(parts))
    assert found == Summary("Report", "en-us", "Hello\nWorld", ("tea", "steam"), ("http://x.test/a",), ())


def test_pptx_and_xlsx() -> None:
    slides = {f"ppt/slides/slide{n}.xml": f"<s xmlns:a='a'><a:p><a:t>Slide {n}</a:t></a:p></s>" for n in (10, 9, 1)}
    found = _summary(OfficeSummarizer(), _zip(slides))
    assert (found.title, found.text) == ("Slide 1", "Slide 1\nSlide 9\nSlide 10")
    found = _summary(OfficeSummarizer(), _zip({"xl/sharedStrings.xml": "<sst><si><t>A</t></si><si><t>B</t></si></sst>"}))
    assert found.text == "A\nB"


def test_odt() -> None:
    content = (
        "<o xmlns:text='t' xmlns:xlink='x'><text:h>Top</text:h><text:p>One<text:s/>two <text:a xlink:href='http://x.test/'>"
        "x</text:a></text:p></o>"
    )
    meta = (
        f"<o xmlns:meta='m' {_DC}><dc:title>Letter</dc:title><meta:keyword>tea</meta:keyword><dc:language>de</dc:language></o>"
    )
    found = _summary(OfficeSummarizer(), _zip({"mimetype": "x", "content.xml": content, "meta.xml": meta}))
    assert found == Summary("Letter", "de", "Top\nOne two x", ("tea",), ("http://x.test/",), ("Top",))


def test_epub() -> None:
    chapter = "<html><head><title>no</title></head><body><h1>One</h1><p>Text <a href='c2.xhtml'>in</a></p></body></html>"
    package = f"<package><metadata {_DC}><dc:title>A Book</dc:title><dc:language>nl</dc:language></metadata></package>"
    found = _summary(OfficeSummarizer(), _zip({"OEBPS/content.opf": package, "OEBPS/c1.xhtml": chapter}))
    assert found == Summary("A Book", "nl", "One\nText in", (), (), ("One",))


def test_hostile_office_documents() -> None:
    bomb = "<w:d xmlns:w='w'><w:t>" + "x" * 60_000_000 + "</w:t></w:d>"
    assert OfficeSummarizer().summarize(_zip({"word/document.xml": bomb}), "", "", URL) is None
    many = {f"ppt/slides/slide{n}.xml": "<p>text</p>" for n in range(2000)}
    assert len(_summary(OfficeSummarizer(), _zip(many)).text) <= MAX_TEXT
    for body in (b"", b"PK\x03\x04", _zip({"a": "b"})):
        assert OfficeSummarizer().summarize(body, "", "", URL) is None


# --- words --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("It is a truth universally acknowledged, that a single man in possession of a good fortune must be in want", "en"),
        ("Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett zu einem Tier", "de"),
        ("Toutes les familles heureuses se ressemblent, mais on ne peut pas dire que les autres sont dans la joie", "fr"),
        ("En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía un hidalgo", "es"),
        ("Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura, che la diritta via era smarrita", "it"),
        ("Мы знаем, что они не хотели этого, но что было, то было, и это не для них, как она сказала", "ru"),
        ("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。", "ja"),
        ("学而时习之不亦说乎 有朋自远方来不亦乐乎", "zh"),
        ("모든 국민은 인간으로서의 존엄과 가치를 가지며", "ko"),
        ("lorem ipsum dolor sit amet", ""),
        ("", ""),
        ("12 34 !!", ""),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert language_of(text) == language


def test_keywords_are_frequent_and_say_something() -> None:
    assert frequent_words("the kettle and the teapot with their kettle and their teapot and a kettle, 1999 1999 ab ab") == (
        "kettle",
        "teapot",
    )
    assert len(frequent_words(" ".join(f"w{chr(97 + i // 26)}{chr(97 + i % 26)}ord " * 2 for i in range(400)))) == MAX_KEYWORDS


# --- all as one ---------------------------------------------------------------------------------------------------------


class _FixedOfSummarizers:
    def __init__(self, answer: object, *media_types: str) -> None:
        self.media_types = frozenset(media_types)
        self.answer = answer

    def summarize(self, body: bytes, media_type: str, charset: str, url: str) -> Summary | None:  # noqa: ARG002  the port's
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # some are wrong on purpose


def test_the_exact_type_is_asked_before_the_suffix_and_the_kind() -> None:
    plugins = [
        ("kind", _FixedOfSummarizers(Summary("kind"), "image/*")),
        ("suffix", _FixedOfSummarizers(Summary("suffix"), "+xml")),
    ]
    plugins += [("exact", _FixedOfSummarizers(Summary("exact"), "image/svg+xml"))]
    everyone = Summarizers(plugins, print)
    for media_type, title in (("image/svg+xml", "exact"), ("image/x+xml", "suffix"), ("image/png", "kind")):
        found = everyone.summarize(b"", media_type, "", URL)
        assert found is not None
        assert found.title == title
        assert everyone.can_read(media_type)
    assert everyone.summarize(b"", "text/plain", "", URL) is None
    assert not everyone.can_read("text/plain")


def test_who_does_not_answer_leaves_it_to_the_next() -> None:
    told: list[str] = []
    wrong = [("silent", None), ("raising", ValueError("odd\nbytes")), ("wrong", "a string")]
    plugins = [(name, _FixedOfSummarizers(answer, "text/x")) for name, answer in wrong]
    everyone = Summarizers([*plugins, ("good", _FixedOfSummarizers(Summary("good"), "text/*"))], told.append)
    for _ in range(3):
        found = everyone.summarize(b"", "text/x", "", URL)
        assert found is not None
        assert found.title == "good"
    assert told == ['summarizer "raising" raised ValueError: odd', 'summarizer "wrong" returned str, not a Summary']


def test_a_summary_without_bounds_gets_them() -> None:
    wild = Summary("x\n" * 9999, "Not a tag", "y" * 999_999, ("w" * 999,) * 999, ("http://A.test", "nowhere", 3), ("h",) * 999)  # type: ignore[arg-type]  # wrong on purpose
    found = Summarizers([("wild", _FixedOfSummarizers(wild, "text/x"))], print).summarize(b"", "text/x", "", URL)
    assert found is not None
    assert (len(found.title) <= MAX_TITLE, found.language, len(found.text), len(found.keywords)) == (
        True,
        "",
        MAX_TEXT,
        MAX_KEYWORDS,
    )
    assert (found.links, len(found.headings)) == (("http://a.test/",), MAX_HEADINGS)


@pytest.mark.parametrize(
    ("summarizer", "sample"),
    [
        (HtmlSummarizer(), PAGE.encode()),
        (TextSummarizer(), b"hello"),
        (XmlSummarizer(), FEED.encode("latin-1")),
        (OfficeSummarizer(), _zip({"content.xml": "<p>x</p>"})),
    ],
    ids=["html", "text", "xml", "office"],
)
def test_the_built_in_ones_conform(summarizer: Summarizer, sample: bytes) -> None:
    check_summarizer(summarizer, {next(iter(summarizer.media_types)): sample})


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=200), st.sampled_from(["", "utf-8", "utf-16", "shift_jis", "odd"]))
def test_no_bytes_raise(body: bytes, charset: str) -> None:
    for summarizer, start in (
        (HtmlSummarizer(), b"<p>"),
        (TextSummarizer(), b""),
        (XmlSummarizer(), b"<a>"),
        (OfficeSummarizer(), b"PK"),
    ):
        summarizer.summarize(start + body, "text/plain", charset, URL)


URL_EXPANDERS = "http://a.test/x.arj"


class _FixedOfExpanders:
    media_types = frozenset({"application/x-arj"})

    def __init__(self, *members: object) -> None:
        self.members = members

    def expand(self, body: bytes, media_type: str, url: str) -> Iterator[Member]:  # noqa: ARG002  the port's
        for member in self.members:
            if isinstance(member, Exception):
                raise member
            yield member  # type: ignore[misc]  # some are wrong on purpose


def _expand(*members: object, told: list[str] | None = None) -> list[Member]:
    conf = WorkConf(MaxBytes=10, ExpandMembers=4, ExpandBytes=25)
    report = (told if told is not None else []).append
    return list(
        Expanders([("mine", _FixedOfExpanders(*members))], conf, report).expand(b"", "application/x-arj", URL_EXPANDERS)
    )


def test_good_members_pass_as_they_are() -> None:
    members = [Member("a", b"1"), Member("b", b"2"), Member("c", skipped=Skipped.ENCRYPTED)]
    assert _expand(*members) == members


def test_names_are_cleaned_and_count_once() -> None:
    assert _expand(Member("../a", b"1"), Member("a", b"2"), Member("/", b"3")) == [
        Member("a", b"1"),
        Member("a", skipped=Skipped.DUPLICATE),
        Member("", skipped=Skipped.NAME),
    ]


def test_bounds_hold() -> None:
    assert _expand(Member("a", b"x" * 11)) == [Member("a", skipped=Skipped.SIZE)]
    assert len(_expand(*(Member(str(n)) for n in range(9)))) == 5
    assert _expand(*(Member(str(n), b"x" * 9) for n in range(4)))[2:] == [Member("", skipped=Skipped.BYTES)]


def test_mistakes_end_the_archive_and_are_told() -> None:
    told: list[str] = []
    assert _expand(Member("a"), ValueError("odd"), Member("b"), told=told) == [Member("a")]
    assert _expand(Member("a"), "b", told=told) == [Member("a")]
    assert told == ['expander "mine" raised ValueError: odd', 'expander "mine" gave str, not a Member']


def test_only_formats_that_somebody_names_are_taken_apart() -> None:
    everyone = Expanders([("mine", _FixedOfExpanders())], WorkConf(), print)
    assert everyone.can_expand("application/x-arj")
    assert not everyone.can_expand("application/zip")
    assert list(everyone.expand(b"", "application/zip", URL_EXPANDERS)) == []
