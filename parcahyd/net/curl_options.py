"""A libcurl handle for hosts with options of their own: proxy, password, cookies, unverified TLS, no HTTP/2.

The options are set once, when the handle is made; it serves requests with the same options only.

Behind a proxy the address is pinned as far as possible: CONNECT (or SOCKS 5) names the pinned address, never a host name,
for http and https alike, so the address policy still decides. Nothing checks that the proxy connects to
that address.
"""

from __future__ import annotations

import socket
import time

import pycurl

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult, RequestOptions
from parcahyd.net.cookie_jar import CookieJar
from parcahyd.net.curl_transfer import Done, Transfer, Wanted
from parcahyd.net.wire_budget import WireBudget

__all__ = ["OptionedTransfer"]

# pycurl has no name for it; the number is part of libcurl's ABI.
_SUPPRESS_CONNECT_HEADERS = 265

_AUTHENTICATION = {"basic": pycurl.HTTPAUTH_BASIC, "digest": pycurl.HTTPAUTH_DIGEST}


class OptionedTransfer(Transfer):
    """A Transfer with options of its own."""

    __slots__ = ("_jar", "_proxied", "_url")

    def __init__(self, conf: WorkConf, authorities: str, budget: WireBudget, options: RequestOptions, jar: CookieJar) -> None:
        super().__init__(conf, authorities, budget)
        self._jar = jar if options.cookies else None
        self._proxied = bool(options.proxy)
        self._url = ""
        set_option = self.curl.setopt
        if options.proxy:
            set_option(pycurl.PROXY, options.proxy)
            set_option(pycurl.HTTPPROXYTUNNEL, 1)
            set_option(_SUPPRESS_CONNECT_HEADERS, 1)
            set_option(pycurl.PROXY_CAINFO, authorities)
        if options.credentials:
            user, _, password = options.credentials.partition(":")
            set_option(pycurl.USERNAME, user.encode())
            set_option(pycurl.PASSWORD, password.encode())
            set_option(pycurl.HTTPAUTH, _AUTHENTICATION[options.authentication])
        if not options.verify_tls:
            set_option(pycurl.SSL_VERIFYPEER, 0)
            set_option(pycurl.SSL_VERIFYHOST, 0)
        if not options.http2:
            set_option(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)

    def begin(self, request: DownloadRequest, done: Done) -> None:
        if self._proxied and request.url.startswith("ftp:"):
            raise ValueError("ftp does not go through a proxy")
        if self._jar is not None:
            cookies = self._jar.header(request.url, time.time())
            if cookies:
                self.curl.setopt(pycurl.COOKIE, cookies.encode("latin-1"))
            else:
                self.curl.unsetopt(pycurl.COOKIE)
        self._url = request.url
        super().begin(request, done)

    def finish(self, number: int, text: str) -> DownloadResult:
        refusal = self.curl.getinfo(pycurl.HTTP_CONNECTCODE) if self._proxied and number else 0
        result = super().finish(number, text)
        if refusal >= 300:
            result.failure, result.detail = DownloadFailure.CONNECT, f"the proxy answered {refusal}"
        if self._jar is not None and result.headers:
            self._jar.take(self._url, result.headers, time.time())
        return result

    def _open_socket(self, purpose: int, wanted: Wanted) -> socket.socket | int:
        if not self._proxied:
            return super()._open_socket(purpose, wanted)
        # The socket goes to the proxy. Its name comes from the user's settings, and libcurl resolves it.
        return socket.socket(*wanted[:3])

    def _approve_peer(self, peer: str, local: str, peer_port: int, local_port: int) -> int:
        return super()._approve_peer(self._pin if self._proxied else peer, local, peer_port, local_port)
