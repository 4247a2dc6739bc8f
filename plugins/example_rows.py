"""Documents out of an SQLite database, with a scheme of their own: `rows://NAME/` is the file NAME.db in the folder `ROWS`.

`ROWS` is a variable of the environment. Then `parcahyd run rows://library/` crawls the database: its page lists the tables, the
page of a table lists its rows, a thousand at a time, and each row is a page. Copy this file to read documents from anywhere.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from parcahyd.plugins import (
    DownloadFailure,
    DownloadRequest,
    DownloadResult,
    ThreadedDownloader,
    UserError,
    WorkConf,
    hookimpl,
)

__all__ = ["RowsDownloader", "parcahyd_local_schemes"]

_ROWS_OF_A_PAGE = 1000
_HTML = (("Content-Type", "text/html; charset=utf-8"),)
_NAME = re.compile(r"[a-z0-9_-]+").fullmatch


class RowsDownloader(ThreadedDownloader):
    """Answers with tables and rows. The database is opened for reading only, once for each request."""

    schemes = frozenset({"rows"})

    def __init__(self, conf: WorkConf, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(conf, loop)
        if "ROWS" not in os.environ:
            raise UserError("the environment variable ROWS is not set", "export ROWS=FOLDER, where the databases are")
        self._folder = Path(os.environ["ROWS"]).resolve()

    def fetch(self, request: DownloadRequest) -> DownloadResult:
        url = urlsplit(request.url)
        file = self._folder / f"{url.netloc}.db"
        if not _NAME(url.netloc) or not file.is_file():
            return DownloadResult(404, peer=request.address)
        database = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
        try:
            page = _page(database, [unquote(part) for part in url.path.split("/")[1:]], url.query)
        except sqlite3.Error as error:
            return DownloadResult(peer=request.address, failure=DownloadFailure.PROTOCOL, detail=str(error))
        finally:
            database.close()
        if page is None:
            return DownloadResult(404, peer=request.address)
        body = page.encode("utf-8", "replace")
        if len(body) > request.max_bytes:
            return DownloadResult(peer=request.address, failure=DownloadFailure.SIZE, detail="larger than allowed")
        return DownloadResult(200, _HTML, body, request.address)


def _page(database: sqlite3.Connection, parts: list[str], query: str) -> str | None:
    """The page of the database, of a table or of a row; None where there is no such thing."""
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    if parts == [""]:
        return _list("Tables", [f"{quote(table, safe='')}/" for table in tables], tables)
    if len(parts) != 2 or parts[0] not in tables:
        return None
    table, row = parts
    quoted = table.replace('"', '""')  # A name cannot be a parameter of a statement.
    if row:
        return _row(database, quoted, row)
    after = int(query) if query.removeprefix("-").isdecimal() else -(2**63)
    statement = f'SELECT rowid FROM "{quoted}" WHERE rowid > ? ORDER BY rowid LIMIT ?'  # noqa: S608 - it is a table's own name
    rows = [str(number) for (number,) in database.execute(statement, (after, _ROWS_OF_A_PAGE))]
    following = [f"?{rows[-1]}"] if len(rows) == _ROWS_OF_A_PAGE else []
    return _list(table, rows + following, rows + ["more"] * len(following))


def _row(database: sqlite3.Connection, quoted: str, row: str) -> str | None:
    found = database.execute(f'SELECT * FROM "{quoted}" WHERE rowid = ?', (row,))  # noqa: S608 - the same
    values = found.fetchone()
    if values is None:
        return None
    names = [column[0] for column in found.description]
    lines = [f"<dt>{html.escape(name)}<dd>{html.escape(str(value))}" for name, value in zip(names, values, strict=True)]
    return "\n".join([_head(f"{quoted} {row}"), "<dl>", *lines, "</dl>\n"])


def _list(title: str, references: Iterable[str], texts: Iterable[str]) -> str:
    lines = [f'<li><a href="{one}">{html.escape(text)}</a>' for one, text in zip(references, texts, strict=True)]
    return "\n".join([_head(title), "<ul>", *lines, "</ul>\n"])


def _head(title: str) -> str:
    return f"<!DOCTYPE html>\n<meta charset=utf-8>\n<title>{html.escape(title)}</title>"


@hookimpl
def parcahyd_local_schemes() -> dict[str, Callable[[WorkConf, asyncio.AbstractEventLoop], RowsDownloader]]:
    return {"rows": RowsDownloader}
