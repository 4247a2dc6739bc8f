"""A downloader on the standard library alone: http only, one connection for each request.

Copy this file, give the copy and its downloader names of their own, then set `DownloaderClass` in WorkConf.toml to that name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from urllib.parse import urlsplit

from parcahyd.plugins import (
    ACCEPT_ENCODING,
    DownloadFailure,
    DownloadRequest,
    DownloadResult,
    ThreadedDownloader,
    WorkConf,
    codings_of,
    hookimpl,
)

__all__ = ["PlainHttp", "parcahyd_downloaders"]


class PlainHttp(ThreadedDownloader):
    """Fetches with http.client. Connecting to the request's address, never to the URL's host, is what pinning means."""

    schemes = frozenset({"http"})

    def fetch(self, request: DownloadRequest) -> DownloadResult:
        connection = HTTPConnection(request.address, request.port, timeout=self.conf.TimeoutConnect)
        try:
            connection.connect()
        except OSError as error:
            failure = DownloadFailure.TIMEOUT if isinstance(error, TimeoutError) else DownloadFailure.CONNECT
            return DownloadResult(failure=failure, detail=str(error))
        peer: str = connection.sock.getpeername()[0]
        connection.sock.settimeout(self.conf.TimeoutIdle)
        try:
            return self._exchange(connection, request, peer)
        except TimeoutError as error:
            return DownloadResult(peer=peer, failure=DownloadFailure.TIMEOUT, detail=str(error))
        except OSError as error:
            return DownloadResult(peer=peer, failure=DownloadFailure.RESET, detail=str(error))
        except HTTPException as error:
            return DownloadResult(peer=peer, failure=DownloadFailure.PROTOCOL, detail=repr(error))
        finally:
            connection.close()

    def _exchange(self, connection: HTTPConnection, request: DownloadRequest, peer: str) -> DownloadResult:
        url = urlsplit(request.url)
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", url.netloc.rpartition("@")[2])
        connection.putheader("Connection", "close")
        connection.putheader("Accept-Encoding", ACCEPT_ENCODING)
        for name, value in request.headers:
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        try:
            body = _read(response, request.max_bytes + 1)
        except IncompleteRead as error:
            return DownloadResult(peer=peer, failure=DownloadFailure.TRUNCATED, detail=repr(error))
        if len(body) > request.max_bytes:
            return DownloadResult(peer=peer, failure=DownloadFailure.SIZE, detail="larger than allowed")
        headers = response.getheaders()
        return DownloadResult(response.status, headers, body, peer, codings=codings_of(headers))


def _read(response: HTTPResponse, most: int) -> bytes:
    """At most that many bytes, in pieces: http.client reports a body that ends early only when all of it is read."""
    pieces: list[bytes] = []
    size = 0
    while size < most and (piece := response.read(min(65536, most - size))):
        pieces.append(piece)
        size += len(piece)
    if size < most and response.length:
        raise IncompleteRead(b"", response.length)
    return b"".join(pieces)


@hookimpl
def parcahyd_downloaders() -> dict[str, Callable[[WorkConf, asyncio.AbstractEventLoop], PlainHttp]]:
    return {"plain-http": PlainHttp}
