"""How many URLs a site may still bring: a fixed number, and more with each page that it gives.

Links cost their author nothing, pages cost him a request each. So a site that invents URLs gets the fixed number, and an honest
one, however large, gets room as quickly as it is crawled.
"""

from __future__ import annotations

__all__ = ["NO_LIMIT", "URLS_PER_PAGE", "site_room"]

URLS_PER_PAGE = 100
"""What a page adds to the room of its site: few sites have so many new links on each page, on average."""

NO_LIMIT = 2**31 - 1


def site_room(limit: int, urls: int, pages: int) -> int:
    """How many more URLs there is room for, where a site has brought `urls` and given `pages`; a `limit` of 0 means none."""
    return max(0, limit + URLS_PER_PAGE * pages - urls) if limit else NO_LIMIT
