"""The tables that a site offers: where they are declared, for which documents, and which are assumed to be missing.

Declarations of robots.txt and of `/.well-known/augment` hold for the whole site, those of a page or of another file for its own
directory. What was learned is stored as a `SiteOffer` for the next visit; declarations of robots.txt are read again with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from parcahyd.augment.sidecars import STEM
from parcahyd.augment.site_offer import (
    ALL_TABLES,
    ALL_TVI,
    MAX_ABSENT,
    MAX_DECLARATIONS,
    Declaration,
    SiteOffer,
    choose,
    declaration_from_links,
    declarations_in,
    read_offer,
    restricted_to_directory,
    write_offer,
)

__all__ = ["ABSENT_BUNDLE", "ABSENT_DIRECTORY", "WELL_KNOWN", "Offers"]

WELL_KNOWN = "/.well-known/augment"
ABSENT_BUNDLE = 7 * 86_400.0
"""Seconds for which a bundle, a declaration, or all of a site's tables are assumed to be missing."""
ABSENT_DIRECTORY = 86_400.0
"""The same for the tables of one directory, and for a site's tables of variable information."""
_BARRED = 7 * 86_400.0
_MISSES = 3
"""After so many tables in a row that were not there, no more of them are requested."""
_STRIKES = 3
_FEWEST_LINKS = 50
_MOST_PHANTOMS = 0.2
_REMEMBERED_LINKS = 10_000
"""Counts of links are halved beyond this, so that old tables count less than new ones."""
_BESIDE = Declaration("/", f"{STEM}.TOL")
"""The form of the paper, for `Probe = "blind"`."""


