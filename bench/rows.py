"""What the rows of a crawl take in its database: bytes of each table with its indexes, for a row, a URL and a page.

    python bench/rows.py crawl.db
    python bench/rows.py postgresql://USER@HOST/NAME

SQLite tells by `dbstat`, PostgreSQL by `pg_total_relation_size`. Either counts the room that pages of the file leave free.
How long it takes to read what `parcahyd status` shows is told, too.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.report_page import table
from parcahyd.storage.reports import Reports

__all__ = ["HEADING", "Crawl", "Taken", "main", "read_crawl", "status_line"]

HEADING = ("table", "rows", "bytes", "bytes a row")
_TABLES = (
    "urls",
    "documents",
    "links",
    "fetches",
    "exchanges",
    "head_bases",
    "sites",
    "requests",
    "summaries",
    "volatile",
    "learned",
)
_PAGES = "SELECT count(*) FROM urls WHERE document_id IS NOT NULL"
_BODIES = "SELECT count(*), sum(length(body)), sum(length) FROM documents"
_SQLITE_SIZE = (
    "SELECT sum(stat.pgsize) FROM dbstat stat JOIN sqlite_schema made ON made.name = stat.name WHERE made.tbl_name = ?"
)
_POSTGRES_SIZE = "SELECT pg_total_relation_size(%s::regclass)"


class Taken(NamedTuple):
    """A table with its indexes."""

    name: str
    rows: int
    size: int

    def cells(self) -> tuple[str, ...]:
        return self.name, f"{self.rows:,}", f"{self.size:,}", f"{self.size / self.rows:,.0f}" if self.rows else "-"


class Crawl(NamedTuple):
    """A database."""

    tables: tuple[Taken, ...]
    pages: int
    """URLs that have a document."""
    documents: int
    packed: int
    """Bytes of all documents as they are stored, and decoded."""
    decoded: int

    def _mean(self, size: int) -> str:
        return f"{size / max(self.documents, 1):,.0f}"

    def lines(self) -> list[str]:
        """What a URL takes, and what a page takes besides."""
        sizes = {taken.name: taken for taken in self.tables}
        urls = sizes["urls"]
        others = sum(taken.size for taken in self.tables) - urls.size
        of_documents = f"{self.documents:,} documents of {self._mean(self.decoded)} bytes, {self._mean(self.packed)} compressed"
        return [
            f"A URL takes {urls.size / max(urls.rows, 1):,.0f} bytes; a page takes {others / max(self.pages, 1):,.0f} besides.",
            f"{urls.rows:,} URLs, {self.pages:,} pages, {of_documents}.",
        ]


def status_line(database: str) -> str:
    """How long `parcahyd status` reads such a database, and how long of that for the estimate of the crawl's size."""
    with Reports.open(database if database.startswith("postgresql") else f"sqlite:///{Path(database).absolute()}") as reports:
        begin = time.perf_counter()
        reports.in_the_end()
        estimated = time.perf_counter()
        reports.status(time.time())
        return f"status: {time.perf_counter() - estimated:.2f} s, of which the estimate {estimated - begin:.2f} s."


def read_crawl(database: str) -> Crawl:
    """Of an SQLite file or a PostgreSQL URL."""
    return _read_postgres(database) if database.startswith("postgresql") else _read_sqlite(database)


def _read_sqlite(file: str) -> Crawl:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        tables = []
        for name in _TABLES:
            ((rows,),) = connection.execute(f"SELECT count(*) FROM {name}")  # noqa: S608 (a name of ours)
            ((size,),) = connection.execute(_SQLITE_SIZE, (name,))
            tables.append(Taken(name, rows, size or 0))
        ((pages,),) = connection.execute(_PAGES)
        ((documents, packed, decoded),) = connection.execute(_BODIES)
    return Crawl(tuple(tables), pages, documents, packed or 0, decoded or 0)


def _read_postgres(url: str) -> Crawl:
    import psycopg

    with psycopg.connect(url) as connection:
        tables = []
        for name in _TABLES:
            ((rows,),) = connection.execute(f"SELECT count(*) FROM {name}").fetchall()  # noqa: S608 (a name of ours)
            ((size,),) = connection.execute(_POSTGRES_SIZE, (name,)).fetchall()
            tables.append(Taken(name, rows, size))
        ((pages,),) = connection.execute(_PAGES).fetchall()
        ((documents, packed, decoded),) = connection.execute(_BODIES).fetchall()
    return Crawl(tuple(tables), pages, documents, int(packed or 0), int(decoded or 0))


def main(arguments: Sequence[str]) -> None:
    (database,) = arguments
    crawl = read_crawl(database)
    measured = table(HEADING, [taken.cells() for taken in crawl.tables if taken.rows])
    print("\n".join([*measured, "", *crawl.lines(), status_line(database)]))


if __name__ == "__main__":
    main(sys.argv[1:])
