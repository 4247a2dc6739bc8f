"""The ports: the interfaces through which boxes use clock, network and plugins.

The same boxes run in a process tree, on a cluster and in a simulation: only the objects behind the ports differ.
Every port has an in-memory twin in `parcahyd.testing`. Tested in tests/core/test_request_options.py,
tests/net/test_plugin_guards.py and tests/testing/test_fakes.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Literal, Protocol, runtime_checkable

import msgspec

__all__ = [
    "GENERAL",
    "Clock",
    "DownloadFailure",
    "DownloadRequest",
    "DownloadResult",
    "Downloader",
    "Order",
    "RequestOptions",
    "Resolution",
    "Resolver",
]


class Clock(Protocol):
    """The clock. `now` is for what is stored, `monotonic` for what is waited for."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...


class Resolution(msgspec.Struct, frozen=True):
    """A host's addresses as a resolver gives them, not yet vetted, and for how many seconds they hold."""

    addresses: tuple[str, ...]
    """In the order in which they are tried, IPv4 first."""
    ttl: float
    """Seconds; more than MaxTtl counts as MaxTtl."""


@runtime_checkable
class Resolver(Protocol):
    """Turns a host name into addresses. Called from several URL Mapper threads at once; it may block.

    It raises `ResolutionFailure` with a Reason where there is no address. A host that is an address already never gets here.
    """

    def resolve(self, host: str) -> Resolution:
        """The addresses of a name in lower case and ASCII."""
        ...

    def close(self) -> None:
        """The run is over: give back what is held."""
        ...


class DownloadFailure(Enum):
    """How a transfer can fail below HTTP."""

    CONNECT = "connect"
    """No connection could be made."""
    TLS = "tls"
    """The certificate or the encryption was not acceptable."""
    TIMEOUT = "timeout"
    """It took longer than a limit of the configuration."""
    RESET = "reset"
    """The connection broke, or ended without an answer."""
    TRUNCATED = "truncated"
    """The answer ended before its announced length."""
    CONTENT_CODING = "content-coding"
    """What was sent cannot be undone as its content coding says."""
    PROTOCOL = "protocol"
    """The answer cannot be parsed, or the request cannot be sent."""
    SIZE = "size"
    """The body is larger than `max_bytes`."""
    GAVE_WAY = "gave-way"
    """The transfer was ended because it was slow and others waited."""
    CANCELLED = "cancelled"
    """`cancel_all` or `close` ended it."""
    PLUGIN = "plugin"
    """The downloader itself failed; the detail says how."""


class RequestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one host's requests that differ from those of other hosts: the values of the user's [[Host]] rules.

    A downloader names the fields that it honours in its attribute `options`. A request whose options differ from GENERAL in
    another field never reaches it: the failure is DownloadFailure.PLUGIN, because a secret site must not be fetched
    without its proxy or its password.
    """

    proxy: str = ""
    """`http://`, `https://` or `socks5://[USER:PASSWORD@]HOST:PORT`; empty: none. It gets the pinned address, no name."""
    credentials: str = ""
    """`USER:PASSWORD` for this host; empty: none."""
    authentication: Literal["basic", "digest"] = "basic"
    """How credentials are shown: at once, or in answer to the server's question (RFC 7616), which costs a second request."""
    verify_tls: bool = True
    """The certificate is checked; false: any is accepted."""
    cookies: bool = False
    """Cookies that the site set before in this process are sent back, and those of the answer are kept."""
    http2: bool = True
    """HTTP/2 may be spoken; false: HTTP/1.1."""

    def differences(self) -> frozenset[str]:
        """The fields that differ from GENERAL."""
        return frozenset(name for name in self.__struct_fields__ if getattr(self, name) != getattr(GENERAL, name))

    def __repr__(self) -> str:
        # Its values are secrets, and an object that refers to it may be printed.
        return f"RequestOptions({', '.join(sorted(self.differences()))})"


GENERAL = RequestOptions()
"""The options of nearly every request: straight to the pinned address, verified, without a password and without cookies."""


