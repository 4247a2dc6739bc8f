"""The validators that conditional requests were sent with (If-None-Match, If-Modified-Since), told by the answers before them.

They are not stored with a request: they are those of the answer that brought the version before it, or of the last answer that
confirmed that version. With all answers kept, as for an archive, that is what was sent. Else an answer in between may have
brought others, so a request with them says that they are reconstructed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table, func, select

from parcahyd.rules.politeness.validators import conditional_headers, validator
from parcahyd.storage.heads import head_of
from parcahyd.storage.packing import UnpackingFailure
from parcahyd.storage.schema import exchanges, fetches, head_bases

__all__ = ["validators_of_checks", "validators_of_versions"]

_NOT_MODIFIED = 304
_ETAG = re.compile(rb"(?im)^etag[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?$").search
_MODIFIED = re.compile(rb"(?im)^last-modified[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?$").search

_version = fetches.alias("version_before")
_check = exchanges.alias("check_before")


def _with_answers_before(table: Table, version: Any) -> Any:
    """The ids of rows, of the version before each, and of the last answer that had confirmed that."""
    last_check = select(func.max(_check.c.id)).where(_check.c.fetch_id == version, _check.c.at < table.c.at)
    return select(table.c.id, version, last_check.scalar_subquery())


_BEFORE_VERSION = (
    select(func.max(_version.c.id))
    .where(_version.c.site_id == fetches.c.site_id, _version.c.key == fetches.c.key, _version.c.id < fetches.c.id)
    .scalar_subquery()
)
_BEFORE_CHECK = func.coalesce(
    exchanges.c.fetch_id,
    select(func.max(_version.c.id))
    .where(_version.c.site_id == exchanges.c.site_id, _version.c.key == exchanges.c.key, _version.c.at < exchanges.c.at)
    .scalar_subquery(),
)
_OF_VERSIONS = _with_answers_before(fetches, _BEFORE_VERSION)
_OF_CHECKS = _with_answers_before(exchanges, _BEFORE_CHECK)


def validators_of_versions(connection: Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """By the id of a version that a conditional request brought: the header lines of its validators."""
    return _lines(connection, _OF_VERSIONS.where(fetches.c.id.in_(numbers))) if numbers else {}


def validators_of_checks(connection: Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """The same for answers that brought no version, by their ids in `exchanges`."""
    return _lines(connection, _OF_CHECKS.where(exchanges.c.id.in_(numbers))) if numbers else {}


def _lines(connection: Connection, statement: Any) -> dict[int, bytes]:
    before = {number: (version, check) for number, version, check in connection.execute(statement)}
    versions = _heads(connection, fetches, {version for version, _ in before.values()})
    checks = _heads(connection, exchanges, {check for _, check in before.values()})
    found = {}
    for number, (version, check) in before.items():
        pairs = conditional_headers(*_validators(versions.get(version, b""), checks.get(check)))
        if pairs:
            found[number] = "".join([f"{name}: {value}\r\n" for name, value in pairs]).encode("latin-1")
    return found


def _heads(connection: Connection, table: Table, numbers: set[int | None]) -> dict[int, bytes]:
    wanted = [number for number in numbers if number is not None]
    if not wanted:
        return {}
    joined = select(table, head_bases.c.content).join(head_bases, head_bases.c.id == table.c.head_base, isouter=True)
    found = {}
    for row in connection.execute(joined.where(table.c.id.in_(wanted))):
        try:
            found[row.id] = head_of(row, row.content)
        except UnpackingFailure:  # The export names it where that answer is written.
            continue
    return found


def _validators(version: bytes, check: bytes | None) -> tuple[str, str]:
    """Those of the version, as the last answer that confirmed it left them: a 304 may repeat or change them."""
    of_version = _value(_ETAG(version)), _value(_MODIFIED(version))
    if check is None:
        return of_version
    of_check = _value(_ETAG(check)), _value(_MODIFIED(check))
    if check.split(None, 2)[1:2] != [b"%d" % _NOT_MODIFIED]:
        return of_check  # The whole page came again, with its own.
    return of_check[0] or of_version[0], of_check[1] or of_version[1]


def _value(found: re.Match[bytes] | None) -> str:
    return "" if found is None else validator(found[1].decode("latin-1"))
