"""A site in many charsets, with right, wrong and missing declarations: what a server sends for each path.

Every page has a title, some text, and links whose paths and queries hold letters of its language, so that wrong decoding shows
in its title and in its links.
"""
# ruff: noqa: RUF001 - text in many scripts

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PAGES", "Page"]


class Page(NamedTuple):
    """What is sent for one path."""

    content_type: str
    body: bytes


class _Language(NamedTuple):
    charset: str
    """Its label in the Encoding Standard."""
    codec: str
    """Python's codec that writes it; for the text here, the two agree."""
    title: str
    word: str
    text: str
    wrong: str
    """A charset that its header may name in error."""


_LANGUAGES = (
    _Language(
        "utf-8",
        "utf-8",
        "Žluťoučký kůň – 日本 и Русь",
        "größe",
        "Příliš žluťoučký kůň pěl ďábelské ódy. Die Größe der Äpfel überrascht. Съешь ещё этих мягких булок. "
        "今日は良い天気です。",
        "windows-1252",
    ),
    _Language(
        "windows-1252",
        "cp1252",
        "Crème brûlée – “déjà vu” à 5 €",
        "été",
        "L’été dernier, nous avons mangé une crème brûlée près de la forêt. Les élèves étaient déjà à l’école, où leur maître "
        "préféré était très fâché. Ça coûtait 5 € — c’était trop élevé.",
        "windows-1251",
    ),
    _Language(
        "iso-8859-2",
        "iso8859-2",
        "Zażółć gęślą jaźń",
        "źródło",
        "Zażółć gęślą jaźń. Chrząszcz brzmi w trzcinie w Szczebrzeszynie. Wczoraj wieczorem poszliśmy do szkoły, żeby zobaczyć "
        "przedstawienie o królu i królowej. Było bardzo śmiesznie, więc śmialiśmy się głośno.",
        "windows-1252",
    ),
    _Language(
        "shift_jis",
        "cp932",
        "日本語のページ・表示能力",
        "検索",
        "これは日本語で書かれたページです。今日は天気がとても良いので、散歩に出かけました。カタカナとひらがなと漢字が混ざっています。",
        "utf-8",
    ),
    _Language(
        "euc-jp",
        "euc_jp",
        "日本語の頁",
        "辞書",
        "これは日本語で書かれたページです。図書館で本を読むのが好きです。カタカナの言葉もたくさんあります。明日は雨が降るそうです。",
        "shift_jis",
    ),
    _Language(
        "gbk",
        "gbk",
        "简体中文网页",
        "搜索",
        "这是一个用简体中文写的网页。今天天气很好，我们去公园散步。学生们在学校里学习语言和数学，老师们都很高兴。",
        "big5",
    ),
    _Language(
        "gb18030",
        "gb18030",
        "中文网页 € 😀",
        "网络",
        "这是另一个中文网页。图书馆里有很多书，大家都喜欢安静地读书。我们的国家有悠久的历史和丰富的文化。",
        "utf-8",
    ),
    _Language(
        "big5",
        "big5",
        "繁體中文網頁",
        "搜尋",
        "這是一個用繁體中文寫的網頁。今天天氣很好，我們去公園散步。學生們在學校裡學習語言和數學，老師們都很高興。",
        "gbk",
    ),
    _Language(
        "koi8-r",
        "koi8-r",
        "Русская страница",
        "поиск",
        "Эта страница написана по-русски. Сегодня хорошая погода, и мы идём гулять в парк. Дети учатся в школе, а вечером "
        "читают книги дома. Съешь ещё этих мягких французских булок, да выпей чаю.",
        "windows-1251",
    ),
    _Language(
        "windows-1251",
        "cp1251",
        "Страница на русском языке",
        "слово",
        "Эта страница написана на русском языке. Вчера был дождь, поэтому мы остались дома и смотрели старые фильмы. Завтра мы "
        "поедем в деревню к бабушке, где много яблок и груш.",
        "koi8-r",
    ),
    _Language(
        "euc-kr",
        "cp949",
        "한국어 페이지",
        "검색",
        "이 페이지는 한국어로 쓰여 있습니다. 오늘은 날씨가 아주 좋아서 공원에 산책을 갔습니다. 학생들은 학교에서 공부합니다.",
        "utf-8",
    ),
    _Language(
        "windows-1253",
        "cp1253",
        "Ελληνική σελίδα",
        "λέξη",
        "Αυτή η σελίδα είναι γραμμένη στα ελληνικά. Σήμερα ο καιρός είναι πολύ καλός και πηγαίνουμε βόλτα στο πάρκο με τους "
        "φίλους μας. Το βράδυ διαβάζουμε βιβλία.",
        "windows-1252",
    ),
    _Language(
        "windows-1254",
        "cp1254",
        "Türkçe sayfa: ığdır",
        "şeker",
        "Bu sayfa Türkçe yazılmıştır. Bugün hava çok güzel ve arkadaşlarımızla parka gidiyoruz. Akşam evde kitap okuyacağız ve "
        "çay içeceğiz. Öğrenciler okulda öğreniyor.",
        "iso-8859-2",
    ),
    _Language(
        "windows-1255",
        "cp1255",
        "דף בעברית",
        "חיפוש",
        "הדף הזה כתוב בעברית. היום מזג האוויר יפה מאוד ואנחנו הולכים לטייל בפארק עם חברים. בערב נקרא ספרים בבית.",
        "windows-1252",
    ),
    _Language(
        "windows-1256",
        "cp1256",
        "صفحة عربية",
        "بحث",
        "هذه الصفحة مكتوبة باللغة العربية. الطقس اليوم جميل جدا ونحن نذهب إلى الحديقة مع الأصدقاء. "
        "في المساء نقرأ الكتب في البيت.",
        "windows-1252",
    ),
    _Language(
        "iso-2022-jp",
        "iso2022_jp",
        "日本語の文書",
        "言葉",
        "これは日本語で書かれた文書です。昔の電子メールではこの符号がよく使われていました。",
        "utf-8",
    ),
)


