"""The vocabulary of sitemaps and feeds: which elements are items, which are fields of an item, and how authors spell them."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "ASIDE",
    "CHILD",
    "DATE",
    "FEED_ITEM",
    "GUID",
    "HREF",
    "INNER",
    "LESSER_DATE",
    "LOCATION",
    "OUTER",
    "PAGE",
    "ROOTS",
    "THROUGH",
    "Kind",
    "spelt",
]


class Kind(StrEnum):
    """What a file turned out to be."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    NONE = "none"


# What an element means where it stands. Fields come first: their text is awaited. Items come last.
LOCATION, DATE, LESSER_DATE, GUID = 1, 2, 3, 4
HREF, THROUGH, ASIDE = 5, 6, 7
PAGE, CHILD, FEED_ITEM = 8, 9, 10

_SITEMAP = {"url": PAGE, "sitemap": CHILD, "urlset": THROUGH, "sitemapindex": THROUGH, "sitemaps": THROUGH}
_RSS = {"item": FEED_ITEM, "link": LOCATION, "channel": THROUGH, "rss": THROUGH, "rdf": THROUGH}
_ATOM = {"entry": FEED_ITEM, "link": HREF, "feed": THROUGH}

OUTER = {Kind.URLSET: _SITEMAP, Kind.INDEX: _SITEMAP, Kind.RSS: _RSS, Kind.ATOM: _ATOM}
"""What elements mean outside items, by kind. An index may hold pages and a sitemap children: authors mix them up."""
INNER = {
    "url": {"loc": LOCATION, "lastmod": DATE, "link": HREF, "changefreq": THROUGH, "priority": THROUGH},
    "sitemap": {"loc": LOCATION, "lastmod": DATE},
    "item": {"link": LOCATION, "pubdate": DATE, "date": LESSER_DATE, "guid": GUID},
    "entry": {"link": HREF, "updated": DATE, "modified": DATE, "published": LESSER_DATE, "issued": LESSER_DATE},
}
"""What elements mean in an item, by the item's name."""
ROOTS = {
    "urlset": Kind.URLSET,
    "sitemapindex": Kind.INDEX,
    "sitemaps": Kind.INDEX,
    "rss": Kind.RSS,
    "rdf": Kind.RSS,
    "feed": Kind.ATOM,
    # Where the root is missing:
    "url": Kind.URLSET,
    "sitemap": Kind.INDEX,
    "channel": Kind.RSS,
    "entry": Kind.ATOM,
}
"""The kind of file that begins with an element."""

_SPELLINGS = {
    "urlsets": "urlset",
    "siteindex": "sitemapindex",
    "sitemapsindex": "sitemapindex",
    "location": "loc",
    "lastmodified": "lastmod",
    "lastmodification": "lastmod",
}
_EXTENSIONS = frozenset(("image", "video", "news", "mobile", "media", "content", "itunes", "pagemap"))


def spelt(name: str) -> str:
    """An element's name in its usual spelling, never empty; without a prefix, unless that is an extension's."""
    prefix, _, local = name.lower().rpartition(":")
    local = local.replace("-", "").replace("_", "")
    local = _SPELLINGS.get(local, local) or "?"
    return f"{prefix}:{local}" if prefix in _EXTENSIONS else local
