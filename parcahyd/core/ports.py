"""The ports: what boxes ask of the world, so that the same boxes run in a process tree, on a cluster and in a simulation.

Every port has an in-memory twin in `parcahyd.testing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol, runtime_checkable

import msgspec

__all__ = [
    "Clock",
    "DownloadFault",
    "DownloadRequest",
    "DownloadResult",
    "Downloader",
    "Resolution",
    "Resolver",
]


class Clock(Protocol):
    """Time, handed in. `now` is for what is stored, `monotonic` for what is waited for."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...


class Resolution(msgspec.Struct, frozen=True):
    """A host's addresses as a resolver gives them, not yet vetted, and for how many seconds they hold."""

    addresses: tuple[str, ...]
    ttl: float


@runtime_checkable
class Resolver(Protocol):
    """Turns a host name into addresses. Called from several URL Mapper threads at once; it may block.

    It raises `ResolutionFailed` with a Reason where there is no address. A host that is an address already never gets here.
    """

    def resolve(self, host: str) -> Resolution: ...

    def close(self) -> None: ...


class DownloadFault(Enum):
    """How a transfer can fail below HTTP."""

    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "reset"
    TRUNCATED = "truncated"
    CONTENT_CODING = "content-coding"
    PROTOCOL = "protocol"
    SIZE = "size"
    CANCELLED = "cancelled"
    PLUGIN = "plugin"


class DownloadRequest(msgspec.Struct, frozen=True, gc=False):
    """One GET to one pinned address. The downloader follows no redirect and resolves no name."""

    url: str
    address: str
    port: int
    headers: tuple[tuple[str, str], ...]
    """Complete but for Host and Accept-Encoding, which are the downloader's."""
    max_bytes: int
    """A body that grows beyond this, decoded, ends with DownloadFault.SIZE."""


class DownloadResult(msgspec.Struct, gc=False):
    """What came of a request: an answer with its status, or a fault."""

    status: int = 0
    headers: Sequence[tuple[str, str]] = ()
    """Of the final answer, in order, names as received."""
    body: bytes = b""
    """Content codings removed."""
    peer: str = ""
    """The address that the answer came from; checked against the pinned one."""
    fault: DownloadFault | None = None
    detail: str = ""

    def header(self, name: str) -> str:
        """The first header of that (lower-case) name, or the empty string."""
        for known, value in self.headers:
            if known.lower() == name:
                return value
        return ""


@runtime_checkable
class Downloader(Protocol):
    """Fetches documents on the worker's event loop: `start` returns at once, `done` is called later on the same loop.

    `schemes` names the protocols it serves. `cancel_all` ends what is on the wire with DownloadFault.CANCELLED.
    """

    schemes: frozenset[str]

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None: ...

    def cancel_all(self) -> None: ...

    def close(self) -> None: ...