def _markup(language: _Language, head: str = "", body: str = "") -> str:
    word = language.word
    return (
        f"<!DOCTYPE html>\n<html><head>{head}\n<title>{language.title}</title></head>\n<body>{body}<h1>{language.title}</h1>\n"
        f"<p>{language.text}</p>\n"
        f'<a href="/{word}/">1</a> <a href="/find?q={word}">2</a> <a href="{word}?{word}={word}#{word}">3</a>\n'
        f'<a href="/lacking?q=&#233;&#26085;&#1103;&#8364;&#128512;">4</a> <a href="/plain?a=1&amp;b=2">5</a>\n'
        f"<p>{language.text}</p></body></html>\n"
    )


def _variants(language: _Language) -> dict[str, Page]:
    """One language's page under every kind of declaration."""
    charset, codec = language.charset, language.codec
    meta = f'<meta charset="{charset}">'
    pragma = f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">'
    wrong_meta = f'<meta charset="{language.wrong}">'
    filler = f"<!-- {'x' * 1500} -->"

    def page(content_type: str, head: str = "", body: str = "") -> Page:
        return Page(content_type, _markup(language, head, body).encode(codec))

    html = "text/html"
    declared = f"text/html; charset={charset}"
    return {
        "header": page(declared),
        "meta": page(html, meta),
        "pragma": page(html, pragma),
        "header-against-meta": page(declared, wrong_meta),
        "wrong-header": page(f"text/html; charset={language.wrong}", meta),
        "wrong-meta": page(html, wrong_meta),
        "late-in-head": page(html, f"{filler}{meta}"),
        "late-in-body": page(html, "", f"{filler}<p>{meta}"),
        "unlabelled": page(html),
        "unknown-header": page("text/html; charset=no-such-charset", meta),
    }


_FRENCH, _RUSSIAN = _LANGUAGES[1], _LANGUAGES[9]


def _french(head: str, content_type: str = "text/html") -> Page:
    return Page(content_type, _markup(_FRENCH, head).encode("cp1252"))


def _utf8(head: str, content_type: str = "text/html", mark: bytes = b"") -> Page:
    return Page(content_type, mark + _markup(_RUSSIAN, head).encode())


def _utf16(codec: str, content_type: str, head: str = "", *, mark: bool) -> Page:
    return Page(content_type, (("\ufeff" if mark else "") + _markup(_RUSSIAN, head)).encode(codec))


