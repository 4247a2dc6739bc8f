"""Room for the URLs of a site: a fixed number, and more with each page."""

from __future__ import annotations

from parcahyd.rules.traps.site_room import NO_LIMIT, URLS_PER_PAGE, site_room


def test_a_site_that_gives_no_page_gets_a_fixed_number() -> None:
    assert [site_room(1000, brought, 0) for brought in (0, 999, 1000, 5000)] == [1000, 1, 0, 0]


def test_a_site_that_is_crawled_gets_room_as_quickly_as_its_pages_come() -> None:
    """A flat site of a million pages: all its URLs have room long before all its pages were requested."""
    assert site_room(100_000, 1_000_000, 9_001) == URLS_PER_PAGE
    assert site_room(0, 10**9, 0) == NO_LIMIT
