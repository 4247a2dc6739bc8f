"""Two versions of a page compared, on either kind of database."""

from __future__ import annotations

from typing import Any

import pytest

from parcahyd.augment import line_changes
from parcahyd.cli import main
from parcahyd.cli.wording import utc_time
from parcahyd.core.records import TableFact
from tests.storage.conftest import desk, postgres_desk, sqlite_desk
from tests.storage.desk import REVISIT, START, Desk

from .conftest import Crawl

__all__ = ["desk", "postgres_desk", "sqlite_desk"]

URL = "http://a.example/"
_STEP = 50 * REVISIT


class Versions:
    """A page that is stored again and again, and `parcahyd diff` on it."""

    def __init__(self, desk: Desk, capsys: pytest.CaptureFixture[str], *, learns: bool = False) -> None:
        self.desk = desk
        self._work: dict[str, Any] = {"KeepVersions": 9, "LearnRegions": learns}
        self._capsys = capsys
        desk.begin(**self._work)
        desk.seed(URL)

    def add(self, *bodies: bytes, **facts: Any) -> None:
        for body in bodies:
            (pair,) = self.desk.lease(again_before=self.desk.now)
            self.desk.crawl(pair, body=body, **facts)
            self.desk.now += _STEP
            self.desk.begin(**self._work)

    def diff(self, *arguments: str, code: int = 0) -> tuple[list[str], str]:
        assert main(["diff", "--db", self.desk.url.removeprefix("sqlite:///"), URL, *arguments]) == code
        output = self._capsys.readouterr()
        return output.out.splitlines(), output.err


