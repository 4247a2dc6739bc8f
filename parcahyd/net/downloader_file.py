"""Reads files and folders of this machine, for `file:` URLs.

A folder is an HTML page that lists its files and folders in the order of their names. Names that begin with a dot are left out,
as `ls` does it, and so is what is neither a file nor a folder. A folder whose URL lacks the slash at its end redirects to the
URL with it.

No symbolic link is followed, wherever it stands in the path: one that leads out of the folder that the user gave would show
more than was given, and what lies within is found under its own name. The path is opened part by part for that reason, so that
it cannot change in between. Which folders may be read at all is decided before a request comes here (`SiteLease.roots`).

The media type is by the name's ending where the ending is that of a text, which content cannot tell; else it is left to the
content, as with any answer.
"""

from __future__ import annotations

import contextlib
import errno
import html
import os
import stat
from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote, unquote_to_bytes

from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.net.threaded_downloader import ThreadedDownloader
from parcahyd.rules.html.link_tags import MAX_LINKS

__all__ = ["FileDownloader"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe without a writer must not block the thread.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE = 1 << 20

_OF_FOLDER = (("Content-Type", "text/html; charset=utf-8"),)
_BY_ENDING = {
    b".html": "text/html",
    b".htm": "text/html",
    b".xhtml": "application/xhtml+xml",
    b".txt": "text/plain",
    b".md": "text/markdown",
    b".csv": "text/csv",
    b".css": "text/css",
    b".js": "text/javascript",
    b".json": "application/json",
}
_STATUS = {
    errno.ENOENT: 404,
    errno.ENOTDIR: 404,
    errno.ENAMETOOLONG: 404,
    errno.EACCES: 403,
    errno.EPERM: 403,
    errno.ELOOP: 403,
}
"""What an error means in the words of HTTP, which is all that the crawl knows; others are failures that may pass."""


class FileDownloader(ThreadedDownloader):
    """Gives files and folders as answers. `ETag` is made of a file's time and size, so that an unchanged file is a 304."""

    schemes = frozenset({"file"})

    def fetch(self, request: DownloadRequest) -> DownloadResult:
        parts = _parts(request.url)
        if parts is None:
            return DownloadResult(404, peer=request.address)
        try:
            return self._read(request, parts)
        except OSError as error:
            status = _STATUS.get(error.errno or 0)
            if status is not None:
                return DownloadResult(status, peer=request.address, detail=error.strerror or "")
            return DownloadResult(peer=request.address, failure=DownloadFailure.CONNECT, detail=error.strerror or str(error))

    def _read(self, request: DownloadRequest, parts: list[bytes]) -> DownloadResult:
        *folders, name = parts
        with _folder(folders) as folder:
            if not name:
                return _page(request, _listing(request.url, folder))
            with _opened(name, _FILE, folder) as file:
                return self._answer(request, name, file)

    def _answer(self, request: DownloadRequest, name: bytes, file: int) -> DownloadResult:
        facts = os.fstat(file)
        if stat.S_ISDIR(facts.st_mode):
            return DownloadResult(301, (("Location", request.url + "/"),), peer=request.address)
        if not stat.S_ISREG(facts.st_mode):
            return DownloadResult(403, peer=request.address, detail="neither a file nor a folder")
        tag = f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"'
        if _header(request, "if-none-match") == tag:
            return DownloadResult(304, (("ETag", tag),), peer=request.address)
        body = bytearray()
        while len(body) <= request.max_bytes and (piece := os.read(file, _PIECE)):
            body += piece
        media_type = _BY_ENDING.get(os.path.splitext(name)[1].lower())
        headers = (("ETag", tag), ("Content-Type", media_type)) if media_type else (("ETag", tag),)
        return _page(request, bytes(body), headers)


def _parts(url: str) -> list[bytes] | None:
    """The names on the way from the root, the last one empty for a folder; None where one cannot be a name."""
    parts = [unquote_to_bytes(part) for part in url.removeprefix("file:///").split("/")]
    is_odd = any(part in (b".", b"..") or b"/" in part or b"\0" in part for part in parts)
    return None if is_odd else parts


@contextlib.contextmanager
def _opened(name: bytes, how: int, folder: int | None = None) -> Iterator[int]:
    """A descriptor, which is closed at the end."""
    descriptor = os.open(name, how, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _folder(names: list[bytes]) -> Iterator[int]:
    """The descriptor of the folder that these names lead to; OSError where one of them is a link or no folder."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(_opened(b"/", _FOLDER))
        for name in filter(None, names):
            folder = stack.enter_context(_opened(name, _FOLDER, folder))
        yield folder


def _listing(url: str, folder: int) -> bytes:
    """The page of a folder. Of one with very many names the first that the system gives are listed."""
    with os.scandir(folder) as entries:
        names = sorted(islice(filter(None, map(_name, entries)), MAX_LINKS))
    title = html.escape(os.fsdecode(unquote_to_bytes(url.removeprefix("file://"))).encode("utf-8", "replace").decode())
    lines = [f'<li><a href="{quote(name)}">{html.escape(name.decode("utf-8", "replace"))}</a>' for name in names]
    page = "\n".join([f"<!DOCTYPE html>\n<meta charset=utf-8>\n<title>{title}</title>\n<ul>", *lines, "</ul>\n"])
    return page.encode()


def _name(entry: os.DirEntry[str]) -> bytes:
    """The name as the page has it, with a slash where it is a folder; empty where it is not listed."""
    if entry.name.startswith("."):
        return b""
    if entry.is_dir(follow_symlinks=False):
        return os.fsencode(entry.name) + b"/"
    return os.fsencode(entry.name) if entry.is_file(follow_symlinks=False) else b""


def _page(request: DownloadRequest, body: bytes, headers: tuple[tuple[str, str], ...] = _OF_FOLDER) -> DownloadResult:
    if len(body) > request.max_bytes and not request.cut:
        return DownloadResult(peer=request.address, failure=DownloadFailure.SIZE, detail="the file is larger than allowed")
    return DownloadResult(200, headers, body[: request.max_bytes], request.address)


def _header(request: DownloadRequest, name: str) -> str:
    return next((value for known, value in request.headers if known.lower() == name), "")
