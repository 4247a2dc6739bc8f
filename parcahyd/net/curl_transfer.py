"""One libcurl handle that serves many requests: options that never change are set once, the others only when they differ."""

from __future__ import annotations

import socket
from collections.abc import Callable

import msgspec
import pycurl

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.net.curl_errors import detail_of, failure_of, ftp_status_of
from parcahyd.net.giving_way import Tempo
from parcahyd.net.http_heads import final_head, headers_of
from parcahyd.net.send_timeout import send_timeout
from parcahyd.net.wire_budget import WireBudget
from parcahyd.rules.listings.ftp_listing import FTP_LISTING
from parcahyd.rules.listings.gopher_menu import GOPHER_MENU, gopher_media_type, is_gopher_error, is_one_line
from parcahyd.rules.media_types.content_codings import ACCEPT_ENCODING, codings_of
from parcahyd.rules.urls.canonical_url import split

__all__ = [
    "Done",
    "Pace",
    "StallTimeout",
    "Transfer",
    "Wanted",
]

Done = Callable[[DownloadResult], None]
Wanted = tuple[int, int, int, tuple[str, int] | tuple[str, int, int, int]]
"""Family, kind, protocol and address of the socket that libcurl asks for."""

# libcurl's numbers for the version of HTTP of an answer.
_PROTOCOLS = {
    pycurl.CURL_HTTP_VERSION_1_0: "1.0",
    pycurl.CURL_HTTP_VERSION_1_1: "1.1",
    pycurl.CURL_HTTP_VERSION_2: "2",
    pycurl.CURL_HTTP_VERSION_3: "3",
}

_LISTING = (("Content-Type", FTP_LISTING),)


