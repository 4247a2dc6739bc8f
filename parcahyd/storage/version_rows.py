"""The rows of `volatile`, `tvis` and `learned`: what goes with a version, and the version itself, whole or in its parts.

A page without regions, table or anything learned has none of them and costs nothing here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from parcahyd.core.records import TableFact
from parcahyd.storage.packed import Damaged, PackedRegion
from parcahyd.storage.plain_text import validator
from parcahyd.storage.writer import Writer

__all__ = ["Lesson", "Version", "VersionRows"]


class Version(NamedTuple):
    """A fetch, as far as the next one is compared with it."""

    id: int
    redirect: str | None
    sha256: bytes | None
    """Of the whole, as the length."""
    length: int | None
    document_id: int | None
    tvi: int | None
    """Not None where it is refreshed by a table of variable information."""
    skeleton_sha256: bytes | None
    """Of the skeleton that was learned; None where nothing was."""
    learned: bytes | None


class Lesson(NamedTuple):
    """What is known of how a page changes, for a row of `learned`."""

    skeleton_sha256: bytes
    content: bytes
    """Empty: nothing, and no row."""


class VersionRows:
    """Reads and writes what goes with fetches; used inside a transaction of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._of = writer.statements["version_rows.of"]
        self._document = writer.statements["version_rows.document"]
        self._regions = writer.statements["version_rows.regions"]
        self._users = writer.statements["version_rows.users"]
        self._learned = writer.statements["version_rows.learned"]
        self._insert_volatile = writer.statements["version_rows.insert_volatile"]
        self._insert_tvi = writer.statements["version_rows.insert_tvi"]
        self._insert_learned = writer.statements["version_rows.insert_learned"]
        self._move = writer.statements["version_rows.move"]
        self._delete_volatile = writer.statements["document_rows.delete_volatile"]
        self._delete_tvi = writer.statements["document_rows.delete_tvi"]
        self._delete_learned = writer.statements["document_rows.delete_learned"]

    # --- reading --------------------------------------------------------------------------------------------------------

    def of(self, fetches: Collection[int]) -> dict[int, Version]:
        """The versions by their fetches, in one query; none where no fetch is asked for, as in a first crawl."""
        if not fetches:
            return {}
        rows = self._writer.rows(self._of, self._writer.lists.bind(list(fetches)))
        return {row[0]: Version._make(row) for row in rows}

    def learned(self, fetches: Collection[int]) -> list[tuple[int, int, int, bytes, bytes]]:
        """Of those fetches of which something was learned: fetch, document, length of the whole, and the lesson."""
        return self._writer.rows(self._learned, self._writer.lists.bind(list(fetches))) if fetches else []

    def packed(self, document: int) -> tuple[bytes, int]:
        """The bytes of a document as they are stored, and their length unpacked."""
        for body, length in self._writer.rows(self._document, document):
            return body, length
        raise Damaged("it is not there")

    def regions(self, fetch: int) -> list[PackedRegion]:
        """The regions of a version, ascending."""
        return [PackedRegion._make(row) for row in self._writer.rows(self._regions, fetch)]

    def is_alone(self, document: int) -> bool:
        """Whether one fetch, and no other, refers to a document."""
        return len(self._writer.rows(self._users, document, 2)) == 1

    # --- writing --------------------------------------------------------------------------------------------------------

    def add_regions(self, regions: Mapping[int, Sequence[PackedRegion]]) -> None:
        """Regions by the fetch that brought them."""
        rows = [
            (fetch, number, region.offset, region.packed, region.id, region.length)
            for fetch, its_regions in regions.items()
            for number, region in enumerate(its_regions, 1)
        ]
        self._writer.many(self._insert_volatile, rows)

    def repack(self, versions: Mapping[int, tuple[int, Sequence[PackedRegion]]]) -> None:
        """Lets fetches have what they brought as other documents and regions; the bytes must be the same."""
        if versions:
            self._writer.many(self._delete_volatile, [(fetch,) for fetch in versions])
            self._writer.many(self._move, [(document, fetch) for fetch, (document, _) in versions.items()])
            self.add_regions({fetch: regions for fetch, (_, regions) in versions.items()})

    def set_tables(self, facts: Mapping[int, TableFact | None]) -> None:
        """The tables that fetches are refreshed by; None: by none any more."""
        if facts:
            self._writer.many(self._delete_tvi, [(fetch,) for fetch in facts])
            rows = [
                (fetch, validator(fact.etag), validator(fact.modified), fact.refresh, fact.merges)
                for fetch, fact in facts.items()
                if fact is not None
            ]
            self._writer.many(self._insert_tvi, rows)

    def set_learned(self, lessons: Mapping[int, Lesson]) -> None:
        if lessons:
            self._writer.many(self._delete_learned, [(fetch,) for fetch in lessons])
            rows = [(fetch, *lesson) for fetch, lesson in lessons.items() if lesson.content]
            self._writer.many(self._insert_learned, rows)
