"""What an error of a database driver is to blame on: on a record that was written, or on the database.

A record is to blame only where the database says that a value cannot be stored: a constraint, a limit or a range is violated,
or a text cannot be encoded. Everything else, from a deadlock to a full disk, happens to any record and passes. What was to be
written is then tried again as it is.
"""

from __future__ import annotations

from typing import Any

from parcahyd.core.errors import RecordRefusal, StoreFailure
from parcahyd.storage.connection import first_line

__all__ = ["failure_of"]

_OF_VALUES = (OverflowError, UnicodeError)
"""The drivers raise these for values that no column can hold."""

# By the beginning of a code. SQLite: <https://www.sqlite.org/rescode.html>. PostgreSQL: appendix A of its manual.
_RECORD_CODES = (
    "22",  # a value out of range, or not of the column's encoding
    "23",  # a constraint
    "54",  # a row or an index entry that is too large
    "P0001",  # raised by a trigger, which is a constraint too
    "SQLITE_CONSTRAINT",
    "SQLITE_MISMATCH",
    "SQLITE_TOOBIG",
)
_SENTENCES = (
    ("SQLITE_FULL", "its disk is full; make room"),
    ("SQLITE_IOERR", "its disk cannot be written to; look at the disk, its quota and its limits"),
    ("SQLITE_READONLY", "it may only be read; give the right to write to the file and its folder"),
    ("SQLITE_CANTOPEN", "its file cannot be opened; look at the file and its folder"),
    ("SQLITE_BUSY", "another program is writing to it"),
    ("SQLITE_LOCKED", "another program is writing to it"),
    ("SQLITE_CORRUPT", "its file is damaged; stop, and restore it from a copy"),
    ("SQLITE_NOTADB", "its file is damaged; stop, and restore it from a copy"),
    ("40", "another transaction came first"),
    ("55P03", "another transaction has its rows"),
    ("53100", "the disk of its server is full; make room"),
    ("53", "its server is short of memory or connections"),
    ("57P", "its server was stopped, or is starting"),
    ("58", "its server cannot use its disk; look at the server's log"),
    ("25006", "it may only be read; give the right to write"),
    ("42501", "it may not be written to; give the right to write"),
    ("XX", "its server found damage; look at the server's log"),
    ("08", "its server does not answer; start it"),
)
_CONNECTION_LOST = "its server does not answer; start it"


def failure_of(error: BaseException, driver: Any) -> StoreFailure:
    """An error of a transaction as RecordRefusal, if a record is to blame, or as StoreFailure with a sentence and a remedy.

    `driver` is the module of the database driver, with the exceptions of PEP 249.
    """
    cause = getattr(error, "orig", None) or error
    code = _code_of(cause)
    said = first_line(error)
    if isinstance(cause, (*_OF_VALUES, driver.IntegrityError, driver.DataError)) or code.startswith(_RECORD_CODES):
        return RecordRefusal(said)
    sentence = next((sentence for prefix, sentence in _SENTENCES if code.startswith(prefix)), "")
    if not code and isinstance(cause, driver.OperationalError):
        sentence = _CONNECTION_LOST  # SQLite's errors have a code always, PostgreSQL's where the server sent the error.
    return StoreFailure(f"{sentence} ({said})" if sentence else said)


def _code_of(cause: BaseException) -> str:
    """The name of SQLite's extended code, or PostgreSQL's SQLSTATE; empty where the driver itself raised the error."""
    return getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""