class Transfer:
    """A pooled handle and the answer that it is receiving. `begin` prepares a request, `finish` returns the result.

    Beside CONNECT_TO, two checks hold it to the pinned address: a socket to another address is never opened, and a request
    is never sent over a connection, new or kept alive, whose peer is another one.
    """

    __slots__ = (
        "_address",
        "_budget",
        "_chunks",
        "_cut",
        "_headers",
        "_lines",
        "_max_bytes",
        "_not_http",
        "_peer",
        "_pin",
        "_pipewait",
        "_port",
        "_socket_options",
        "_too_large",
        "curl",
        "done",
        "held",
        "is_paused",
        "pace",
        "pool",
        "sent",
        "sent_now",
        "started_at",
        "tempo",
    )

    def __init__(self, conf: WorkConf, authorities: str, budget: WireBudget) -> None:
        self.curl = pycurl.Curl()
        self.done: Done = _ignore
        self.pace: Pace | None = None
        self.tempo: Tempo | None = None
        self.pool: list[Transfer] = []
        """The list that it is in between two requests."""
        self.sent: Callable[[], None] | None = None
        self.sent_now: list[Callable[[], None]] = []
        """The downloader calls these when libcurl returns: it must not be called from within."""
        self._lines: list[bytes] = []
        self._chunks: list[bytes] = []
        self._budget = budget
        self.held = 0
        """Bytes of the body so far; they are charged to the budget."""
        self.is_paused = False
        self.started_at = 0.0
        """On the loop's clock; the downloader sets it."""
        self._max_bytes = -1
        self._cut = False
        self._too_large = False
        self._peer = ""
        self._pin = ""
        self._address = ""
        self._port = 0
        self._headers: tuple[tuple[str, str], ...] | None = None
        self._not_http = ""
        """The URL where it is one of ftp or gopher."""
        # Waiting for the first connection to learn that it speaks HTTP/2 lets 32 requests share one instead of opening 32. It
        # delays the first requests to a server that does not, and is pointless for plain http and for one request at a time.
        self._socket_options = send_timeout(conf.SendTimeout)
        self._pipewait = conf.HostConnections > 1 or any((rule.Connections or 1) > 1 for rule in conf.Host)
        self._set_constants(conf, authorities)

    def _set_constants(self, conf: WorkConf, authorities: str) -> None:
        set_option = self.curl.setopt
        set_option(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS | pycurl.PROTO_FTP | pycurl.PROTO_GOPHER)
        set_option(pycurl.FOLLOWLOCATION, 0)
        set_option(pycurl.PROXY, "")
        set_option(pycurl.NOPROXY, "")
        set_option(pycurl.NETRC, pycurl.NETRC_IGNORED)
        set_option(pycurl.NOSIGNAL, 1)
        # The server must get the canonical URL, because that is what was checked against robots.txt.
        set_option(pycurl.PATH_AS_IS, 1)
        set_option(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        set_option(pycurl.FTP_SKIP_PASV_IP, 1)
        set_option(pycurl.CAINFO, authorities)
        set_option(pycurl.SSL_VERIFYPEER, 1)
        set_option(pycurl.SSL_VERIFYHOST, 2)
        set_option(pycurl.CONNECTTIMEOUT_MS, _milliseconds(conf.TimeoutConnect))
        set_option(pycurl.TIMEOUT_MS, _milliseconds(conf.TimeoutTotal))
        # Large pages come in fewer pieces than with libcurl's 16 kB: about a tenth less time at 96 kB a page.
        set_option(pycurl.BUFFERSIZE, 64 * 1024)
        # list.append is called by libcurl without a Python frame; libcurl itself holds an answer's headers to 300 kB.
        set_option(pycurl.HEADERFUNCTION, self._lines.append)
        set_option(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        set_option(pycurl.PREREQFUNCTION, self._approve_peer)
        set_option(pycurl.WRITEFUNCTION, self._take)

    def begin(self, request: DownloadRequest, done: Done) -> None:
        """Prepare the handle for a request; ValueError, TypeError or pycurl.error where the request cannot be sent."""
        curl = self.curl
        url = request.url
        self._not_http = "" if url.startswith("http") else url
        if self._not_http.startswith("gopher:") and not is_one_line(url):
            raise ValueError("the selector holds a control character")
        curl.setopt(pycurl.URL, url)
        if request.headers is not self._headers and request.headers != self._headers:
            self._headers = None
            curl.setopt(pycurl.HTTPHEADER, _header_lines(request.headers))
            self._headers = request.headers
        if request.address != self._address or request.port != self._port:
            self._set_pin(request.address, request.port)
        if request.max_bytes != self._max_bytes or request.cut != self._cut:
            self._set_limit(request.max_bytes, request.cut)
        if self._pipewait:
            curl.setopt(pycurl.PIPEWAIT, url.startswith("https:"))
        self.done = done
        self.sent = request.sent
        self.pace = None
        self.tempo = None

    def finish(self, number: int, text: str) -> DownloadResult:
        """The result, `number` and `text` being libcurl's error; the handle is empty afterwards and can begin again."""
        if self._too_large and self._cut:
            number = 0
        elif self._too_large:
            number, text = pycurl.E_FILESIZE_EXCEEDED, "the body is larger than allowed"
        if self._not_http.startswith("ftp:"):
            result = self._ftp_result(number, text)
        elif number:
            result = self._curl_failure(number, text)
        elif self._not_http:
            result = self._gopher_result()
        else:
            result = self._http_result()
        result.received = self.received()
        self.clear()
        return result

    def give_up(self, failure: DownloadFailure, detail: str) -> DownloadResult:
        """The result of a transfer that was ended from outside."""
        result = self._failure(failure, detail)
        self.clear()
        return result

    def clear(self) -> None:
        """Drop the request's own data; connection and options stay."""
        self._lines.clear()
        self._chunks.clear()
        self._budget.give_back(self, self.held)
        self.held = 0
        self.is_paused = False
        self._too_large = False
        self._peer = ""
        self.done = _ignore
        self.sent = None

    def received(self) -> int:
        """How many bytes have come so far, headers included, as they were on the wire."""
        on_wire: int = self.curl.getinfo(pycurl.SIZE_DOWNLOAD_T) + self.curl.getinfo(pycurl.HEADER_SIZE)
        return on_wire

    def close(self) -> None:
        self.clear()
        self.curl.close()

    def _set_pin(self, address: str, port: int) -> None:
        # The comparison with what the kernel reports needs the kernel's own spelling of an IPv6 address.
        pin = socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, address)) if ":" in address else address
        if ":" not in address:
            socket.inet_pton(socket.AF_INET, address)
        self._address, self._pin = "", ""
        self.curl.setopt(pycurl.CONNECT_TO, [f"::[{pin}]:{port}" if ":" in pin else f"::{pin}:{port}"])
        self._address, self._port, self._pin = address, port, pin

    def _set_limit(self, max_bytes: int, cut: bool) -> None:
        self._max_bytes = -1
        # A body whose announced length is too much ends before its first byte; `_take` counts the others. 0 is no limit.
        self.curl.setopt(pycurl.MAXFILESIZE_LARGE, 0 if cut else max_bytes)
        self._max_bytes, self._cut = max_bytes, cut

    def _take(self, chunk: bytes) -> int | None:
        size = len(chunk)
        if self.held + size > self._max_bytes:
            self._too_large = True
            if self._cut:
                self._chunks.append(chunk[: self._max_bytes - self.held])
            else:
                self._chunks.clear()
            return -1
        if not self._budget.takes(self, size):
            self.is_paused = True
            paused: int = pycurl.WRITEFUNC_PAUSE
            return paused
        self.held += size
        self._chunks.append(chunk)
        return None

    def _open_socket(self, _purpose: int, wanted: Wanted) -> socket.socket | int:
        family, kind, protocol, (address, *_) = wanted
        if address != self._pin:
            self._peer = address
            refused: int = pycurl.SOCKET_BAD
            return refused
        opened = socket.socket(family, kind, protocol)
        for option in self._socket_options:
            opened.setsockopt(*option)
        return opened

    def _approve_peer(self, peer: str, _local: str, _peer_port: int, _local_port: int) -> int:
        if peer != self._pin:
            self._peer = peer
            stop: int = pycurl.PREREQFUNC_ABORT
            return stop
        self._peer = self._address
        if self.sent is not None:
            self.sent_now.append(self.sent)
        go_on: int = pycurl.PREREQFUNC_OK
        return go_on

    def _http_result(self) -> DownloadResult:
        status: int = self.curl.getinfo(pycurl.RESPONSE_CODE)
        if status < 200:
            return self._failure(DownloadFailure.PROTOCOL, f"status {status} is not a final answer")
        head = final_head(self._lines)
        if not head:
            # libcurl takes the end of the connection for the end of the headers, and the answer for an empty one.
            return self._failure(DownloadFailure.TRUNCATED, "the headers broke off")
        getinfo, headers = self.curl.getinfo, headers_of(head)
        return DownloadResult(
            status,
            headers,
            b"".join(self._chunks),
            self._peer,
            None,
            "",
            getinfo(pycurl.TOTAL_TIME),
            _PROTOCOLS.get(getinfo(pycurl.INFO_HTTP_VERSION), ""),
            codings_of(headers),
            head=head,
        )

    def _ftp_result(self, number: int, text: str) -> DownloadResult:
        status = ftp_status_of(number, self.curl.getinfo(pycurl.RESPONSE_CODE))
        if not status:
            return self._curl_failure(number, text)
        if status != 200:
            return DownloadResult(status, peer=self._peer, elapsed=self.curl.getinfo(pycurl.TOTAL_TIME))
        headers = _LISTING if self._not_http.endswith("/") else ()
        return DownloadResult(status, headers, b"".join(self._chunks), self._peer, elapsed=self.curl.getinfo(pycurl.TOTAL_TIME))

    def _gopher_result(self) -> DownloadResult:
        path, body = split(self._not_http)[3], b"".join(self._chunks)
        elapsed = self.curl.getinfo(pycurl.TOTAL_TIME)
        if is_gopher_error(path, body):
            return DownloadResult(404, peer=self._peer, elapsed=elapsed)
        media_type = gopher_media_type(path)
        if not body and media_type == GOPHER_MENU:
            return self._failure(DownloadFailure.RESET, "the server closed the connection without a menu")
        return DownloadResult(200, (("Content-Type", media_type),) if media_type else (), body, self._peer, elapsed=elapsed)

    def _curl_failure(self, number: int, text: str) -> DownloadResult:
        return self._failure(failure_of(number, text), detail_of(number, text))

    def _failure(self, failure: DownloadFailure, detail: str) -> DownloadResult:
        if self._peer and self._peer != self._address:
            detail = f"the connection led to {self._peer} and not to {self._address}"
            failure = DownloadFailure.CONNECT
        return DownloadResult(peer=self._peer, failure=failure, detail=detail, elapsed=self.curl.getinfo(pycurl.TOTAL_TIME))


