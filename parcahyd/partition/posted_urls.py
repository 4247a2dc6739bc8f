"""Which foreign URLs were posted to their owners already, in bounded memory (statement C38).

Most links that lead out of a partition lead to few pages, over and over. A URL that is in the table is not posted again. The
table forgets what it has no room for, and then a URL is posted twice, which costs a letter and does no harm: its owner knows
it. It must never claim that a URL was posted that was not, since that URL would be lost. So an entry is made after the commit
that posted it, and never before.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

__all__ = ["PostedUrls"]

_ENTRY = 16
"""Bytes of the hash that stands for a URL. Of 2**60 URLs, two of the same hash are not to be expected."""
_BUCKET = 4 * _ENTRY
"""The four places where a URL can be; of these, the one that was used longest ago is given up first."""


class PostedUrls:
    """A table of at most `memory` bytes, 16 for each URL. An owner is the number of a partition."""

    def __init__(self, memory: int) -> None:
        self._buckets = max(1, memory // _BUCKET)
        self._table = bytearray(self._buckets * _BUCKET)
        self._versions: dict[int, int] = {}

    def is_posted(self, owner: int, url: str) -> bool:
        """Whether the URL was posted to this owner, as far as it is remembered."""
        return self._to_front(self._hash(owner, url), add=False)

    def version(self, owner: int) -> int:
        """A number that changes with each `forget`. A batch takes it down when its URLs are judged."""
        return self._versions.get(owner, 0)

    def note_committed(self, owner: int, urls: Iterable[str], version: int) -> None:
        """Remembers URLs whose posting was committed just now. `version` is that of the time when the batch was judged.

        If `forget` was called for the owner while the batch was on its way, nothing is remembered: the letters went by the
        former routing.
        """
        if version == self.version(owner):
            for url in urls:
                self._to_front(self._hash(owner, url), add=True)

    def forget(self, owner: int) -> None:
        """Forgets what was posted to this owner: the routing of its mail has changed, or what it had stored is lost."""
        # The hash takes the version in, so no entry of a former version is ever found. They make room in time.
        self._versions[owner] = self.version(owner) + 1

    def _hash(self, owner: int, url: str) -> bytes:
        whose = owner.to_bytes(8) + self.version(owner).to_bytes(8)
        return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=_ENTRY, person=whose).digest()

    def _to_front(self, entry: bytes, add: bool) -> bool:
        """Makes the entry the first of its bucket, if it is there or is to be added; returns whether it was there."""
        table, start = self._table, int.from_bytes(entry[:8]) % self._buckets * _BUCKET
        place = table.find(entry, start, start + _BUCKET)
        if place == start:
            return True
        if place > start or add:
            end = place if place > start else start + _BUCKET - _ENTRY
            table[start : end + _ENTRY] = entry + table[start:end]
        return place > start
