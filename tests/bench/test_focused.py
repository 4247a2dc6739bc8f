"""The harvest of a crawl, and the site that it is measured on."""

from __future__ import annotations

from urllib.request import urlopen

from bench.focused import ServedPages, harvest
from tests.topics.small_corpus import corpus


def test_harvest_is_the_share_of_pages_of_a_topic_among_the_first() -> None:
    assert harvest(["a", "a", "b", "a", "b", "b", "b", "b"], "a", (0.25, 0.5, 1.0)) == [1.0, 0.75, 0.375]


def test_pages_have_their_words_and_their_links() -> None:
    pages = corpus(2)
    site = ServedPages(pages, [[1, 5], [], [], [], [], []], [0, 1, 2], "kettles")
    try:
        with urlopen(site.url) as answer:  # noqa: S310 - its own server on loopback
            assert answer.read() == b'<a href="/0">.</a>'
        with urlopen(f"{site.url}0") as answer:  # noqa: S310 - the same
            body = answer.read()
    finally:
        site.close()
    assert body.count(b"<a href") == 1, "a page that is not served is no link"
    assert sorted(body.partition(b"<p>")[2].partition(b"</p>")[0].split()) == sorted(
        word for word, count in pages[0].words.items() for _ in range(count)
    )
    assert site.requested == [0]