def _header_lines(headers: tuple[tuple[str, str], ...]) -> list[bytes]:
    """libcurl's form of request headers: `Name;` sends an empty value, `Name:` would suppress one."""
    lines = [(f"{name}: {value}" if value else f"{name};").encode("latin-1") for name, value in headers]
    for line in lines:
        if b"\r" in line or b"\n" in line or b"\0" in line:
            raise ValueError(f"a request header holds a line break: {line!r}")
    given = {name.lower() for name, _ in headers}
    # A request's headers are complete: what libcurl and pycurl would add by themselves is taken out.
    lines.extend(b"%s:" % name.encode() for name in ("Accept", "User-Agent") if name.lower() not in given)
    # A header and not libcurl's option of that name: with the option, libcurl would decode, and not look for the end.
    lines.append(b"Accept-Encoding: " + ACCEPT_ENCODING.encode())
    return lines


def _ignore(_result: DownloadResult) -> None:
    """Takes the place of `done` while no request is under way."""


def _milliseconds(seconds: float) -> int:
    """libcurl's unit, in which 0 means no limit: a limit below a millisecond must not become that."""
    return max(1, round(seconds * 1000)) if seconds else 0


# --- transfers that are too slow: no first byte, no further byte, or too few bytes a second -----------------------------
# The downloader checks its transfers at intervals, so a quick transfer costs nothing. libcurl's own LOW_SPEED_TIME would be
# late: it compares a mean over six seconds, in whole seconds.

