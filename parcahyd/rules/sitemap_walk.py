"""Which sitemaps of a site are read, in which order and how many; and whose pages a sitemap may name.

An index may name indexes, itself among them, or a script may invent a new child with every answer. So each sitemap is read
once, only so many levels deep, and only so many of them: whatever a site serves, its walk ends. All URLs here are canonical.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from parcahyd.rules.sitemap_harvest import MAX_LOCATION

__all__ = ["MAX_DEPTH", "MAX_SITEMAPS", "SitemapWalk", "admits", "admitted_sites"]

MAX_DEPTH = 3
"""Levels of sitemaps: an index of indexes of sitemaps. The protocol knows two; one more is tolerated."""
MAX_SITEMAPS = 500
"""Sitemaps that one walk reads, unless its owner says otherwise."""


class SitemapWalk:
    """The sitemaps of one site that are still to be read, breadth first, so that no index hides the sitemaps beside it.

    Whether a sitemap may be asked for (robots, scope, address) is for others to say.
    """

    __slots__ = ("_ahead", "_depths", "_limit", "were_left_out")

    def __init__(self, start: Iterable[str], limit: int = MAX_SITEMAPS) -> None:
        """Begins with the sitemaps that robots.txt names, or with those that were guessed."""
        self._limit = limit
        self._depths: dict[str, int] = {}
        self._ahead: deque[str] = deque()
        self.were_left_out = 0
        """Children that were not taken up because of a limit."""
        self._take_up(start, 1)

    def next(self) -> str | None:
        """The sitemap to be read now; None where the walk is over."""
        return self._ahead.popleft() if self._ahead else None

    def add_children(self, parent: str, children: Iterable[str]) -> None:
        """Takes up the sitemaps that an index names and `admits` lets it name. Only what the walk knows has children."""
        self._take_up(children, self._depths.get(parent, MAX_DEPTH) + 1)

    def _take_up(self, urls: Iterable[str], depth: int) -> None:
        for url in urls:
            if url in self._depths:
                continue
            if depth > MAX_DEPTH or len(self._depths) >= self._limit or len(url) > MAX_LOCATION:
                self.were_left_out += 1
                continue
            self._depths[url] = depth
            self._ahead.append(url)


def admitted_sites(sitemap_url: str, named_by: str = "") -> tuple[str, ...]:
    """With one of which a page's URL must begin, for the sitemap to speak for it.

    A sitemap speaks for its own scheme, host and port; and wherever it lies, for the site whose robots.txt names it
    (sitemaps.org, "Sitemaps & Cross Submits"), given by any URL of that site. The protocol also wants pages to lie below the
    sitemap's folder; search engines do not insist on that where robots.txt names the sitemap, and neither is it asked here:
    whoever can put a file on a site and into its index speaks for it, as far as a crawler can tell.
    """
    return tuple({_site(url): None for url in (sitemap_url, named_by) if url})


def admits(sitemap_url: str, url: str, named_by: str = "") -> bool:
    """Whether the sitemap speaks for this page. For many pages of one sitemap, ask `url.startswith(admitted_sites(...))`."""
    return url.startswith(admitted_sites(sitemap_url, named_by))


def _site(url: str) -> str:
    """`scheme://host[:port]/` of a canonical URL, cut from its text."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/"