class Offers:
    """The offer of one site during a visit; `encode` returns what is stored of it."""

    def __init__(self, origin: str, stored: bytes, is_blind: bool = False) -> None:
        self._origin = origin
        self._stored = stored
        self._offer = read_offer(stored)
        self._is_blind = is_blind
        self._by_robots: list[Declaration] = []
        self._misses: dict[str, int] = {}
        self._absent = dict(self._offer.absent)

    def encode(self) -> bytes:
        """The offer as it is stored; empty where nothing has changed."""
        kept = sorted(self._absent.items(), key=lambda entry: -entry[1])[:MAX_ABSENT]
        data = write_offer(msgspec.structs.replace(self._offer, absent=tuple(kept)))
        return b"" if data == (self._stored or write_offer(SiteOffer())) else data

    # --- what is offered -----------------------------------------------------------------------------------------------

    @property
    def declarations(self) -> list[Declaration]:
        """All declarations, those of robots.txt first: of two with equal scope the first holds."""
        return [*self._by_robots, *self._offer.declarations]

    def declare(self, robots: bytes) -> None:
        """Read the declarations of robots.txt, which hold for the whole site."""
        self._by_robots = declarations_in(robots)

    def declare_by_file(self, path: str, text: bytes) -> None:
        """Read a file of declarations, which hold for its own directory; those of the well-known file for the whole site."""
        found: Iterable[Declaration | None] = declarations_in(text)
        if path != WELL_KNOWN:
            found = [
                restricted_to_directory(declaration, self._origin + path) for declaration in found if declaration is not None
            ]
        for declaration in found:
            if declaration is not None:
                self._add(declaration)

    def learn(self, url: str, tol: str, tvi: str) -> bool:
        """A page of this site names its tables (absolute URLs, or empty); returns whether a declaration was added."""
        if (not tol or self._tol_of(url) == tol) and (not tvi or self._tvi_of(url) == tvi):
            return False
        taught = declaration_from_links(url, tol, tvi)
        if taught is None:
            return False
        holds = choose(self.declarations, url)
        if holds is not None:
            # A page may name one table only: for the other, the earlier declaration still holds.
            taught = msgspec.structs.replace(
                taught, tol=taught.tol or holds.tol, tvi=taught.tvi or holds.tvi, index=holds.index
            )
        return self._add(taught)

    def _add(self, declaration: Declaration) -> bool:
        others = [known for known in self._offer.declarations if known.scope != declaration.scope]
        if len(others) >= MAX_DECLARATIONS or declaration in self._offer.declarations:
            return False
        self._offer = msgspec.structs.replace(self._offer, declarations=(*others, declaration))
        return True

    def bundles(self, now: float) -> Iterator[tuple[str, Declaration]]:
        """The paths of the bundles that may be requested, and the declarations that name them."""
        for declaration in self.declarations:
            url = declaration.bundle_of(self._origin)
            if url is not None and not self.is_absent(path := url[len(self._origin) :], now):
                yield path, declaration

    def tol_of(self, path: str, now: float) -> tuple[str, Declaration] | None:
        """The path of a document's table of links, and its declaration, if the table may be requested."""
        declaration = choose(self.declarations, self._origin + path) or (_BESIDE if self._is_blind else None)
        if declaration is None or self.is_absent(_directory(path), now) or self.is_absent(ALL_TABLES, now):
            return None
        url = declaration.tol_of(self._origin + path)
        return None if url is None else (url[len(self._origin) :], declaration)

    def tvi_of(self, path: str) -> str | None:
        """The path of a document's table of variable information, if one is declared."""
        url = self._tvi_of(self._origin + path)
        return None if url is None else url[len(self._origin) :]

    def _tol_of(self, url: str) -> str | None:
        holds = choose(self.declarations, url)
        return None if holds is None else holds.tol_of(url)

    def _tvi_of(self, url: str) -> str | None:
        holds = choose(self.declarations, url)
        return None if holds is None else holds.tvi_of(url)

    # --- what is missing -----------------------------------------------------------------------------------------------

    def is_absent(self, path: str, now: float) -> bool:
        return self._absent.get(path, 0.0) > now

    def note_absent(self, path: str, until: float) -> None:
        """A bundle or a file of declarations is not requested again before that time."""
        if len(self._absent) >= MAX_ABSENT:
            self._absent.pop(min(self._absent, key=self._absent.__getitem__))
        self._absent[path] = until

    def note_tol(self, path: str, now: float, *, is_there: bool) -> None:
        """Note whether the table of links of this document is there."""
        self._count(self._place_of(path), now, is_there)

    def note_tvi(self, now: float, *, is_there: bool) -> None:
        """Note whether a table of variable information is there."""
        self._count(ALL_TVI, now, is_there)

    def _count(self, place: str, now: float, is_there: bool) -> None:
        """Count misses in a row; after too many, all tables of the place are assumed to be missing."""
        if is_there:
            self._misses.pop(place, None)
            return
        self._misses[place] = self._misses.get(place, 0) + 1
        if self._misses[place] >= _MISSES:
            del self._misses[place]
            self.note_absent(place, now + (ABSENT_BUNDLE if place == ALL_TABLES else ABSENT_DIRECTORY))
        elif len(self._misses) > MAX_ABSENT:
            self._misses.clear()

    def _place_of(self, path: str) -> str:
        """Where misses are counted together: a directory, or the whole site where nothing is declared."""
        return _directory(path) if choose(self.declarations, self._origin + path) is not None else ALL_TABLES

    # --- what is trusted -----------------------------------------------------------------------------------------------

    def are_links_barred(self, now: float) -> bool:
        return self._offer.links_barred_until > now

    def count_links(self, confirmed: int, phantoms: int, now: float) -> None:
        """Of the links of tables, so many are in their documents, and so many are not."""
        confirmed += self._offer.confirmed
        phantoms += self._offer.phantoms
        until = self._offer.links_barred_until
        if confirmed + phantoms >= _FEWEST_LINKS and phantoms > _MOST_PHANTOMS * (confirmed + phantoms):
            confirmed, phantoms, until = 0, 0, now + _BARRED
        elif confirmed + phantoms > _REMEMBERED_LINKS:
            confirmed, phantoms = confirmed // 2, phantoms // 2
        self._offer = msgspec.structs.replace(self._offer, confirmed=confirmed, phantoms=phantoms, links_barred_until=until)

    def are_fragments_barred(self, now: float) -> bool:
        """Whether no table of variable information is requested: too many were wrong, or they are assumed to be missing."""
        return self._offer.fragments_barred_until > now or self.is_absent(ALL_TVI, now)

    def strike(self, now: float) -> None:
        """A table of variable information was wrong."""
        strikes, until = self._offer.strikes + 1, self._offer.fragments_barred_until
        if strikes >= _STRIKES:
            strikes, until = 0, now + _BARRED
        self._offer = msgspec.structs.replace(self._offer, strikes=strikes, fragments_barred_until=until)


def _directory(path: str) -> str:
    path = path.partition("?")[0]
    return path[: path.rindex("/") + 1]
