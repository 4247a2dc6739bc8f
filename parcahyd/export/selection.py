"""Which versions of which URLs are exported."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.core.states import State
from parcahyd.rules.urls.url_patterns import UrlPatterns
from parcahyd.storage.reports.named_sites import named_sites
from parcahyd.storage.reports.reader import Reader

__all__ = ["Selection"]

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:\*|[a-z0-9!#$&^_.+-]+)").fullmatch


class Selection:
    """The user's choice. What is not given chooses everything.

    A site that is not in the crawl, a media type or a pattern that cannot be one is a UserError.
    """

    def __init__(
        self,
        reader: Reader,
        site: str | None = None,
        since: float | None = None,
        until: float | None = None,
        types: Sequence[str] = (),
        state: str | None = None,
        match: str | None = None,
    ) -> None:
        self.sites = None if site is None else _sites(reader, site)
        self.since = since
        self.until = until
        self._in_state = None if state is None else State[state.upper()]
        self.types = tuple(_media_type(text) for text in types)
        self._match = None if match is None else _pattern(match)
        self.words = msgspec.json.encode([site, since, until, sorted(self.types), state, match]).decode()
        """The choice as text: two exports with the same words choose alike."""

    def admits(self, site: int, at: float, state: int, media_type: str, url: str) -> bool:
        """Whether a version is chosen. A redirect has an empty media type, which no choice of types includes."""
        return (
            (self.sites is None or site in self.sites)
            and (self.since is None or at >= self.since)
            and (self.until is None or at <= self.until)
            and (self._in_state is None or state == self._in_state)
            and (not self.types or any(_is_of(media_type, wanted) for wanted in self.types))
            and (self._match is None or self._match.admits(url))
        )


def _is_of(media_type: str, wanted: str) -> bool:
    return media_type.startswith(wanted[:-1]) if wanted.endswith("/*") else media_type == wanted


def _sites(reader: Reader, site: str) -> frozenset[int]:
    with reader.transaction() as connection:
        found = frozenset(named_sites(connection, site))
    if not found:
        raise UserError(f"{site} is not in this crawl", "parcahyd status lists the sites")
    return found


def _media_type(text: str) -> str:
    if _TYPE(text.lower()) is None:
        raise UserError(f'"{text}" is not a media type', "write text/html, or image/* for all images")
    return text.lower()


def _pattern(match: str) -> UrlPatterns:
    try:
        return UrlPatterns((match,))
    except ValueError as error:
        raise UserError(f'the pattern "{match}" cannot be read: {error}', 'such as "*/news/*"') from None
