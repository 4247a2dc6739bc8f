"""Which paths of a visit's site are sitemaps: those that robots.txt names, and those that they name in turn."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["SITEMAP_LEVELS", "SitemapPaths"]

SITEMAP_LEVELS = 3
"""An index of indexes of sitemaps; the protocol knows two levels."""
_MAX_SITEMAPS = 500
"""An index may invent new ones with every answer."""


class SitemapPaths:
    """Remembers them, as far as one site may have them."""

    __slots__ = ("_paths", "_prefix")

    def __init__(self, origin: str) -> None:
        self._prefix = origin + "/"
        self._paths: set[str] = set()

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    def note(self, urls: Iterable[str | None]) -> list[str]:
        """Takes canonical URLs; gives the paths of this site among them that are new."""
        new = []
        for url in urls:
            if url is not None and url.startswith(self._prefix) and len(self._paths) < _MAX_SITEMAPS:
                path = url[len(self._prefix) - 1 :]
                if path not in self._paths:
                    self._paths.add(path)
                    new.append(path)
        return new
