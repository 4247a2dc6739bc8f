"""Haste: pages arrive so quickly that what can be done later is left for later."""

from __future__ import annotations

__all__ = ["Haste"]

_MOMENT = 0.25
_MANY = 50
"""Pages in a moment: at such a rate, fingerprints of texts are left to who asks for near-duplicates."""


class Haste:
    """Whether pages arrive so quickly that what can be done later had better be."""

    def __init__(self) -> None:
        self._since = 0.0
        self._pages = 0
        self._before = 0

    def is_in(self, pages: int, now: float) -> bool:
        """So many pages have arrived now."""
        if now - self._since > _MOMENT:
            self._before = self._pages if now - self._since < 2 * _MOMENT else 0
            self._since, self._pages = now, 0
        self._pages += pages
        return max(self._pages, self._before) > _MANY
