"""The names in the listing of an ftp folder, as references relative to the folder's URL.

RFC 959 leaves the form of a listing to the server. Two forms are in use: that of `ls -l`, and that of MS-DOS. A line of another
form is no link. The author of a listing may be hostile: a name with a slash, a backslash or a control character is no link, nor
are `.` and `..`, so that every link is one step down. Names are bytes of unknown encoding and are escaped as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote

from parcahyd.rules.html.link_tags import MAX_LINKS

__all__ = ["FTP_LISTING", "ftp_references"]

FTP_LISTING = "text/ftp-dir-listing"
"""The media type of listings; no standard has one, and this is what browsers called it."""

_LONGEST_LINE = 1000
_LINE = re.compile(rb"[^\r\n]++")
_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = rb"[0-9]{1,2}+"
_UNIX_DATE = re.compile(
    rb"(?i)[\t ](?:" + _MONTH + rb"[\t ]++" + _DAY + rb"|" + _DAY + rb"[\t ]++" + _MONTH + rb"|[0-9]{4}-[0-9]{2}-[0-9]{2})"
    rb"[\t ]++(?:[0-9]{4}|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)[\t ]"
).search
_UNIX = re.compile(rb"[-dl][A-Za-z-]{9}").match
_DOS = re.compile(
    rb"(?i)[0-9]{2}-[0-9]{2}-(?:[0-9]{4}|[0-9]{2})[\t ]++[0-9]{2}:[0-9]{2}(?:[AP]M)?[\t ]++(<DIR>|[0-9]++)[\t ]++"
).match
_NOT_IN_NAMES = re.compile(rb"[\x00-\x1f\x7f/\\]").search


def ftp_references(body: bytes) -> list[str]:
    """The references, those of folders with a slash at their end; at most as many as a document has links."""
    return list(islice(_references(body), MAX_LINKS))


def _references(body: bytes) -> Iterator[str]:
    for found in _LINE.finditer(body):
        line = found[0]
        if len(line) > _LONGEST_LINE:
            continue
        name, is_folder = _entry(line)
        if name and name not in (b".", b"..") and not _NOT_IN_NAMES(name):
            yield quote(name, safe="") + ("/" if is_folder else "")


def _entry(line: bytes) -> tuple[bytes, bool]:
    """The name in a line, and whether it is a folder's. What a symbolic link leads to is not said: it counts as a file."""
    if _UNIX(line):
        date = _UNIX_DATE(line)
        if date is None:
            return b"", False
        name = line[date.end() :]
        return (name.partition(b" -> ")[0] if line[:1] == b"l" else name), line[:1] == b"d"
    dos = _DOS(line)
    return (b"", False) if dos is None else (line[dos.end() :], dos[1].upper() == b"<DIR>")
