"""Who is asked about a media type: the plugins that name it, strangers before the built-in ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

__all__ = ["Choice"]


class _WithTypes(Protocol):
    media_types: frozenset[str]


_Plugin = TypeVar("_Plugin", bound=_WithTypes)


class Choice(Generic[_Plugin]):
    """Plugins by what they say they read. The order in which they are given is the order in which they are asked."""

    def __init__(self, plugins: Iterable[tuple[str, _Plugin]]) -> None:
        self._by_type: dict[str, list[tuple[str, _Plugin]]] = {}
        for name, plugin in plugins:
            for media_type in plugin.media_types:
                self._by_type.setdefault(media_type, []).append((name, plugin))

    def for_type(self, media_type: str) -> list[tuple[str, _Plugin]]:
        """With their names: those for exactly this type, then for its suffix, then for everything of its kind."""
        kind, _, rest = media_type.partition("/")
        _, plus, suffix = rest.rpartition("+")
        found = self._by_type.get(media_type, [])
        if plus:
            found = found + self._by_type.get(f"+{suffix}", [])
        return found + self._by_type.get(f"{kind}/*", [])