# How many checks there are within the shortest limit: a transfer is ended after its limit and at most one interval more.
_CHECKS = 4

_WINDOW = 30.0


class Pace(msgspec.Struct, frozen=True):
    """The progress of a transfer up to the last check."""

    received: int
    since: float
    """When the last byte had come."""
    window_received: int
    window_since: float
    """When the current window for the mean rate began; the first one begins with the first byte."""


class StallTimeout:
    """The limits in seconds, 0 meaning none; `min_rate` is in bytes a second over windows of `idle` seconds (30 without).

    `first_byte` is None where `idle` counts for it as well. `interval` is the time between two checks; 0: no checks.
    """

    def __init__(self, first_byte: float | None, idle: float, min_rate: float) -> None:
        self._first_byte = idle if first_byte is None else first_byte
        self._idle = idle
        self._min_rate = min_rate
        self._window = idle or _WINDOW
        limits = [limit for limit in (self._first_byte, idle, self._window if min_rate else 0.0) if limit]
        self.interval = min(limits) / _CHECKS if limits else 0.0

    def check(self, pace: Pace | None, received: int, now: float) -> tuple[Pace, str]:
        """The new pace, and which limit was passed, else an empty text; `pace` is None at the first check."""
        if pace is None or (received and not pace.received):
            return Pace(received, now, received, now), ""
        if received != pace.received:
            pace = msgspec.structs.replace(pace, received=received, since=now)
        limit = self._idle if received else self._first_byte
        if limit and now - pace.since >= limit:
            return pace, f"no byte for {limit:g} s" if received else f"no answer within {limit:g} s"
        if received and self._min_rate and now - pace.window_since >= self._window:
            rate = (received - pace.window_received) / (now - pace.window_since)
            if rate < self._min_rate:
                return pace, f"{rate:.0f} bytes a second, fewer than {self._min_rate:g}"
            pace = msgspec.structs.replace(pace, window_received=received, window_since=now)
        return pace, ""
