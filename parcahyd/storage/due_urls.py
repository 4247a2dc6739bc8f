"""What a visit to a site is to ask for: its due URLs, in order, and the keys of all that it has."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import Any

from parcahyd.core.life_cycle import State
from parcahyd.core.records import DueUrl
from parcahyd.storage.writer import Writer

__all__ = ["DueUrls"]

_FEW = 200
"""A site with no more URLs than this is read as a whole, together with others like it: most sites are small."""

_STATE = 6
_in_order = itemgetter(-2, -1, 0)
_by_time = itemgetter(-1, 0)


class DueUrls:
    """Reads due URLs by steps into the indexes; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._all_of = writer.statements["due_urls.all_of"]
        self._known = writer.statements["due_urls.known"]
        self._failed = writer.statements["due_urls.failed"]
        self._again = [writer.statements[f"due_urls.{state}"] for state in ("stored", "refused", "gone")]
        self._keys = writer.statements["due_urls.keys"]

    def of(
        self, counts: dict[int, int], now: float, again_before: float, most: int, meta_keys: int
    ) -> dict[int, tuple[tuple[DueUrl, ...], bytes]]:
        """By site: its due URLs, at most so many, and the keys of all its URLs if these are not more than `meta_keys`.

        Known ones come first, by priority, then those to be tried again, then those to be looked at again.
        `counts` says how many URLs each site has.
        """
        found = self._of_small([site for site, count in counts.items() if count <= _FEW], now, again_before, most)
        for site, count in counts.items():
            if count > _FEW:
                found[site] = (
                    self._of_large(site, now, again_before, most),
                    self._keys_of(site) if count <= meta_keys else b"",
                )
            elif count > meta_keys:
                found[site] = (found[site][0], b"")
        return found

    def _of_small(
        self, ids: Collection[int], now: float, again_before: float, most: int
    ) -> dict[int, tuple[tuple[DueUrl, ...], bytes]]:
        rows: dict[int, list[Any]] = {site: [] for site in ids}
        if ids:
            for site, *row in self._writer.rows(self._all_of, self._writer.lists.bind(list(ids))):
                rows[site].append(row)
        return {
            site: (
                tuple(_due(row[:-2]) for row in _chosen(its_rows, now, again_before)[:most]),
                array("q", sorted(row[0] for row in its_rows)).tobytes(),
            )
            for site, its_rows in rows.items()
        }

    def _of_large(self, site: int, now: float, again_before: float, most: int) -> tuple[DueUrl, ...]:
        found = [_due(row) for row in self._writer.rows(self._known, site, most)]
        for statement, before in ((self._failed, now), *((again, again_before) for again in self._again)):
            if len(found) < most:
                found += [_due(row) for row in self._writer.rows(statement, site, before, most - len(found))]
        return tuple(found)

    def _keys_of(self, site: int) -> bytes:
        return array("q", [key for (key,) in self._writer.rows(self._keys, site)]).tobytes()


def _chosen(rows: Sequence[Any], now: float, again_before: float) -> list[Any]:
    """What the statements choose, from rows that are in hand; the last two columns are priority and due_at."""
    known = sorted((row for row in rows if row[_STATE] == State.KNOWN), key=_in_order)
    dated = [row for row in rows if row[-1] is not None]
    failed = sorted((row for row in dated if row[_STATE] == State.FAILED and row[-1] <= now), key=_by_time)
    again = [
        row
        for state in (State.STORED, State.REFUSED, State.GONE)
        for row in sorted((row for row in dated if row[_STATE] == state and row[-1] < again_before), key=_by_time)
    ]
    return known + failed + again


def _due(row: Sequence[Any]) -> DueUrl:
    key, path, depth, hops, seed, tries, state, etag, modified, document = row
    if document is None:
        etag = modified = ""
    return DueUrl(key, path, depth, hops, bool(seed), tries, state, etag, modified)
