"""What a visit needs to refresh documents by fragment: their skeletons and regions, with the pair that asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from parcahyd.core.life_cycle import State
from parcahyd.core.records import DueUrl, Held, Pair, TableFact
from parcahyd.storage.packed import Damaged
from parcahyd.storage.parts import parts_of
from parcahyd.storage.run_state import RunState
from parcahyd.storage.version_rows import VersionRows
from parcahyd.storage.writer import Writer

__all__ = ["LEASE_BYTES", "PAIR_BYTES", "HeldDocuments"]

PAIR_BYTES = 2 * 1024 * 1024
"""Of skeletons (compressed) and regions that go with one pair; URLs beyond are left to the site's next visit."""
LEASE_BYTES = 16 * 1024 * 1024
"""The same for the pairs that are given out together; beyond, conditional requests serve."""

_STORED = int(State.STORED)


class HeldDocuments:
    """Reads versions that have a table; used inside a transaction of the writer."""

    def __init__(self, writer: Writer, state: RunState) -> None:
        self._writer = writer
        self._state = state
        self._versions = VersionRows(writer)
        self._with_table = writer.statements["version_rows.with_table"]

    def give(self, pairs: Sequence[Pair]) -> list[Pair]:
        """The pairs, with what is held of the stored documents that have a table; one query where there is none."""
        places = [(pair.site, url.key) for pair in pairs for url in pair.urls if url.state == _STORED]
        if not places:
            return list(pairs)
        found = {row[:2]: row[2:] for row in self._writer.rows(self._with_table, *self._writer.lists.bind_pairs(places))}
        if not found:
            return list(pairs)
        left = LEASE_BYTES
        given = []
        for pair in pairs:
            urls, used = self._held_of(pair, found, min(left, PAIR_BYTES))
            left -= used
            if self._state.allowance is not None:
                self._state.allowance.spend(len(urls) - len(pair.urls))
            given.append(msgspec.structs.replace(pair, urls=urls) if used else pair)
        return given

    def _held_of(self, pair: Pair, found: dict[Any, Any], most: int) -> tuple[tuple[DueUrl, ...], int]:
        """The pair's URLs, and how many bytes are held. What finds no room stays due, unless it is the first: then none has."""
        urls = []
        used = 0
        for url in pair.urls:
            row = found.get((pair.site, url.key)) if url.state == _STORED else None
            is_small = row is not None and used + row[3] <= most
            held = self._held(row) if is_small else None
            if held is not None and used + _size(held) <= most:
                used += _size(held)
                urls.append(msgspec.structs.replace(url, held=held))
            elif row is None or not used or (is_small and held is None):
                urls.append(url)
        return tuple(urls), used

    def _held(self, row: Any) -> Held | None:
        fetch, document, sha256, _, media_type, charset, headers, *fact = row
        try:
            packed, length = self._versions.packed(document)
            parts = parts_of(bytes(packed), length, self._versions.regions(fetch), self._state.work.CompressionLevel)
        except Damaged:  # The whole document will do; `verify` says what is wrong.
            return None
        kind = (media_type, charset, bytes(headers))
        return Held(parts.packed, parts.length, bytes(sha256), parts.regions, TableFact(*fact), *kind)


def _size(held: Held) -> int:
    """What it weighs in a message, roughly."""
    return len(held.skeleton) + len(held.headers) + sum(len(name) + len(content) + 16 for name, _, content in held.regions)