@pytest.fixture
def versions(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Versions:
    return Versions(desk, capsys)


def test_the_last_two_versions(versions: Versions) -> None:
    versions.add(b"<p>one\n<p>end\n", b"<p>two\n<p>end\n", b"<p>three\n<p>end\n", charset="utf-8")
    lines, err = versions.diff()
    assert lines == [
        f"--- {URL}  {utc_time(START + _STEP)}  200  text/html; charset=utf-8  14 bytes",
        f"+++ {URL}  {utc_time(START + 2 * _STEP)}  200  text/html; charset=utf-8  16 bytes",
        "@@ -1,2 +1,2 @@",
        "-<p>two",
        "+<p>three",
        " <p>end",
    ]
    assert err == ""


def test_any_two_versions(versions: Versions) -> None:
    versions.add(b"one\n", b"two\n", b"three\n")
    first, second = str(START), str(START + _STEP)
    assert versions.diff("--at", first)[0][3:] == ["-one", "+three"]
    assert versions.diff("--at", first, "--and", second)[0][3:] == ["-one", "+two"]
    assert versions.diff("--at", second, "--and", first)[0][3:] == ["-two", "+one"]


def test_nothing_differs(versions: Versions) -> None:
    versions.add(b"one\n", b"two\n", b"one\n")
    assert versions.diff("--at", "2999-01-01") == (
        [f"Nothing differs: both are the version of {utc_time(START + 2 * _STEP)}."],
        "",
    )
    assert versions.diff("--at", str(START)) == (
        [f"Nothing differs: the versions of {utc_time(START)} and {utc_time(START + 2 * _STEP)} have the same bytes."],
        "",
    )


def test_text_is_compared_whatever_its_charset(versions: Versions) -> None:
    versions.add("caf\xe9\n".encode("cp1252"), charset="windows-1252")
    versions.add("caf\xe9\ntea\n".encode("utf-16"), charset="utf-16le")
    assert versions.diff()[0][2:] == ["@@ -1,1 +1,2 @@", " café", "+tea"]
    versions.add("caf\xe9\ntea\n".encode(), charset="utf-8")
    lines, _ = versions.diff()
    assert lines[-1] == "The text does not differ, only its bytes."
    assert "SHA-256 " in lines[0]


def test_other_documents_have_sizes_and_digests(versions: Versions, desk: Desk) -> None:
    versions.add(b"\x89PNG\0\x1b[31m", b"\x89PNG\0", media_type="image/png")
    lines, _ = versions.diff()
    assert lines[0].startswith(f"--- {URL}  {utc_time(START)}  200  image/png  10 bytes  SHA-256 ")
    assert lines[2:] == ["The documents differ, and are not text."]


def test_a_text_that_is_too_large(versions: Versions) -> None:
    versions.add(b"x" * (line_changes.MAX_TEXT + 1), b"y")
    assert versions.diff()[0][2:] == ["The documents differ, and are too large to be compared line by line."]


def test_what_a_server_sent_is_written_out(versions: Versions) -> None:
    versions.add(b"\x1b]0;x\x07\n", "\x9b31m\u202e\n".encode(), charset="utf-8")
    lines, _ = versions.diff()
    assert lines[3:] == ["-\\x1b]0;x\\x07", "+\\x9b31m\\u202e"]


def test_a_page_that_is_one_line_is_cut_at_its_tags(versions: Versions) -> None:
    page = b"".join(b"<p>Kettle %d is warm.</p>" % number for number in range(50))
    versions.add(page, page.replace(b"Kettle 7 is warm", b"Kettle 7 is cold"))
    lines, err = versions.diff()
    assert [line for line in lines[3:] if line[0] != " "] == ["-<p>Kettle 7 is warm.</p>", "+<p>Kettle 7 is cold.</p>"]
    assert "cut at tags" in err


_PAGE = b"<h1>Kettles</h1>\n<b data-vol=price>%d</b>\n<p>%s</p>\n"


@pytest.mark.parametrize("is_stored_in_parts", [True, False])
def test_regions_that_the_author_marked(versions: Versions, is_stored_in_parts: bool) -> None:
    """Those of a version that was put together with its table are stored with it. Else the markers say where they are."""
    facts = {"regions": (("price", 35, 36),), "table": TableFact(etag='"1"')} if is_stored_in_parts else {}
    page = _PAGE.replace(b"data-vol=price", b"class=pricetag") if is_stored_in_parts else _PAGE
    for price, words in ((1, b"warm"), (2, b"cold"), (3, b"cold")):
        versions.add(page % (price, words), **facts)
    lines, err = versions.diff()
    marker = "class=pricetag" if is_stored_in_parts else "data-vol=price"
    assert lines[3:] == [
        " <h1>Kettles</h1>",
        f"-<b {marker}>2</b>",
        f"+<b {marker}>3</b>",
        '\\ volatile: "price", marked by the author',
        " <p>cold</p>",
    ]
    assert "only volatile places changed" in err
    lines, err = versions.diff("--at", str(START))
    assert lines[-1] == '\\ volatile in part: "price", marked by the author'
    assert err == ""


def test_places_in_a_text_of_another_charset(versions: Versions) -> None:
    for price in (1, 2):
        versions.add(("é\n" + _PAGE.decode() % (price, "warm")).encode("utf-16" if price == 1 else "cp1252"), charset="cp1252")
        versions.add(b"\xef\xbb\xbf\xc3\xa9\n" + _PAGE % (price, b"warm"), charset="utf-8")
    lines, _ = versions.diff("--at", str(START + _STEP))
    assert lines[-2] == '\\ volatile: "price", marked by the author'
    lines, _ = versions.diff("--at", str(START + _STEP), "--and", str(START + 2 * _STEP))
    assert lines[-2] == '\\ volatile: "price", marked by the author'


def test_a_place_that_begins_within_a_character(versions: Versions) -> None:
    for letter in b"XY":
        facts: dict[str, Any] = {"regions": (("half", 4, 5),), "table": TableFact(etag='"1"'), "charset": "utf-8"}
        versions.add(b"abc\xc3\xa9x%cz\n" % letter, **facts)
    assert versions.diff()[0][3:] == ["-abcéxXz", "+abcéxYz"]


def test_places_that_were_learned(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    versions = Versions(desk, capsys, learns=True)
    words = b"\n".join(b"Kettle %d is warm." % number for number in range(400))
    for number in range(3):
        versions.add(b"<p>It is 12:3%d:00 now.</p>\n%s\n<p>Edition %s</p>\n" % (number, words, b"x" * 600 * number))
    lines, _ = versions.diff()
    assert [line for line in lines[3:] if line[0] != " "][:3] == [
        "-<p>It is 12:31:00 now.</p>",
        "+<p>It is 12:32:00 now.</p>",
        "\\ volatile: learned, it had changed on 2 of the last 2 visits",
    ]
    assert [line[0] for line in lines].count("\\") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "only one version of http://a.example/ is stored, of 1970-01-12 13:46:40Z"),
        (("--at", "1960-01-01"), "the oldest stored version is of 1970-01-12 13:46:40Z"),
        (("--and", "1970-01-13"), "--and needs --at"),
        (("--at", "soon"), '"soon" is not a time'),
    ],
)
def test_what_cannot_be_compared_is_a_mistake_with_a_remedy(versions: Versions, arguments: tuple[str, ...], words: str) -> None:
    versions.add(b"one")
    lines, err = versions.diff(*arguments, code=2)
    assert lines == []
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nowhere.html", "is not in this crawl (parcahyd explain "),
        ("opening-times", "is a redirect (parcahyd show "),
        ("private/ledger.html", "it is refused (parcahyd explain "),
        ("about.html", "only one version of "),
    ],
)
def test_what_has_no_versions(crawl: Crawl, path: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("diff", crawl.site + path)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
