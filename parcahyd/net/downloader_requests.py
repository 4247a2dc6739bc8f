"""The second downloader: requests in threads.

It is much slower than libcurl and easy to read, and serves authors of plugins as an example.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import time
from base64 import b64encode
from http.client import IncompleteRead
from typing import Any

import requests
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
    SSLError,
)
from urllib3.util import SKIP_HEADER

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.net.certificate_authorities import authorities_file
from parcahyd.net.cookie_jar import CookieJar
from parcahyd.net.pinned_requests import PinnedAdapter, PinnedConnection, PinnedRequest
from parcahyd.net.send_timeout import send_timeout
from parcahyd.net.threaded_downloader import ThreadedDownloader
from parcahyd.rules.media_types.content_codings import ACCEPT_ENCODING, codings_of

__all__ = ["RequestsDownloader"]

_CHUNK = 16 * 1024
_VISIBLE = re.compile(r"[!-~]+").fullmatch

_PROTOCOLS = {10: "1.0", 11: "1.1"}

# The first of these kinds in the chain of causes decides.
_FAILURES: tuple[tuple[type[BaseException], DownloadFailure], ...] = (
    (SSLError, DownloadFailure.TLS),
    (NewConnectionError, DownloadFailure.CONNECT),
    (ConnectTimeoutError, DownloadFailure.TIMEOUT),
    (ReadTimeoutError, DownloadFailure.TIMEOUT),
    (TimeoutError, DownloadFailure.TIMEOUT),
    (IncompleteRead, DownloadFailure.TRUNCATED),
    (ConnectionError, DownloadFailure.RESET),
)


class RequestsDownloader(ThreadedDownloader):
    """Fetches with requests, pinned; `TimeoutIdle` is the limit of each read, `TimeoutTotal` of the whole.

    It speaks HTTP/1.1 only and does not know `MinRate`: `TimeoutTotal` ends a body that drips. Proxies and digest
    authentication are not among its options: such requests are refused.
    """

    options = frozenset({"credentials", "verify_tls", "cookies", "http2"})

    def __init__(self, conf: WorkConf, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(conf, loop)
        # The adapter alone, without a Session: a Session reads a redirect's body whole, whatever its size, keeps cookies, and
        # takes proxies and credentials from the environment.
        self._adapter = PinnedAdapter(
            authorities_file(conf.CaFile), conf.HostConnections, 4 * conf.Connections, send_timeout(conf.SendTimeout)
        )
        self._jar = CookieJar()
        first_byte = conf.TimeoutIdle if conf.TimeoutFirstByte is None else conf.TimeoutFirstByte
        self._timeouts: Any = (conf.TimeoutConnect or None, first_byte or None)

    def fetch(self, request: DownloadRequest) -> DownloadResult:
        try:
            return self._get(request)
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            return DownloadResult(failure=_failure_of(error), detail=str(error))

    def abandon(self, thread: int) -> None:
        connection = self._adapter.in_use.get(thread)
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.break_off()

    def close(self) -> None:
        super().close()
        self._adapter.close()

    def _get(self, request: DownloadRequest) -> DownloadResult:
        started = time.monotonic()
        with self._adapter.send(self._prepared(request), stream=True, timeout=self._timeouts) as response:
            connection = response.raw.connection
            peer = connection.peer if isinstance(connection, PinnedConnection) else ""
            if connection is not None and connection.sock is not None:
                connection.sock.settimeout(self.conf.TimeoutIdle or None)
            headers = list(response.raw.headers.iteritems())
            if response.status_code < 200:
                detail = f"status {response.status_code} is not a final answer"
                return DownloadResult(peer=peer, failure=DownloadFailure.PROTOCOL, detail=detail)
            try:
                body = _body(response, request.max_bytes, request.cut)
            except ProtocolError as error:
                return DownloadResult(peer=peer, failure=DownloadFailure.TRUNCATED, detail=str(error))
            if body is None:
                detail = "the body is larger than allowed"
                return DownloadResult(peer=peer, failure=DownloadFailure.SIZE, detail=detail, received=request.max_bytes)
        if request.options.cookies:
            self._jar.take(request.url, headers, time.time())
        elapsed = time.monotonic() - started
        protocol = _PROTOCOLS.get(response.raw.version, "")
        codings = codings_of(headers)
        return DownloadResult(response.status_code, headers, body, peer, elapsed=elapsed, protocol=protocol, codings=codings)

    def _prepared(self, request: DownloadRequest) -> PinnedRequest:
        prepared = _prepared(request)
        options = request.options
        prepared.verify_tls = options.verify_tls
        if options.credentials:
            prepared.headers["Authorization"] = "Basic " + b64encode(options.credentials.encode()).decode()
        if options.cookies and "Cookie" not in prepared.headers:
            cookies = self._jar.header(request.url, time.time())
            if cookies:
                prepared.headers["Cookie"] = cookies
        return prepared


def _body(response: requests.Response, most: int, cut: bool) -> bytes | None:
    """The body as it is transferred; cut, or None, where it is larger than `most`.

    TimeoutTotal is watched from outside (`abandon`).
    """
    chunks: list[bytes] = []
    size = 0
    for chunk in response.raw.stream(_CHUNK, decode_content=False):
        size += len(chunk)
        if size > most:
            if not cut:
                return None
            chunks.append(chunk[: most - size])
            break
        chunks.append(chunk)
    return b"".join(chunks)


def _prepared(request: DownloadRequest) -> PinnedRequest:
    if not _VISIBLE(request.url):
        # urllib would remove line breaks without an error.
        raise ValueError("the URL holds a space, a control character or one that is not ASCII")
    headers = dict(request.headers)
    headers["Accept-Encoding"] = ACCEPT_ENCODING
    if not any(name.lower() == "user-agent" for name in headers):
        headers["User-Agent"] = SKIP_HEADER
    prepared = PinnedRequest()
    prepared.prepare(method="GET", url=request.url, headers=headers)
    # requests rewrites percent escapes; the server must get the URL that was checked against robots.txt.
    prepared.url = request.url
    # A name in the place of the address would be resolved by the socket.
    prepared.pin = (str(ipaddress.ip_address(request.address)), request.port)
    return prepared


def _failure_of(error: BaseException) -> DownloadFailure:
    """requests wraps urllib3's exceptions, which wrap those of sockets: the arguments and causes hold what happened."""
    waiting: list[object] = [error]
    seen: list[BaseException] = []
    while waiting and len(seen) < 16:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and one not in seen:
            seen.append(one)
            waiting += [*one.args, getattr(one, "reason", None), one.__cause__, one.__context__]
    for kind, failure in _FAILURES:
        if any(isinstance(one, kind) for one in seen):
            return failure
    return DownloadFailure.PROTOCOL
