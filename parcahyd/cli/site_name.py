"""A site as the user spells it, in the spelling of the crawl."""

from __future__ import annotations

import re

from parcahyd.core.errors import UserError
from parcahyd.core.records import origin
from parcahyd.rules.urls.canonical_url import canonical, split

__all__ = ["site_name"]

_PORT = re.compile(":[0-9]+$")


def site_name(site: str) -> str:
    """A host, a host with its port, or scheme, host and port; anything else is a UserError."""
    is_whole = "://" in site
    url = canonical(site if is_whole else f"http://{site}/")
    if url is None or (not is_whole and split(url)[3] != "/"):
        raise UserError(f"{site!r} is not a site", "give a host, or scheme://host[:port]")
    scheme, host, port, _ = split(url)
    if is_whole:
        return origin(scheme, host, port)
    return f"{host}:{port}" if _PORT.search(site) else host
