"""The tables that a site's robots.txt declares."""

from __future__ import annotations

from collections.abc import Callable

from parcahyd.augment.declaration import choose, declarations_in

__all__ = ["DeclaredTables"]

_STRIKES = 3


class DeclaredTables:
    """What one visit knows of its site's tables. `allows` says whether robots.txt lets a URL be asked for."""

    def __init__(self, origin: str, robots: bytes, allows: Callable[[str], bool]) -> None:
        self._origin = origin
        self._declarations = declarations_in(robots)
        self._allows = allows
        self._strikes = 0

    def tvi_of(self, path: str) -> str | None:
        url = self._origin + path
        declaration = choose(self._declarations, url)
        table = declaration.tvi_of(url) if declaration is not None else None
        return table[len(self._origin) :] if table is not None and self._allows(table) else None

    def is_fragments_barred(self, now: float) -> bool:  # noqa: ARG002 - for the visit's rest
        return self._strikes >= _STRIKES

    def strike(self, now: float) -> None:  # noqa: ARG002
        self._strikes += 1
