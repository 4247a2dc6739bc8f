"""MediaTypes: the types of documents that are kept."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["AcceptedTypes"]


class AcceptedTypes:
    """Says of a media type whether it is one of those wanted: `text/html`, `image/*`, or `*` and `*/*` for all.

    Letter case makes no difference, nor do parameters behind `;`. With nothing wanted in particular everything is.
    """

    __slots__ = ("_families", "_types", "_wants_all")

    def __init__(self, wanted: Sequence[str]) -> None:
        types = [_bare(one) for one in wanted]
        self._wants_all = not types or "*" in types or "*/*" in types
        self._types = frozenset(types)
        self._families = tuple(one[:-1] for one in types if one.endswith("/*"))

    def admits(self, media_type: str) -> bool:
        """Whether a document of this type is kept; one of which no type is known only where everything is wanted."""
        if self._wants_all:
            return True
        bare = _bare(media_type)
        return bare in self._types or bare.startswith(self._families)


def _bare(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
