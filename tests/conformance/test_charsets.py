"""A site in sixteen charsets, with right, wrong and missing declarations: what we read of it against what Chromium shows.

What Chromium shows is written down in `charset_site/chromium.json` by `charset_site/record.py`; where `playwright` and a
Chromium are there, it is asked anew. Where the two differ, and why, is listed here.
"""

from __future__ import annotations

import json
import re
import shutil
from importlib.util import find_spec
from typing import Any

import pytest

from parcahyd.rules.html.links import read_links
from parcahyd.rules.html.title_and_language import title_and_language
from parcahyd.rules.html.xml_links import read_xml_links
from parcahyd.rules.media_types.media_type import recognise
from parcahyd.rules.urls.canonical_url import Joiner, canonical
from tests.conformance.charset_site.pages import PAGES, Page
from tests.conformance.charset_site.record import ORIGIN, RECORDED, observe

# Nothing is declared and the detectors disagree; or the browser leaves its standard; or we do.
DIFFERENCES = {
    "/utf-8/unlabelled": "Chromium never takes a page from the network for UTF-8 by its content; we do, as its author meant",
    "/utf-8/late-in-body": "the same: Chromium does not see a meta behind the first 1024 bytes and the head",
    "/iso-2022-jp/unlabelled": "Chromium does not detect ISO-2022-JP, which would endanger its scripts; we run none",
    "/iso-2022-jp/late-in-body": "the same, and we heed a meta wherever it stands, as the standard asks",
    "/gb18030/unlabelled": "both read the same text; GBK and gb18030 differ in how they write the euro sign",
    "/koi8-r/unlabelled": "both read the same text; KOI8-U and KOI8-R differ in letters that Russian does not have",
    "/windows-1253/unlabelled": "both read the same text; windows-1253 and ISO-8859-7 differ in the place of the euro sign",
    "/windows-1253/late-in-body": "the same: we heed the meta, Chromium's detector takes ISO-8859-7",
    "/labels/label-in-apostrophes": "we take charset='x' of a header for charset=x; browsers know no such label",
    "/structures/other-schemes": "Chromium encodes the query of gopher: in the page's charset, the standard in UTF-8",
}
SAME_TEXT = ("/gb18030/unlabelled", "/koi8-r/unlabelled", "/windows-1253/unlabelled", "/windows-1253/late-in-body")
# Chromium shows control characters of a title as white space, although the standard leaves them.
CONTROLS = re.compile(r"[\x00-\x20\x7f-\x9f]+")


def ours(path: str, page: Page) -> dict[str, Any]:
    media_type, charset = recognise(page.content_type, page.body)
    as_xml = media_type == "application/xhtml+xml"
    links = (read_xml_links if as_xml else read_links)(page.body, charset)
    title = title_and_language(page.body, links.charset)[0]
    url = ORIGIN + path
    join = Joiner(Joiner(url).join(links.base) or url if links.base else url).join
    return _comparable(links.charset, title, [join(href) or "" for href in links.follow], url)


def _comparable(charset: str, title: str, links: list[str], url: str) -> dict[str, Any]:
    """Every link once, in the order of the document, without those to the document itself."""
    targets = dict.fromkeys(target for link in links if (target := canonical(link)) and target != url)
    return {"charset": charset, "title": CONTROLS.sub(" ", title).strip(), "links": [*targets]}


def theirs(path: str, seen: dict[str, Any]) -> dict[str, Any]:
    return _comparable(seen["charset"], seen["title"], seen["links"], ORIGIN + path)


def _recorded() -> dict[str, dict[str, Any]]:
    pages: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))["pages"]
    return pages


def _different(seen: dict[str, dict[str, Any]]) -> set[str]:
    return {path for path, page in PAGES.items() if ours(path, page) != theirs(path, seen[path])}


def test_the_site_is_the_one_that_was_recorded() -> None:
    assert _recorded().keys() == PAGES.keys(), "record again: python tests/conformance/charset_site/record.py"
    assert len(PAGES) > 200


@pytest.mark.parametrize("path", [path for path in PAGES if path not in DIFFERENCES])
def test_charset_title_and_links_are_those_that_chromium_shows(path: str) -> None:
    assert ours(path, PAGES[path]) == theirs(path, _recorded()[path])


def test_the_differences_are_those_that_are_listed() -> None:
    assert _different(_recorded()) == set(DIFFERENCES)


@pytest.mark.parametrize("path", SAME_TEXT)
def test_where_only_the_charsets_name_differs_the_text_is_the_same(path: str) -> None:
    assert ours(path, PAGES[path])["title"] == theirs(path, _recorded()[path])["title"]


def test_a_browser_that_is_there_shows_the_same() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None or find_spec("playwright") is None:
        pytest.skip(
            "needs playwright and a Chromium to compare with a live browser; what was recorded from one is compared above"
        )
    _, seen = observe(chromium)
    assert _different(seen) <= set(DIFFERENCES)
