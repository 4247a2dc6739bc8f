"""Focused crawling: whether the links of a page are followed first, after all others, or not at all, by the page's topic.

Tested in tests/topics/test_focus.py.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

__all__ = ["Focus", "Turn"]


class Turn(Enum):
    """When the links of a page are followed."""

    IN_ORDER = "in order"
    """As the setting Order says."""
    LATER = "later"
    """After all that are followed in order."""
    NEVER = "never"


class Focus:
    """Judges pages by the settings FollowTopics and OtherTopics."""

    __slots__ = ("_other", "_wanted")

    def __init__(self, wanted: Collection[str], other: str) -> None:
        """`wanted`: the topics whose links come first; none: those of every page do. `other`: "later" or "never"."""
        self._wanted = frozenset(wanted)
        self._other = Turn.NEVER if other == "never" else Turn.LATER

    def turn_of(self, topic: str, is_seed: bool) -> Turn:
        """When the links of a page with this topic are followed; a document without one is not judged, nor is a seed.

        A seed is where a crawl begins, whatever it is about.
        """
        if not self._wanted or not topic or is_seed or topic in self._wanted:
            return Turn.IN_ORDER
        return self._other
