"""Reads a sitemap of the usual shape with one pattern: nothing but `url`, with `loc`, `lastmod`, `changefreq` and `priority`,
all ASCII.

Most large sitemaps are like that, and calling back from expat for each of their tags takes several times as long. Whatever is
unusual in any way is left to `sitemap_xml`: the outcome is the same, and a test compares the two.
"""

from __future__ import annotations

import re

from parcahyd.rules.sitemap_dates import moment
from parcahyd.rules.sitemap_elements import Kind
from parcahyd.rules.sitemap_harvest import Harvest

__all__ = ["read_at_a_glance"]

_GAP = rb"[\t\n\r ]*+"
_ATTRIBUTE = rb"[\t\n\r ]++[A-Za-z_][A-Za-z0-9_:.-]*+=(?:\"[ !#-%'-;=?-~]*+\"|'[ -%(-;=?-~]*+')"
_HEAD = re.compile(
    rb"(?:<\?xml version=[\"']1\.0[\"'](?: encoding=[\"'][A-Za-z][A-Za-z0-9._-]*+[\"'])?+(?: standalone=[\"'](?:yes|no)[\"'])?+"
    rb" ?+\?>)?+"
    rb"%(gap)b(?:<\?xml-stylesheet[^<>?]*+\?>%(gap)b)?+<urlset(?:%(attribute)b)*+%(gap)b>"
    % {b"gap": _GAP, b"attribute": _ATTRIBUTE}
)
_MINOR = rb"(?:<changefreq>[A-Za-z\t\n\r ]*+</changefreq>%(gap)b|<priority>[0-9.\t\n\r ]*+</priority>%(gap)b)*+" % {
    b"gap": _GAP
}
_URL = re.compile(
    rb"%(gap)b<url>%(gap)b<loc>%(gap)b((?:[!-%%'-;=?-~]++|&amp;)++)%(gap)b</loc>%(gap)b%(minor)b"
    rb"(?:<lastmod>%(gap)b([0-9TZ:.+-]*+)%(gap)b</lastmod>%(gap)b)?+%(minor)b</url>" % {b"gap": _GAP, b"minor": _MINOR}
)
_TAIL = re.compile(_GAP + rb"</urlset>" + _GAP)


def read_at_a_glance(data: bytes, harvest: Harvest) -> bool:
    """Whether the whole document is of the usual shape; if not, the harvest is of no use. Raises HarvestFull."""
    head = _HEAD.match(data)
    if head is None:
        return False
    harvest.kind = Kind.URLSET
    position = head.end()
    while found := _URL.match(data, position):
        position = found.end()
        location, lastmod = found.groups()
        text = location.decode("ascii")
        harvest.add(harvest.pages, text.replace("&amp;", "&"), moment(lastmod.decode("ascii")) if lastmod else None)
    return _TAIL.fullmatch(data, position) is not None