def _marks() -> dict[str, Page]:
    """Byte order marks, and UTF-16 in all its declarations."""
    html, mark = "text/html", b"\xef\xbb\xbf"
    return {
        "utf-8-mark": _utf8("", html, mark),
        "utf-8-mark-against-header": _utf8("", "text/html; charset=windows-1251", mark),
        "utf-8-mark-against-meta": _utf8('<meta charset="koi8-r">', html, mark),
        "utf-16le-mark": _utf16("utf-16-le", html, mark=True),
        "utf-16be-mark": _utf16("utf-16-be", html, mark=True),
        "utf-16le-mark-against-header": _utf16("utf-16-le", "text/html; charset=utf-8", mark=True),
        "utf-16le-header": _utf16("utf-16-le", "text/html; charset=utf-16", mark=False),
        "utf-16be-header": _utf16("utf-16-be", "text/html; charset=utf-16be", mark=False),
        "utf-16-mark-against-header": _utf16("utf-16-be", "text/html; charset=utf-16le", mark=True),
        "utf-16-by-meta": _utf8('<meta charset="utf-16">'),
        "utf-16be-by-meta": _utf8('<meta charset="utf-16be">'),
        "utf-16-by-header-but-utf-8": _utf8("", "text/html; charset=utf-16"),
    }


def _labels() -> dict[str, Page]:
    """Labels and places of declarations that are not what they seem."""
    return {
        "label-latin1": _french("", "text/html; charset=latin1"),
        "label-ascii": _french("", "text/html; charset=US-ASCII"),
        "label-iso-8859-1": _french('<meta charset="ISO-8859-1">'),
        "label-quoted": _french("", 'text/html; charset="windows-1252"'),
        "label-in-apostrophes": _french('<meta charset="windows-1251">', "text/html; charset='windows-1252'"),
        "label-blank": _french('<meta charset=" windows-1251 ">'),
        "label-empty-header": _french('<meta charset="windows-1251">', "text/html; charset="),
        "label-utf8": _utf8("", "text/html; charset=utf8"),
        "label-utf-7-header": _french("<meta charset=windows-1252>+ADw-a href=+ACI-x+ACIAPg-", "text/html; charset=utf-7"),
        "label-utf-7-meta": _french("<meta charset=utf-7>+ADw-a href=+ACI-x+ACIAPg-"),
        "label-x-user-defined-header": _french("", "text/html; charset=x-user-defined"),
        "label-x-user-defined-meta": _french('<meta charset="x-user-defined">'),
        "label-replacement-header": _french("", "text/html; charset=iso-2022-kr"),
        "label-replacement-meta": _french('<meta charset="hz-gb-2312">'),
        "label-unknown-meta": _french('<meta charset="no-such"><meta charset="windows-1251">'),
        "two-headers-in-one": _french("", "text/html; charset=windows-1251, text/html; charset=windows-1252"),
        "two-metas": _french('<meta charset="windows-1252"><meta charset="windows-1251">'),
        "meta-in-comment": _french('<!-- <meta charset="windows-1251"> --><meta charset="windows-1252">'),
        "meta-in-script": _french('<script>"<meta charset=windows-1251>"</script><meta charset="windows-1252">'),
        "meta-in-title": _french('<title><meta charset="windows-1251"></title><meta charset="windows-1252">'),
        "meta-in-attribute": _french('<link title="<meta charset=windows-1251>"><meta charset="windows-1252">'),
        "meta-without-pragma": _french('<meta content="text/html; charset=windows-1251"><meta charset="windows-1252">'),
        "meta-other-order": _french('<meta content="text/html; charset=windows-1251" http-equiv="content-type">'),
        "meta-unquoted": _french("<meta charset=windows-1251>"),
        "meta-spaced": _french('<meta charset\n=\n"windows-1251" />'),
        "meta-upper": _french('<META HTTP-EQUIV="CONTENT-TYPE" CONTENT="TEXT/HTML; CHARSET=WINDOWS-1251">'),
        "xml-declaration": Page(
            "text/html", b'<?xml version="1.0" encoding="windows-1251"?>\n' + _markup(_RUSSIAN).encode("cp1251")
        ),
        "xml-declaration-against-meta": Page(
            "text/html",
            b'<?xml version="1.0" encoding="windows-1251"?>\n' + _markup(_RUSSIAN, "<meta charset=koi8-r>").encode("koi8-r"),
        ),
        "ascii-only": Page("text/html", b"<title>plain</title><a href='/x?y=&#233;'>x</a>"),
        "empty": Page("text/html", b""),
    }


