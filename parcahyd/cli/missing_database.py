"""Says which file was looked for where a crawl's database is missing, and names one that lies near.

A relative DbUrl starts in the configuration folder. So the crawl that was made without one lies elsewhere as soon as the folder
`conf` is copied into the current folder.
"""

from __future__ import annotations

import os

from parcahyd.config.database_url import sqlite_file
from parcahyd.core.errors import DatabaseUnusable

__all__ = ["crawl_beside", "require_database"]

_HEADER = b"SQLite format 3\0"


def require_database(url: str, folder: str) -> None:
    """Raises DatabaseUnusable where the SQLite file of the URL is not there. A server is left to its own messages."""
    file = sqlite_file(url)
    if file is None or os.path.lexists(file) or not os.access(os.path.dirname(file), os.X_OK):
        return  # The store has the sentences about folders.
    beside = crawl_beside(file, folder)
    remedy = f"did you mean --db {beside}?" if beside else "run `parcahyd run` first, or name another file with --db"
    raise DatabaseUnusable(f"there is no database {file} yet", remedy)


def crawl_beside(file: str, folder: str) -> str:
    """Another database near the missing `file`, as the user would type it; empty where there is none.

    Looked for are a file of the same name and `crawl.db`, in the current folder, the configuration folder and the folder above.
    """
    for place in (os.getcwd(), folder, os.path.dirname(folder)):
        for name in (os.path.basename(file), "crawl.db"):
            found = os.path.join(place, name)
            if found != file and _is_sqlite(found):
                return os.path.relpath(found)
    return ""


def _is_sqlite(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(len(_HEADER)) == _HEADER
    except OSError:
        return False