class DownloadRequest(msgspec.Struct, frozen=True, gc=False):
    """One GET to one pinned address. The downloader follows no redirect and resolves no name."""

    url: str
    """Canonical."""
    address: str
    """The only one to connect to; for documents of this machine a word without meaning."""
    port: int
    """The only one to connect to; 0 where the scheme has none."""
    headers: tuple[tuple[str, str], ...]
    """Complete but for Host and Accept-Encoding, which are the downloader's."""
    max_bytes: int
    """A body that grows beyond this, as transferred or decoded, ends with DownloadFailure.SIZE."""
    options: RequestOptions = GENERAL
    """The object GENERAL itself for general requests: downloaders compare by identity."""
    cut: bool = False
    """A body that grows beyond `max_bytes` is returned up to there, instead of a failure."""
    sent: Callable[[], None] | None = None
    """Called on the loop once the request has left, by a downloader that has `tells_when_sent`: the delay counts from there."""


class DownloadResult(msgspec.Struct, gc=False):
    """The outcome of a request: an answer with its status, or a failure."""

    status: int = 0
    """Of HTTP, whatever the protocol is: 200 for a document, 301 with a Location, 304, 404, 503; 0 where there is a failure."""
    headers: Sequence[tuple[str, str]] = ()
    """Of the final answer, in order, names as received."""
    body: bytes = b""
    """As it was transferred, after chunking, where `codings` names some; the Crawl Worker undoes these before it is read."""
    peer: str = ""
    """The address that the answer came from; checked against the pinned one. Behind a proxy, the one that it was given."""
    failure: DownloadFailure | None = None
    """None where there is an answer."""
    detail: str = ""
    """What happened, for people."""
    elapsed: float = 0.0
    """Seconds from the request to the last byte of its answer, connecting included; 0 where it was not measured."""
    protocol: str = ""
    """"1.0", "1.1", "2" or "3" where the answer is one of HTTP; empty where it is not known."""
    codings: tuple[str, ...] = ()
    """The content codings that `body` came with and that the downloader has not undone, in the order in which they were
    applied."""
    transferred: bytes = b""
    """What `body` was before its codings were undone; the Crawl Worker keeps it here. Empty where there were none."""
    head: bytes = b""
    """Status line and header lines of the final answer as they were received, the blank line behind them included; empty where
    the downloader does not have them."""
    started_at: float = 0.0
    """When the request was started, in seconds since the epoch; the Crawl Worker writes it here."""
    marks: int = 0
    """Bits of ExchangeMark; the Crawl Worker sets them."""
    received: int = 0
    """Bytes that came, headers included, as they were on the wire; 0 where they were not counted: then the body counts."""

    def header(self, name: str) -> str:
        """The first header of that (lower-case) name, or the empty string."""
        for known, value in self.headers:
            if known.lower() == name:
                return value
        return ""


@runtime_checkable
class Order(Protocol):
    """Says which of a site's known URLs come first: those with the smallest priority. `visit_pages` shortens visits."""

    visit_pages: int | None
    """How many pages a visit has at most; None: as VisitPages says."""

    def first(self, path: str, depth: int) -> int:
        """The priority of a URL that was seen for the first time, so many links away from a seed."""
        ...

    def again(self, priority: int) -> int:
        """Its priority when it is seen once more while it still waits."""
        ...


@runtime_checkable
class Downloader(Protocol):
    """Fetches documents on the worker's event loop: `start` returns at once, `done` is called later on the same loop.

    `schemes` names the protocols it serves. `cancel_all` ends what is on the wire with DownloadFailure.CANCELLED. An attribute
    `options`, a frozenset, names the fields of RequestOptions that it honours; without one it honours none. An attribute
    `tells_when_sent` that is true says that it calls `DownloadRequest.sent`; without it, requests count as sent by `start`. A
    method `allow_bytes(size)`, where there is one, is told how many bytes of unfinished bodies may be held from now on. A
    method `make_room(wanted)`, where there is one, is told about once a second that all connections are in use and how many
    requests wait: it may end up to that many transfers that are too slow, with DownloadFailure.GAVE_WAY.
    """

    schemes: frozenset[str]
    """In lower case, such as `http`."""

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        """Begin a request; `done` is called once, later, on the loop."""
        ...

    def cancel_all(self) -> None:
        """End every request that is under way."""
        ...

    def close(self) -> None:
        """The worker ends: give back what is held. Nothing is started afterwards."""
        ...
