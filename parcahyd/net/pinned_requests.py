"""Connections of requests and urllib3 that go to an address chosen beforehand.

The URL keeps its host: it goes into the Host header, into the TLS server name and into the check of the certificate. Only
the socket is opened elsewhere, and a kept-alive connection is reused for the same host *and* the same address.

Tested in tests/net/test_downloader_requests.py.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import disable_warnings
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, InsecureRequestWarning, NewConnectionError
from urllib3.util.connection import create_connection

from parcahyd.net.send_timeout import SocketOption

__all__ = ["PinnedAdapter", "PinnedConnection", "PinnedRequest"]

Pin = tuple[str, int]

# Hosts whose certificate goes unchecked are exceptions that the user configured; a warning per host says nothing new.
disable_warnings(InsecureRequestWarning)


class PinnedRequest(requests.PreparedRequest):
    """A prepared request with the address and port it goes to, and whether the certificate there is checked."""

    pin: Pin
    verify_tls: bool = True


class PinnedConnection(HTTPConnection):
    """A connection to `pin`, whatever the name of the host is. `peer` is the address at its other end."""

    def __init__(
        self, *args: Any, pin: Pin, in_use: dict[int, PinnedConnection], more_options: Sequence[SocketOption], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.socket_options = [*(self.socket_options or ()), *more_options]
        self.peer = ""
        self._pin = pin
        self._in_use = in_use

    def _new_conn(self) -> socket.socket:
        try:
            connected = create_connection(self._pin, self.timeout, socket_options=self.socket_options)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"no connection to {self._pin[0]} within {self.timeout} s") from error
        except OSError as error:
            raise NewConnectionError(self, f"no connection to {self._pin[0]}: {error}") from error
        self.peer = connected.getpeername()[0]
        return connected

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._in_use[threading.get_ident()] = self
        super().request(*args, **kwargs)

    def break_off(self) -> None:
        """Close the connection under another thread that waits for it."""
        if self.sock is not None:
            # Not SSLSocket.shutdown: that takes the encryption away under the reading thread.
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)


class _PinnedTlsConnection(PinnedConnection, HTTPSConnection):
    pass


class _PinnedPool(HTTPConnectionPool):
    ConnectionCls = PinnedConnection


class _PinnedTlsPool(HTTPSConnectionPool):
    ConnectionCls = _PinnedTlsConnection


class PinnedAdapter(HTTPAdapter):
    """Gives each PinnedRequest a connection to its pin: one small pool per scheme, host, port, pin and trust, the least
    recently used dropped first.

    `in_use` shows the connection that a thread last sent a request over.
    """

    def __init__(
        self, authorities: str, connections_per_pool: int, most_pools: int, more_options: Sequence[SocketOption] = ()
    ) -> None:
        """`more_options` are options of every socket."""
        super().__init__()
        self._more_options = more_options
        self.in_use: dict[int, PinnedConnection] = {}
        self._trust = ssl.create_default_context(cafile=authorities)
        self._blind_trust = ssl.create_default_context()
        self._blind_trust.check_hostname = False
        self._blind_trust.verify_mode = ssl.CERT_NONE
        self._connections_per_pool = connections_per_pool
        self._most_pools = most_pools
        self._pools: OrderedDict[tuple[str, str, int | None, Pin, bool], HTTPConnectionPool] = OrderedDict()
        self._lock = threading.Lock()

    def get_connection_with_tls_context(
        self, request: requests.PreparedRequest, *_trust: Any, **_proxies: Any
    ) -> HTTPConnectionPool:
        if not isinstance(request, PinnedRequest) or not request.url:
            raise requests.exceptions.InvalidURL("a request without a pinned address")
        url = urlsplit(request.url)
        if url.scheme not in ("http", "https"):
            raise requests.exceptions.InvalidSchema(f"{url.scheme} is not served")
        key = (url.scheme, url.hostname or "", url.port, request.pin, request.verify_tls)
        with self._lock:
            pool = self._pools.get(key)
            if pool is None:
                pool = self._pools[key] = self._new_pool(*key)
                if len(self._pools) > self._most_pools:
                    self._pools.popitem(last=False)[1].close()
            else:
                self._pools.move_to_end(key)
        return pool

    def cert_verify(self, *_trust: Any, **_certificate: Any) -> None:
        """Nothing: a pool holds its context, with the authorities loaded once, or the one of hosts that are an exception."""

    def close(self) -> None:
        super().close()
        with self._lock:
            while self._pools:
                self._pools.popitem()[1].close()

    def _new_pool(self, scheme: str, host: str, port: int | None, pin: Pin, verify_tls: bool) -> HTTPConnectionPool:
        if scheme == "https":
            trust = self._trust if verify_tls else self._blind_trust
            return _PinnedTlsPool(
                host,
                port,
                maxsize=self._connections_per_pool,
                ssl_context=trust,
                cert_reqs=trust.verify_mode,
                pin=pin,
                in_use=self.in_use,
                more_options=self._more_options,
            )
        return _PinnedPool(
            host,
            port,
            maxsize=self._connections_per_pool,
            pin=pin,
            in_use=self.in_use,
            more_options=self._more_options,
        )
