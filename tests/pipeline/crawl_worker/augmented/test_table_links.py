"""Reading tables of links: the targets of a page's links, and the comparison with the page."""

from __future__ import annotations

from parcahyd.augment.refusal import Refusal, RefusalReason
from parcahyd.augment.site_offer import Declaration
from parcahyd.pipeline.crawl_worker.augmented.table_links import PageTable, TableReader, compare, sample_of
from parcahyd.rules.html.links import read_links
from tests.pipeline.crawl_worker.linked_pages import table
from tests.pipeline.crawl_worker.world import page

ORIGIN = "http://site.example"


def _reader(*, may_follow: bool = True) -> TableReader:
    return TableReader(ORIGIN, None, False, lambda _robots: may_follow)


def test_links_of_this_site_are_paths_and_a_table_is_taken_once() -> None:
    document = page("b.html", "/c/", "http://far.example/x", "b.html")
    links = _reader().read_table(table(document, "a.html"), "/d/a.TOL", "/d/a.html", "index.html")
    assert links.refusal is None
    assert links.take("/d/a.html") == PageTable(["/d/b.html", "/c/"], ["http://far.example/x"])
    assert links.take("/d/a.html") is None


def test_a_table_of_another_document_is_refused() -> None:
    links = _reader().read_table(table(page("b.html"), "other.html"), "/a.TOL", "/a.html", "index.html")
    assert links.refusal == Refusal(RefusalReason.DOCUMENT)
    assert links.pages == {}


def test_of_a_bundle_only_covered_documents_count() -> None:
    bundle = table(page("b.html"), "in/a.html") + table(page("c.html"), "out/a.html")
    links = _reader().read_bundle(bundle, "/site.TOL", Declaration("/in/", "{stem}.TOL"))
    assert set(links.pages) == {"/in/a.html"}


def test_directives_may_forbid_to_follow_the_links() -> None:
    links = _reader(may_follow=False).read_table(table(page("b.html"), "a.html"), "/a.TOL", "/a.html", "index.html")
    assert links.pages == {}


def test_a_table_is_compared_with_its_document() -> None:
    sample = sample_of(PageTable(["/b.html", "/phantom.html"], ["http://far.example/x"]), ORIGIN)
    document = read_links(page("b.html", "http://far.example/x").body, "utf-8")
    assert compare(sample, f"{ORIGIN}/a.html", document, None) == (2, 1)