def _structures() -> dict[str, Page]:
    """Links where the document's structure matters."""
    links = '<a href="é?é">1</a><a href="?é">2</a><a href="">3</a><a href="//other.example/é?é">4</a>'
    return {
        "base": Page("text/html; charset=windows-1252", f'<base href="/bäse/?ü"><title>b</title>{links}'.encode("cp1252")),
        "base-twice": Page("text/html; charset=utf-8", f"<base><base href=/a/><base href=/b/>{links}".encode()),
        "link-elements": Page(
            "text/html; charset=iso-8859-2",
            '<title>ł</title><link rel=canonical href="/ł?ł"><link rel="next" href="n?ą"><a href="x?ż">'.encode("iso8859-2"),
        ),
        "frames": Page("text/html; charset=koi8-r", '<frameset><frame src="/я?я"><frame src="b"></frameset>'.encode("koi8-r")),
        "iframe-and-area": Page(
            "text/html; charset=gbk",
            '<iframe src="/中?中"></iframe><map><area href="?文"></map><title>中</title>'.encode("gbk"),
        ),
        "noscript": Page("text/html; charset=big5", '<body><noscript><a href="?中"></noscript><a href="文">'.encode("big5")),
        "other-schemes": Page(
            "text/html; charset=windows-1252",
            '<a href="ftp://other.example/é?é"><a href="gopher://other.example/x?é"><a href="HTTPS:/é?é">'.encode("cp1252"),
        ),
        "drawing": Page(
            "text/html; charset=windows-1251",
            '<svg><title>no</title><a href="/я?я"/><a xlink:href="/ю?ю"/></svg><title>да</title>'.encode("cp1251"),
        ),
    }


def _xml(inside: str, head: str = "") -> str:
    return (
        f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Страница</title>{head}</head>'
        f'<body><a href="/я?я">1</a>{inside}<a href="/end">2</a></body></html>'
    )


_STRICT = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">'


def _xhtml() -> dict[str, Page]:
    """XHTML that is served as XML, where browsers read it by other rules."""
    served, declared = "application/xhtml+xml", '<?xml version="1.0" encoding="windows-1251"?>'
    return {
        "xhtml": Page(served, _xml("").encode()),
        "xhtml-declared": Page(served, (declared + _xml("")).encode("cp1251")),
        "xhtml-header": Page(f"{served}; charset=koi8-r", (declared + _xml("")).encode("koi8-r")),
        "xhtml-mark": Page(f"{served}; charset=koi8-r", b"\xef\xbb\xbf" + _xml("").encode()),
        "xhtml-utf-16": Page(served, ("\ufeff" + _xml("")).encode("utf-16-le")),
        "xhtml-meta-is-nothing": Page(served, _xml("", '<meta charset="windows-1251"/>').encode()),
        "xhtml-self-closed": Page(served, _xml("<script/><textarea/><a href='/seen'/>").encode()),
        "xhtml-cdata": Page(
            served, _xml("<![CDATA[<a href='/unseen'>]]><script><![CDATA[<a href='/unseen'>]]></script>").encode()
        ),
        "xhtml-entities": Page(served, (_STRICT + _xml("&nbsp;<a href='/caf&eacute;'/>")).encode()),
        "xhtml-raw-text": Page(
            served, _xml("<xmp><a href='/in-xmp'/></xmp><noscript><a href='/in-noscript'/></noscript>").encode()
        ),
        "xhtml-template": Page(served, _xml("<template><a href='/inert'/></template>").encode()),
        "xhtml-case": Page(served, _xml("<A href='/upper'/><a HREF='/upper-attribute'/>").encode()),
        "xhtml-drawing": Page(
            served,
            _xml(
                '<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><title>no</title>'
                '<a l:href="/drawn"/></svg>'
            ).encode(),
        ),
        "xhtml-as-html": Page(
            "text/html; charset=utf-8", _xml("<script/><a href='/unseen'/></script><a href='/seen'/>").encode()
        ),
        "xhtml-broken": Page(served, _xml("<br><a href='/after-the-error'/>").encode()),
    }


PAGES: dict[str, Page] = {
    **{f"/{language.charset}/{variant}": page for language in _LANGUAGES for variant, page in _variants(language).items()},
    **{f"/marks/{name}": page for name, page in _marks().items()},
    **{f"/labels/{name}": page for name, page in _labels().items()},
    **{f"/structures/{name}": page for name, page in _structures().items()},
    **{f"/xhtml/{name}": page for name, page in _xhtml().items()},
}
"""By path."""
